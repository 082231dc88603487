/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads and stores: one rule for each kind of address. */
#include "verify/ver.h"

#include <inttypes.h>
#include <string.h>

static const char *align_text(const struct reg *r)
{
	static const char *const text[KIND_COUNT] = {
		[KIND_FLOW_KEYS] = "flow keys ",
		[KIND_MAP_KEY] = "key ",
		[KIND_MAP_VALUE] = "value ",
		[KIND_CTX] = "context ",
		[KIND_STACK] = "stack ",
		[KIND_SOCK] = "sock ",
		[KIND_SOCK_COMMON] = "sock_common ",
		[KIND_TCP_SOCK] = "tcp_sock ",
		[KIND_XDP_SOCK] = "xdp_sock ",
	};

	return text[r->kind] ? text[r->kind] : "";
}

enum { IP_ALIGN = 2 }; /* the packet begins so that the IP header is aligned */

int align_check(struct ver *v, const struct reg *r, const struct access *a)
{
	bool pkt = reg_has(r, K_PKT);
	bool strict = v->in->strict_align || a->strict || r->kind == KIND_STACK;
	struct scalar fixed =
	    scalar_one((uint64_t)((int64_t)(pkt ? IP_ALIGN : 0) + r->off + a->off));
	struct scalar at = scalar_alu(ALU_ADD, &r->s, &fixed);
	char bits[48];

	if (!strict || a->size == 1 || !((at.d.val | at.d.mask) & (a->size - 1)))
		return 0;
	if (pkt)
		return fail(v, -EACCES, "misaligned packet access off %d+%s+%d+%d size %u",
			    IP_ALIGN, bits_text(&r->s, bits, sizeof(bits)), r->off, a->off,
			    a->size);
	return fail(v, -EACCES, "misaligned %saccess off %s+%d+%d size %u", align_text(r),
		    bits_text(&r->s, bits, sizeof(bits)), r->off, a->off, a->size);
}

static int room_check(struct ver *v, unsigned addr, int64_t off, uint32_t size, uint64_t room,
		      bool zero_ok)
{
	const struct reg *r = reg(v, addr);

	if (off >= 0 && (size || zero_ok) && (uint64_t)off + size <= room)
		return 0;
	switch (r->kind) {
	case KIND_MAP_KEY:
		return fail(v, -EACCES, "invalid access to map key, key_size=%d off=%d size=%d",
			    (int)room, (int)off, (int)size);
	case KIND_MAP_VALUE:
		return fail(v, -EACCES, "invalid access to map value, value_size=%d off=%d size=%d",
			    (int)room, (int)off, (int)size);
	case KIND_PKT:
	case KIND_PKT_META:
	case KIND_PKT_END:
		return fail(v, -EACCES,
			    "invalid access to packet, off=%d size=%d, R%u(id=%u,off=%d,r=%d)",
			    (int)off, (int)size, addr, r->id, (int)off, (int)room);
	default:
		return fail(v, -EACCES, "invalid access to memory, mem_size=%u off=%d size=%d",
			    (unsigned)room, (int)off, (int)size);
	}
}

/* [off, off + size) from the pointer in register addr, whose fixed offset is part of off, lies in
 * `room` bytes for every value of its variable offset. */
int region_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, uint64_t room,
		  bool zero_ok)
{
	const struct dom64 *d = &reg(v, addr)->s.d;
	int err;

	if (d->smin < 0 && (d->smin == INT64_MIN || off + d->smin != (int32_t)(off + d->smin) ||
			    off + d->smin < 0))
		return fail(v, -EACCES,
			    "R%u min value is negative, either use unsigned index or do a if "
			    "(index >=0) check.",
			    addr);
	err = room_check(v, addr, off + d->smin, size, room, zero_ok);
	if (err)
		return fail(v, err, "R%u min value is outside of the allowed memory range", addr);
	if (d->umax >= VAR_OFF_MAX)
		return fail(
		    v, -EACCES,
		    "R%u unbounded memory access, make sure to bounds check any such access", addr);
	err = room_check(v, addr, off + (int64_t)d->umax, size, room, zero_ok);
	if (err)
		return fail(v, err, "R%u max value is outside of the allowed memory range", addr);
	return 0;
}

/* A number of up to `size` bytes was loaded into dst. */
static void loaded(struct ver *v, const struct access *a)
{
	if (a->reg >= 0)
		reg_set_unknown(reg(v, (unsigned)a->reg));
}

int map_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool write, bool zero_ok)
{
	const struct map_desc *m = reg(v, addr)->map;
	int err;

	if (m->flags & (write ? MAP_RDONLY_PROG : MAP_WRONLY_PROG))
		return fail(v, -EACCES, "%s map forbidden, value_size=%d off=%d size=%d",
			    write ? "write into" : "read from", (int)m->value_size, (int)off,
			    (int)size);
	err = region_access(v, addr, off, size, m->value_size, zero_ok);
	return err ? err : special_check(v, addr, off, size);
}

static int access_map_value(struct ver *v, unsigned addr, const struct access *a)
{
	struct reg *r = reg(v, addr);
	int32_t off = a->off + r->off;
	const uint8_t *bytes;
	uint64_t val = 0;
	int64_t at = off + (int64_t)r->s.d.val;
	bool known = scalar_is_one(&r->s);
	int err = map_access(v, addr, off, a->size, a->write, false);

	if (err || a->write || a->reg < 0)
		return err;
	bytes = known ? map_constant(v, r->map) : NULL;
	loaded(v, a);
	if (bytes) {
		memcpy(&val, bytes + at, a->size);
		reg_set_const(reg(v, (unsigned)a->reg), val);
	}
	return 0;
}

static int access_map_key(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	int err;

	if (a->write)
		return fail(v, -EACCES, "write to change key R%u not allowed", addr);
	err = region_access(v, addr, a->off + r->off, a->size, r->map->key_size, false);
	if (!err)
		loaded(v, a);
	return err;
}

static int refuse(struct ver *v, unsigned addr)
{
	char buf[64];

	return fail(v, -EACCES, "R%u invalid mem access '%s'", addr,
		    kind_text(reg(v, addr), buf, sizeof(buf)));
}

static int access_mem(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	char buf[64];
	int err;

	if (a->write && r->flags & RF_RDONLY)
		return fail(v, -EACCES, "R%u cannot write into %s", addr,
			    kind_text(r, buf, sizeof(buf)));
	err = region_access(v, addr, a->off + r->off, a->size, r->n, false);
	if (!err && !a->write)
		loaded(v, a);
	return err;
}

static int access_packet(struct ver *v, unsigned addr, const struct access *a)
{
	int err;

	if (a->write && !packet_may(v, true))
		return fail(v, -EACCES, "cannot write into packet");
	err = packet_access(v, addr, a->off + reg(v, addr)->off, a->size, false);
	if (!err && !a->write)
		loaded(v, a);
	return err;
}

enum { FLOW_KEYS_SIZE = 56 };

static int access_flow_keys(struct ver *v, unsigned addr, const struct access *a)
{
	int32_t off = a->off + reg(v, addr)->off;

	if (off < 0 || off + (int64_t)a->size > FLOW_KEYS_SIZE)
		return fail(v, -EACCES, "invalid access to flow keys off=%d size=%d", off,
			    (int)a->size);
	if (!a->write)
		loaded(v, a);
	return 0;
}

typedef int (*access_fn)(struct ver *v, unsigned addr, const struct access *a);

static const access_fn accesses[KIND_COUNT] = {
	[KIND_CTX] = ctx_access,
	[KIND_STACK] = stack_access,
	[KIND_MAP_VALUE] = access_map_value,
	[KIND_MAP_KEY] = access_map_key,
	[KIND_MEM] = access_mem,
	[KIND_BUF] = access_mem,
	[KIND_PKT] = access_packet,
	[KIND_PKT_META] = access_packet,
	[KIND_SOCK] = sock_access,
	[KIND_SOCK_COMMON] = sock_access,
	[KIND_TCP_SOCK] = sock_access,
	[KIND_XDP_SOCK] = sock_access,
	[KIND_FLOW_KEYS] = access_flow_keys,
	[KIND_BTF] = typed_access,
};

/* Kinds whose accesses are rewritten, so that an op sees that kind only. */
static bool is_rewritten(uint8_t kind)
{
	return kind == KIND_CTX || kind == KIND_BTF || kind_rows[kind].props & K_SOCK;
}

static int fact_access(struct ver *v, const struct reg *r)
{
	struct fact *f = fact(v);

	if (f->accessed && f->ptr_kind != r->kind &&
	    (is_rewritten(f->ptr_kind) || is_rewritten(r->kind)))
		return fail(v, -EINVAL, "same insn cannot be used with different pointers");
	f->ptr_kind = !f->accessed || f->ptr_kind == r->kind ? r->kind : KIND_NONE;
	f->accessed = 1;
	return 0;
}

/* One access through register addr. What is loaded is cut to its size. */
int mem_access(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	struct reg *dst, kind;
	int err = align_check(v, r, a);

	if (err)
		return err;
	if (r->flags & RF_NULL || !accesses[r->kind])
		return refuse(v, addr);
	kind = *r;
	err = accesses[r->kind](v, addr, a);
	if (!err && !a->helper)
		err = fact_access(v, &kind);
	if (err || a->write || a->reg < 0 || a->size == 8)
		return err;
	dst = reg(v, (unsigned)a->reg);
	if (dst->kind != KIND_SCALAR)
		return 0;
	dst->s = a->sign ? scalar_sext(&dst->s, 8 * a->size) : scalar_trunc(&dst->s, 8 * a->size);
	return 0;
}

static int load_step(struct ver *v, const struct op *op)
{
	struct access a = { .off = op->off,
			    .size = op_size(op),
			    .reg = op->dst,
			    .sign = op->mode & OP_SX,
			    .strict = op_has(op, P_ATOMIC) };
	int err = reg_read(v, op->src, true);

	if (!err)
		err = reg_write(v, op->dst, a.size == 8 || a.sign);
	return err ? err : mem_access(v, op->src, &a);
}

static int store_step(struct ver *v, const struct op *op)
{
	bool from_reg = op->mode & OP_REG || op->code == OP_STREL;
	struct access a = { .off = op->off,
			    .size = op_size(op),
			    .write = true,
			    .reg = from_reg ? op->src : -1,
			    .has_imm = !from_reg,
			    .imm = op->imm,
			    .strict = op_has(op, P_ATOMIC) };
	int err = from_reg ? reg_read(v, op->src, a.size == 8) : 0;

	if (!err)
		err = reg_read(v, op->dst, true);
	return err ? err : mem_access(v, op->dst, &a);
}

static int atomic_operands(struct ver *v, const struct op *op)
{
	bool whole = op_size(op) == 8;
	int err = reg_read(v, op->src, whole);

	if (!err)
		err = reg_read(v, op->dst, true);
	if (!err && op->code == OP_CMPXCHG)
		err = reg_read(v, 0, whole);
	return err;
}

static int atomic_target(struct ver *v, const struct op *op)
{
	const struct reg *r = reg(v, op->dst);
	char buf[64];

	switch (r->kind) {
	case KIND_CTX:
	case KIND_PKT:
	case KIND_PKT_META:
	case KIND_FLOW_KEYS:
	case KIND_SOCK:
	case KIND_SOCK_COMMON:
	case KIND_TCP_SOCK:
	case KIND_XDP_SOCK:
		return fail(v, -EACCES, "BPF_ATOMIC stores into R%u %s is not allowed", op->dst,
			    kind_text(r, buf, sizeof(buf)));
	default:
		return 0;
	}
}

/* The old value goes into register `out`, as by a load. When that is the address register too, the
 * memory is written first and the old value is any number. */
static int atomic_fetch(struct ver *v, const struct op *op, unsigned out, struct access a)
{
	int err;

	if (out != op->dst) {
		err = reg_write(v, out, a.size == 8);
		a.reg = (int)out;
		return err ? err : mem_access(v, op->dst, &a);
	}
	a.write = true;
	err = mem_access(v, op->dst, &a);
	if (!err)
		err = reg_write(v, out, a.size == 8);
	if (!err) {
		reg_set_unknown(reg(v, out));
		if (a.size < 8)
			reg(v, out)->s = scalar_trunc(&reg(v, out)->s, 8 * a.size);
	}
	return err;
}

/* Read, modify, write: a read (into the register that fetches) and a write of an unknown number. */
static int atomic_step(struct ver *v, const struct op *op)
{
	int out = !(op->mode & OP_FETCH) ? -1 : op->code == OP_CMPXCHG ? 0 : op->src;
	struct access a = { .off = op->off, .size = op_size(op), .reg = -1, .strict = true };
	int err = atomic_operands(v, op);

	if (!err)
		err = atomic_target(v, op);
	if (!err)
		err = mem_access(v, op->dst, &a);
	if (!err && out >= 0)
		err = atomic_fetch(v, op, (unsigned)out, a);
	if (err || out == op->dst)
		return err;
	a.write = true;
	return mem_access(v, op->dst, &a);
}

int mem_step(struct ver *v)
{
	const struct op *op = op_at(v);

	switch (op_row(op)->form) {
	case FORM_LD:
	case FORM_ACQ:
		return load_step(v, op);
	case FORM_ATOMIC:
		return atomic_step(v, op);
	default:
		return store_step(v, op);
	}
}
