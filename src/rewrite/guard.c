/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Division and modulo by a register, for targets whose instructions trap or give something else
 * where BPF has x / 0 = 0, x % 0 = x, MIN / -1 = MIN and MIN % -1 = 0. Where the target does as
 * BPF (TRAIT_DIV0), nothing is put.
 */
#include "rewrite/pass.h"

static bool is_division(const struct op *op)
{
	return (op->code == OP_DIV || op->code == OP_SDIV || op->code == OP_MOD ||
		op->code == OP_SMOD) &&
	       op->mode & OP_REG;
}

/* What the operation gives for the divisor 0, or for -1 where it is signed: one op. */
static struct op special(const struct op *op, bool minus_one)
{
	bool modulo = op->code == OP_MOD || op->code == OP_SMOD;
	uint8_t w32 = op->mode & OP_W32;

	if (minus_one && !modulo)
		return (struct op){ .code = OP_NEG, .mode = w32, .dst = op->dst };
	if (!minus_one && modulo)
		return (struct op){
			.code = OP_MOV, .mode = OP_REG | w32, .dst = op->dst, .src = op->dst
		};
	return (struct op){ .code = OP_MOV, .mode = w32, .dst = op->dst };
}

/* if src != value skip the two ops behind; the special result; past the `left` ops that follow. */
static void case_put(struct edit *e, const struct op *op, bool minus_one, int32_t left)
{
	edit_put_local(e,
		       (struct op){ .code = OP_JNE,
				    .mode = op->mode & OP_W32,
				    .dst = op->src,
				    .imm = minus_one ? -1 : 0 },
		       3);
	edit_put(e, special(op, minus_one));
	edit_put_local(e, (struct op){ .code = OP_JA }, left + 1);
}

int rewrite_guard(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		  struct unit **out)
{
	struct edit e;

	if (opts->traits & TRAIT_DIV0)
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		const struct op *op = &u->ops[i];
		bool division = is_division(op);
		bool is_signed = op->code == OP_SDIV || op->code == OP_SMOD;

		edit_at(&e, i);
		if (division)
			case_put(&e, op, false, is_signed ? 4 : 1);
		if (division && is_signed)
			case_put(&e, op, true, 1);
		edit_keep(&e);
	}
	return edit_finish(&e, r, out);
}
