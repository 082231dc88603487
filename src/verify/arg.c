/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of helper calls against the helper's row. */
#include "verify/ver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* -- memory */

static int range_mem(struct ver *v, unsigned n, uint32_t size, bool zero_ok, bool write)
{
	const struct reg *r = reg(v, n);
	char buf[64];

	if (write && r->flags & RF_RDONLY)
		return fail(v, -EACCES, "R%u cannot write into %s", n,
			    kind_text(r, buf, sizeof(buf)));
	return region_access(v, n, r->off, size, r->n, zero_ok);
}

static int range_key(struct ver *v, unsigned n, uint32_t size, bool write)
{
	const struct reg *r = reg(v, n);
	char buf[64];

	if (write)
		return fail(v, -EACCES, "R%u cannot write into %s", n,
			    kind_text(r, buf, sizeof(buf)));
	return region_access(v, n, r->off, size, r->map->key_size, false);
}

int mem_range(struct ver *v, unsigned n, uint32_t size, bool zero_ok, bool write, bool raw,
	      bool *later)
{
	const struct reg *r = reg(v, n);
	char buf[64];

	*later = false;
	switch (r->flags & RF_NULL ? KIND_NONE : r->kind) {
	case KIND_PKT:
	case KIND_PKT_META:
		if (write && !packet_may(v, true))
			return fail(v, -EACCES, "cannot write into packet");
		return packet_access(v, n, r->off, size, zero_ok);
	case KIND_MAP_KEY:
		return range_key(v, n, size, write);
	case KIND_MAP_VALUE:
		return map_access(v, n, r->off, size, write, zero_ok);
	case KIND_MEM:
	case KIND_BUF:
		return range_mem(v, n, size, zero_ok, write);
	case KIND_BTF:
		return typed_range(v, n, size, write);
	case KIND_STACK:
		return stack_range(v, n, r->off, size, zero_ok, true, raw, later);
	default:
		if (zero_ok && !size && reg_is_zero(r))
			return precise_mark(v, n);
		return fail(v, -EACCES, "R%u type=%s expected=fp", n,
			    kind_text(r, buf, sizeof(buf)));
	}
}

static int range_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg, uint32_t size,
		     bool zero_ok, bool exact)
{
	bool raw = exact && arg & ARGF_UNINIT, later;
	int err = mem_range(v, n, size, zero_ok, arg & (ARGF_WRITE | ARGF_UNINIT), raw, &later);

	if (!err && later) {
		c->raw_reg = n;
		c->raw_size = size;
	}
	return err;
}

enum { SIZE_MAX_ARG = 1 << 29 };

/* Register n holds the size of the memory that n - 1 points to. */
int size_arg(struct ver *v, struct call *c, unsigned n, bool zero_ok)
{
	const struct reg *r = reg(v, n);
	int err;

	c->max_size = (uint32_t)r->s.d.umax;
	if (r->s.d.smin < 0)
		return fail(v, -EACCES,
			    "R%u min value is negative, either use unsigned or 'var &= const'", n);
	if (!r->s.d.umin && !zero_ok)
		return fail(v, -EACCES,
			    "R%u invalid zero-sized read: u64=[%" PRId64 ",%" PRId64 "]", n,
			    (int64_t)r->s.d.umin, (int64_t)r->s.d.umax);
	if (r->s.d.umax >= SIZE_MAX_ARG)
		return fail(v, -EACCES,
			    "R%u unbounded memory access, use 'var &= const' or 'if (var < const)'",
			    n);
	err = range_arg(v, c, n - 1, c->h.arg[n - 2], (uint32_t)r->s.d.umax, zero_ok,
			scalar_is_one(&r->s));
	return err ? err : precise_mark(v, n);
}

/* -- which kinds an argument takes */

struct takes {
	uint64_t kinds;
	const char *text; /* the kernel's list */
};

#define K(kind) (1ull << KIND_##kind)
#define MEMORY                                                                                     \
	(K(STACK) | K(PKT) | K(PKT_META) | K(MAP_KEY) | K(MAP_VALUE) | K(MEM) | K(BUF) | K(BTF))
#define MEMORY_TEXT "fp, pkt, pkt_meta, map_key, map_value, mem, ringbuf_mem, buf, trusted_ptr_"

static const struct takes takes[ARG_KINDS] = {
	[ARG_SCALAR] = { K(SCALAR), "scalar" },
	[ARG_CONST_MAP] = { K(MAP), "map_ptr" },
	[ARG_MAP_KEY] = { MEMORY, MEMORY_TEXT },
	[ARG_MAP_VALUE] = { MEMORY, MEMORY_TEXT },
	[ARG_MEM] = { MEMORY, MEMORY_TEXT },
	[ARG_SIZE] = { K(SCALAR), "scalar" },
	[ARG_SIZE_OR_ZERO] = { K(SCALAR), "scalar" },
	[ARG_ALLOC_SIZE_OR_ZERO] = { K(SCALAR), "scalar" },
	[ARG_CTX] = { K(CTX), "ctx, trusted_ptr_, ptr_" },
	[ARG_SPIN_LOCK] = { K(MAP_VALUE), "map_value, ptr_" },
	[ARG_SOCK_COMMON] = { K(SOCK_COMMON) | K(SOCK) | K(TCP_SOCK) | K(XDP_SOCK),
			      "sock_common, sock, tcp_sock, xdp_sock" },
	[ARG_SOCKET] = { K(SOCK), "sock" },
	[ARG_SOCK_ANY] = { K(SOCK_COMMON) | K(SOCK) | K(TCP_SOCK) | K(XDP_SOCK) | K(BTF),
			   "sock_common, sock, tcp_sock, xdp_sock, ptr_, trusted_ptr_" },
	[ARG_BTF] = { K(BTF), "ptr_, trusted_ptr_, rcu_ptr_" },
	[ARG_RINGBUF_MEM] = { K(MEM), "ringbuf_mem" },
	[ARG_FUNC] = { K(FUNC), "func" },
	[ARG_STACK] = { K(STACK), "fp" },
	[ARG_CONST_STR] = { K(MAP_VALUE), "map_value" },
	[ARG_TIMER] = { K(MAP_VALUE), "map_value" },
	[ARG_DYNPTR] = { K(STACK) | K(DYNPTR), "fp, dynptr_ptr" },
};

static bool kind_taken(const struct reg *r, uint32_t arg)
{
	unsigned kind = ARG_KIND(arg);

	if (!(takes[kind].kinds >> r->kind & 1) || (r->flags & RF_NULL && !(arg & ARGF_OR_NULL)))
		return false;
	if (r->flags & RF_RDONLY && kind == ARG_MEM)
		return arg & ARGF_RDONLY;
	if (r->kind == KIND_BTF && r->flags & (RF_UNTRUSTED | RF_USER | RF_PERCPU))
		return false;
	if (r->kind == KIND_BTF && takes[kind].kinds & K(STACK))
		return r->flags & RF_TRUSTED;
	if (kind == ARG_RINGBUF_MEM)
		return r->flags & RF_RINGBUF;
	return true;
}

static int kind_check(struct ver *v, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n);
	const char *text = takes[ARG_KIND(arg)].text;
	char buf[64];

	if (!text)
		return fail(v, -EINVAL, "R%u argument type is not supported", n);
	if (!kind_taken(r, arg))
		return fail(v, -EACCES, "R%u type=%s expected=%s", n,
			    kind_text(r, buf, sizeof(buf)), text);
	if (arg & ARGF_RELEASE && r->off && ARG_KIND(arg) != ARG_DYNPTR)
		return fail(v, -EINVAL,
			    "R%u must have zero offset when passed to release func or "
			    "trusted arg to kfunc",
			    n);
	/* Memory may be passed at an offset; objects may not. */
	if (1ull << r->kind & (MEMORY | K(SCALAR)))
		return r->flags & RF_RINGBUF && ARG_KIND(arg) == ARG_RINGBUF_MEM
			   ? unmodified_check(v, n, false)
			   : 0;
	return unmodified_check(v, n, false);
}

/* -- one argument */

static int map_arg(struct ver *v, struct call *c, unsigned n)
{
	if (c->timer)
		return timer_map_check(v, c, n);
	c->map_reg = *reg(v, n);
	c->map = &c->map_reg;
	return 0;
}

enum { KEY_SIZE = 4 };

/* The four bytes at off of the frame's stack are of this type. */
static bool key_is(const struct frame *f, int64_t off, uint8_t type)
{
	for (int64_t i = off; i < off + KEY_SIZE; i++) {
		int64_t byte = -i - 1;

		if (byte < 0 || byte / 8 >= f->n_slots || f->slot[byte / 8].type[byte % 8] != type)
			return false;
	}
	return true;
}

/* The constant key of a look-up, when it is a spilled number or zeros. Only on request: other
 * numbers must then not be taken for the same, which costs states. */
static int key_fact(struct ver *v, struct call *c, unsigned n)
{
	const struct reg *r = reg(v, n);
	int64_t off = r->off + (int64_t)r->s.d.val;
	uint32_t k = (uint32_t)(-off - 1) / 8;
	bool stack = r->kind == KIND_STACK && scalar_is_one(&r->s), spilled, zero;
	const struct frame *f = stack ? v->cur->frame[r->frame] : NULL;

	if (!v->in->key_facts || c->map->map->key_size != KEY_SIZE)
		return 0;
	zero = f && key_is(f, off, SLOT_ZERO);
	spilled =
	    f && off % 8 == 0 && key_is(f, off, SLOT_SPILL) && reg_is_const(&f->slot[k].spill);
	key_note(fact(v), zero || spilled, spilled ? (uint32_t)f->slot[k].spill.s.d.val : 0);
	return spilled ? precise_mark_slot(v, r->frame, k) : 0;
}

static int block_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	bool key = ARG_KIND(arg) == ARG_MAP_KEY;
	int err;

	if (!c->map)
		return fail(v, -EACCES, "invalid map_ptr to access map->%s", key ? "key" : "value");
	err = key ? key_fact(v, c, n) : 0;
	return err ? err
		   : range_arg(v, c, n, arg, key ? c->map->map->key_size : c->map->map->value_size,
			       false, true);
}

static int mem_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	struct access a = { .size = ARG_NUMBER(arg), .strict = true, .reg = -1 };
	int err;

	if (!(arg & ARGF_FIXED))
		return 0;
	err = range_arg(v, c, n, arg, a.size, false, true);
	return err || !(arg & ARGF_ALIGNED) ? err : align_check(v, reg(v, n), &a);
}

static int alloc_size_arg(struct ver *v, struct call *c, unsigned n)
{
	const struct reg *r = reg(v, n);

	if (!scalar_is_one(&r->s))
		return fail(v, -EACCES, "R%u is not a known constant'", n);
	c->size = (uint32_t)r->s.d.val;
	return precise_mark(v, n);
}

static int value_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	switch (ARG_KIND(arg)) {
	case ARG_CONST_MAP:
		return map_arg(v, c, n);
	case ARG_MAP_KEY:
	case ARG_MAP_VALUE:
		return block_arg(v, c, n, arg);
	case ARG_MEM:
		return mem_arg(v, c, n, arg);
	case ARG_SIZE:
		return size_arg(v, c, n, false);
	case ARG_SIZE_OR_ZERO:
		return size_arg(v, c, n, true);
	case ARG_ALLOC_SIZE_OR_ZERO:
		return alloc_size_arg(v, c, n);
	case ARG_BTF:
		return typed_arg(v, n, ARG_NUMBER(arg));
	case ARG_FUNC:
		c->sub = reg(v, n)->n + 1;
		return 0;
	case ARG_SPIN_LOCK:
		return lock_arg(v, n, c->h.id == BPF_FUNC_spin_lock);
	case ARG_TIMER:
		return timer_arg(v, c, n);
	case ARG_DYNPTR:
		return dynptr_arg(v, c, n, arg);
	case ARG_CONST_STR:
		return string_arg(v, n);
	case ARG_KPTR:
	case ARG_KPTR_DEST:
	case ARG_PERCPU_BTF:
		return fail(v, -EOPNOTSUPP, "R%u: bpf_%s is not supported by this verifier yet", n,
			    c->h.name);
	default:
		return 0;
	}
}

static int ref_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n);

	if (ARG_KIND(arg) == ARG_DYNPTR)
		return 0;
	if (arg & ARGF_RELEASE) {
		if (!r->ref && !reg_is_zero(r))
			return fail(v, -EINVAL,
				    "R%u must be referenced when passed to release function", n);
		c->released = n;
	}
	if (r->ref)
		c->ref = r->ref;
	return 0;
}

/* The value of a socket map is a socket. */
static uint32_t arg_of(const struct call *c, unsigned n)
{
	uint32_t arg = c->h.arg[n - 1];

	if (ARG_KIND(arg) == ARG_MAP_VALUE && c->map && is_sockmap(c->map->map))
		return ARG_SOCK_ANY;
	return arg;
}

static int arg_check(struct ver *v, struct call *c, unsigned n)
{
	uint32_t arg = arg_of(c, n);
	const struct reg *r = reg(v, n);
	int err;

	if (ARG_KIND(arg) == ARG_NONE)
		return 0;
	err = reg_read(v, n, true);
	if (err || ARG_KIND(arg) == ARG_ANYTHING)
		return err;
	if (reg_has(r, K_PKT) && !(c->h.flags & HELPER_PKT_ARGS))
		return fail(v, -EACCES, "helper access to the packet is not allowed");
	if (reg_is_zero(r) && arg & ARGF_OR_NULL) {
		err = precise_mark(v, n);
		return err ? err : ref_arg(v, c, n, arg);
	}
	err = kind_check(v, n, arg);
	if (!err)
		err = ref_arg(v, c, n, arg);
	return err ? err : value_arg(v, c, n, arg);
}

int args_check(struct ver *v, struct call *c)
{
	for (unsigned n = 1; n <= 5; n++) {
		int err = arg_check(v, c, n);

		if (err)
			return err;
	}
	return 0;
}
