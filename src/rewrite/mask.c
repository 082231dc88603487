/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardening: a number that varies is added to a map value's address only within the range that the
 * verifier saw. What a processor does ahead of a comparison that then fails cannot leave the value
 * that way. Look-ups mask their index themselves (inline.c).
 */
#include "rewrite/pass.h"

static bool is_varied(const struct op *op, const struct fact *f)
{
	return (op->code == OP_ADD || op->code == OP_SUB) && op->mode == OP_REG && f->number &&
	       !f->number_varies && f->number_value;
}

static void ax_imm(struct edit *e, uint8_t code, uint8_t dst, int64_t imm)
{
	edit_put(e, (struct op){ .code = code, .dst = dst, .imm = imm });
}

static void reg_put(struct edit *e, uint8_t code, uint8_t dst, uint8_t src)
{
	edit_put(e, (struct op){ .code = code, .mode = OP_REG, .dst = dst, .src = src });
}

/*
 * AX = the number when it is in [min, max], else min. With x = number - min as unsigned and
 * w = max - min below 2^32: the sign of (w - x) | x says whether x > w. For x up to w neither is
 * negative; up to 2^63 the first is; from there on the second is.
 */
static void clamp_put(struct edit *e, uint8_t number, int32_t min, int32_t max)
{
	reg_put(e, OP_MOV, BPF_AX, number);
	if (min)
		ax_imm(e, OP_SUB, BPF_AX, min);
	edit_put(e, (struct op){ .code = OP_MOV,
				 .mode = OP_W32,
				 .dst = BPF_BX,
				 .imm = (int32_t)((uint32_t)max - (uint32_t)min) });
	reg_put(e, OP_SUB, BPF_BX, BPF_AX);
	reg_put(e, OP_OR, BPF_BX, BPF_AX);
	ax_imm(e, OP_ARSH, BPF_BX, 63);
	ax_imm(e, OP_XOR, BPF_BX, -1);
	reg_put(e, OP_AND, BPF_AX, BPF_BX);
	if (min)
		ax_imm(e, OP_ADD, BPF_AX, min);
}

static void mask_put(struct edit *e, const struct op *op, const struct fact *f)
{
	bool in_src = f->number == FACT_NUMBER_SRC;

	clamp_put(e, in_src ? op->src : op->dst, f->number_min, f->number_max);
	if (in_src) {
		reg_put(e, op->code, op->dst, BPF_AX);
		return;
	}
	reg_put(e, OP_ADD, BPF_AX, op->src);
	reg_put(e, OP_MOV, op->dst, BPF_AX);
}

int rewrite_mask(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		 struct unit **out)
{
	struct edit e;

	if (!u->facts || !opts->hardened || opts->scratch < 2)
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		if (is_varied(&u->ops[i], &u->facts[i]))
			mask_put(&e, &u->ops[i], &u->facts[i]);
		else
			edit_keep(&e);
	}
	return edit_finish(&e, r, out);
}
