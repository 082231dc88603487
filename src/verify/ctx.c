/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts and sockets: which fields there are. */
#include "verify/ver.h"

#include <string.h>

enum { NARROW = 1, ANY = 2, WIDE = 4 };

#define SCALAR		    KIND_SCALAR
#define PKT		    KIND_PKT
#define PKT_END		    KIND_PKT_END
#define PKT_META	    KIND_PKT_META
#define FLOW_KEYS	    KIND_FLOW_KEYS
#define SOCK		    KIND_SOCK
#define OR_NULL		    0x80
#define SOCK_OR_NULL	    (KIND_SOCK | OR_NULL)
#define SOCK_COMMON_OR_NULL (KIND_SOCK_COMMON | OR_NULL)

struct row {
	uint64_t read, write, when;
	uint16_t off, len; /* len 0: begins a context, of `off` bytes for the types in `read` */
	uint8_t unit, flags, kind;
};

#define ON(type)	 (1ull << BPF_PROG_TYPE_##type)
#define AT(type)	 (1ull << BPF_##type)
#define CTX(types, size) { .read = (types), .off = (size) },
#define FIELD(o, l, u, f, k, r, w)                                                                 \
	{ .read = (r),                                                                             \
	  .write = (w),                                                                            \
	  .off = (o),                                                                              \
	  .len = (l),                                                                              \
	  .unit = (u),                                                                             \
	  .flags = (f),                                                                            \
	  .kind = (k) },
#define WHEN(attach) { .when = (attach) },

static const struct row ctx_rows[] = {
#include "verify/ctx.def"
};

enum { N_ROWS = sizeof(ctx_rows) / sizeof(ctx_rows[0]) };

static bool is_when(const struct row *r)
{
	return r->when != 0;
}

/* Does an access of `size` bytes at `off` fit the row's rule for sizes? */
static bool size_fits(const struct row *r, int32_t off, uint32_t size, bool write)
{
	if (off < r->off || off + (int64_t)size > r->off + r->len || off % (int)size)
		return false;
	if (r->flags & ANY || size == r->unit)
		return true;
	if (r->flags & WIDE && size == 2u * r->unit)
		return off % 8 == 0;
	return r->flags & NARROW && !write && size < r->unit;
}

static bool type_fits(const struct ver *v, const struct row *r, bool write)
{
	uint32_t type = v->in->prog_type, attach = v->in->attach_type;
	const struct row *when = r + 1 < ctx_rows + N_ROWS && is_when(r + 1) ? r + 1 : NULL;

	if (type >= 64 || !((write ? r->write : r->read) >> type & 1))
		return false;
	return !when || (attach < 64 && when->when >> attach & 1);
}

static const struct row *row_find(const struct ver *v, int32_t off, uint32_t size, bool write)
{
	uint32_t type = v->in->prog_type;
	bool mine = false;

	for (const struct row *r = ctx_rows; r < ctx_rows + N_ROWS; r++) {
		if (is_when(r))
			continue;
		if (!r->len)
			mine = type < 64 && r->read >> type & 1;
		else if (mine && size_fits(r, off, size, write) && type_fits(v, r, write))
			return r;
	}
	return NULL;
}

/* A pointer that may only be used as it was given. */
int unmodified_check(struct ver *v, unsigned n, bool fixed_ok)
{
	const struct reg *r = reg(v, n);
	char kind[64], bits[48];

	kind_text(r, kind, sizeof(kind));
	if (r->off < 0)
		return fail(v, -EACCES, "negative offset %s ptr R%u off=%d disallowed", kind, n,
			    r->off);
	if (!fixed_ok && r->off)
		return fail(v, -EACCES, "dereference of modified %s ptr R%u off=%d disallowed",
			    kind, n, r->off);
	if (!scalar_is_one(&r->s) || r->s.d.val)
		return fail(v, -EACCES, "variable %s access var_off=%s disallowed", kind,
			    bits_text(&r->s, bits, sizeof(bits)));
	return 0;
}

static void load_kind(struct ver *v, int dst, uint8_t kind)
{
	struct reg *r;

	if (dst < 0)
		return;
	r = reg(v, (unsigned)dst);
	if (kind == KIND_SCALAR) {
		reg_set_unknown(r);
		return;
	}
	reg_set_kind(r, (enum kind)(kind & ~OR_NULL), kind & OR_NULL ? RF_NULL : 0);
	if (kind & OR_NULL)
		r->id = id_new(v);
	r->def = 0;
}

int ctx_access(struct ver *v, unsigned addr, const struct access *a)
{
	const struct row *row;
	int32_t off = a->off + reg(v, addr)->off;
	int err = unmodified_check(v, addr, false);

	if (err)
		return err;
	if (typed_context(v)) {
		err = typed_context_access(v, off, a);
		return err ? fail(v, err, "invalid bpf_context access off=%d size=%d", off,
				  (int)a->size)
			   : 0;
	}
	if (v->in->kernel && v->in->prog_type == BPF_PROG_TYPE_NETFILTER && !a->write &&
	    a->size == 8 && (off == 0 || off == 8)) {
		typed_load(v, a->reg, off ? "sk_buff" : "nf_hook_state");
		return 0;
	}
	row = row_find(v, off, a->size, a->write);
	if (!row || (a->sign && row->kind != KIND_SCALAR))
		return fail(v, -EACCES, "invalid bpf_context access off=%d size=%d", off,
			    (int)a->size);
	fact(v)->ctx = 1;
	if (!a->write)
		load_kind(v, a->reg, row->kind);
	return 0;
}

/* Fields of struct bpf_sock and struct bpf_tcp_sock. */
static const struct row sock_rows[] = {
	{ .off = 0, .len = 4, .unit = 4 }, /* bound_dev_if */
	{ .off = 4, .len = 12, .unit = 4, .flags = NARROW },
	{ .off = 16, .len = 8, .unit = 4 }, /* mark, priority */
	{ .off = 24, .len = 24, .unit = 4, .flags = NARROW },
	{ .off = 48, .len = 4, .unit = 4 }, /* dst_port with its padding */
	{ .off = 48, .len = 2, .unit = 2, .flags = NARROW },
	{ .off = 52, .len = 28, .unit = 4, .flags = NARROW },
};

static const struct row tcp_rows[] = {
	{ .off = 0, .len = 80, .unit = 4 },
	{ .off = 80, .len = 16, .unit = 8 }, /* bytes_received, bytes_acked */
	{ .off = 96, .len = 20, .unit = 4 },
};

static const struct row xdp_sock_rows[] = { { .off = 0, .len = 4, .unit = 4 } };

/* A common socket has the fields that even a request socket has. */
static bool common_has(int32_t off)
{
	return off < 8 || off >= 24;
}

static bool sock_has(const struct reg *r, int32_t off, uint32_t size)
{
	const struct row *rows = sock_rows;
	size_t n = sizeof(sock_rows) / sizeof(rows[0]);

	if (r->kind == KIND_TCP_SOCK) {
		rows = tcp_rows;
		n = sizeof(tcp_rows) / sizeof(rows[0]);
	} else if (r->kind == KIND_XDP_SOCK) {
		rows = xdp_sock_rows;
		n = 1;
	} else if (r->kind == KIND_SOCK_COMMON && !common_has(off)) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (size_fits(&rows[i], off, size, false))
			return true;
	}
	return false;
}

int sock_access(struct ver *v, unsigned addr, const struct access *a)
{
	const struct reg *r = reg(v, addr);
	int32_t off = a->off + r->off;
	char buf[64];

	if (a->write)
		return fail(v, -EACCES, "R%u cannot write into %s", addr,
			    kind_text(r, buf, sizeof(buf)));
	if (r->s.d.smin < 0)
		return fail(v, -EACCES,
			    "R%u min value is negative, either use unsigned index or do a if "
			    "(index >=0) check.",
			    addr);
	if (!sock_has(r, off, a->size))
		return fail(v, -EACCES, "R%u invalid %s access off=%d size=%d", addr,
			    kind_text(r, buf, sizeof(buf)), off, (int)a->size);
	load_kind(v, a->reg, KIND_SCALAR);
	return 0;
}
