/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For targets whose 32-bit operations leave anything in the upper half of their result: it is
 * cleared by a 32-bit move where the verifier saw that somebody reads it. With TRAIT_ZEXT32 nothing
 * is put. The last rewrite, since others put 32-bit ops.
 */
#include "rewrite/pass.h"

/* A 32-bit move of a register clears the upper half on every target. */
static bool is_narrow(const struct op *op)
{
	uint8_t form = op_row(op)->form;

	return op->mode & OP_W32 &&
	       (form == FORM_ALU || form == FORM_NEG ||
		(form == FORM_MOV && (op->mode & OP_SX || !(op->mode & OP_REG))));
}

int rewrite_zext(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		 struct unit **out)
{
	struct edit e;

	if (opts->traits & TRAIT_ZEXT32)
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		const struct op *op = &u->ops[i];

		edit_at(&e, i);
		edit_keep(&e);
		if (is_narrow(op) && edit_fact(&e, i).upper_used)
			edit_put(&e, (struct op){ .code = OP_MOV,
						  .mode = OP_REG | OP_W32,
						  .dst = op->dst,
						  .src = op->dst });
	}
	return edit_finish(&e, r, out);
}
