/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LDABS and LDIND of what lies in the packet's linear part, which is all of it in skep, in place:
 * two loads, a comparison, a load and a byte swap. The op itself stays for everything else
 * (negative offsets, which count from a header, and places outside of the packet, which end the
 * program): it calls env.load_abs.
 */
#include "isa/ctx.h"
#include "rewrite/pass.h"

/* Offsets up to here are in place. */
enum { OFFSET_MAX = 0x7fff };

/* r1-r5 hold nothing behind the op; what it reads is its src alone. */
struct temps {
	uint8_t data, len, off;
};

static struct temps temps_for(const struct op *op)
{
	uint8_t avoid = op->code == OP_LDIND ? op->src : 0, at[3], n = 0;

	for (uint8_t r = 1; n < 3; r++) {
		if (r != avoid)
			at[n++] = r;
	}
	return (struct temps){ at[0], at[1], at[2] };
}

static void field_put(struct edit *e, uint8_t dst, int32_t at)
{
	const struct op load = {
		.code = OP_LD, .mode = op_mode_size(8), .dst = dst, .src = 6, .off = at
	};
	struct fact fact = fact_unknown();

	fact.ctx = 1;
	edit_put_known(e, load, &fact);
}

static void alu_put(struct edit *e, uint8_t code, uint8_t mode, uint8_t dst, uint8_t src)
{
	edit_put(e, (struct op){ .code = code, .mode = mode | OP_REG, .dst = dst, .src = src });
}

/* off = src + imm, 32 bits wide as in the kernel; the data begins, and ends, so much later. Where
 * it is negative, the op itself, `slow` ops ahead of the first one here, has to do it. */
static void index_put(struct edit *e, const struct op *op, const struct temps *t, int32_t slow)
{
	alu_put(e, OP_MOV, OP_W32, t->off, op->src);
	edit_put(e, (struct op){ .code = OP_ADD, .mode = OP_W32, .dst = t->off, .imm = op->imm });
	edit_put_local(e, (struct op){ .code = OP_JSLT, .mode = OP_W32, .dst = t->off }, slow - 2);
	alu_put(e, OP_ADD, 0, t->data, t->off);
	alu_put(e, OP_SUB, 0, t->len, t->off);
}

/* Three ops, five for LDIND, to the comparison; then load, swap, jump; then the op. */
static void ldabs_put(struct edit *e, const struct op *op)
{
	const struct temps t = temps_for(op);
	bool indexed = op->code == OP_LDIND, swaps = op_size(op) > 1;
	int32_t off = indexed ? 0 : (int32_t)op->imm;

	field_put(e, t.data, CTX_SKB_DATA);
	field_put(e, t.len, CTX_SKB_END);
	alu_put(e, OP_SUB, 0, t.len, t.data);
	if (indexed)
		index_put(e, op, &t, 8 + swaps);
	edit_put_local(
	    e, (struct op){ .code = OP_JSLT, .dst = t.len, .imm = off + (int32_t)op_size(op) },
	    3 + swaps);
	edit_put(e, (struct op){ .code = OP_LD,
				 .mode = op->mode & OP_SIZE_MASK,
				 .dst = 0,
				 .src = t.data,
				 .off = off });
	if (swaps)
		edit_put(e, (struct op){ .code = OP_TOBE, .dst = 0, .imm = 8 * op_size(op) });
	edit_put_local(e, (struct op){ .code = OP_JA }, 2);
	edit_keep(e);
}

static bool is_plain(const struct op *op)
{
	return op->code == OP_LDIND ||
	       (op->code == OP_LDABS && op->imm >= 0 && op->imm <= OFFSET_MAX);
}

int rewrite_ldabs(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		  struct unit **out)
{
	struct edit e;

	if (!u->facts || !opts->jit || !ctx_is(CTX_SKB_TYPES, opts->prog_type))
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		if (is_plain(&u->ops[i]))
			ldabs_put(&e, &u->ops[i]);
		else
			edit_keep(&e);
	}
	return edit_finish(&e, r, out);
}
