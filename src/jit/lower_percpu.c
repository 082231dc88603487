/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-CPU addresses: the running slot's base and an offset. A constant offset is an immediate of
 * the addition, or, when the address is only loaded from, of the load. */
#include <errno.h>

#include "jit/lower.h"

void lower_percpu(struct walk *w, const struct op *op)
{
	if (!(w->t->traits & TRAIT_PERCPU))
		builder_fail(w->b, -EOPNOTSUPP, "the target has no per-CPU base");
	else
		w->t->percpu(w->b, reg_of(w, op->dst), reg_of(w, op->src));
}

/* The op in hand makes an address of r, which the next one loads from into r: one load. */
static bool fuse_load(struct walk *w, int64_t imm)
{
	const struct op *load = walk_next(w, &w->u->ops[w->i]);
	struct args a;

	if (!load || load->code != OP_LD || load->mode & (OP_PROBE | OP_ARENA) ||
	    load->src != load->dst || imm + load->off < 0 || imm + load->off > INT32_MAX)
		return false;
	a = args_of(w, load);
	a.off = (int32_t)(imm + load->off);
	if (!w->t->percpu_load || !w->t->percpu_load(w->b, &a))
		return false;
	walk_next_done(w);
	return true;
}

bool lower_percpu_constant(struct walk *w, const struct op *op)
{
	const struct op *next = walk_next(w, op);
	uint32_t i = w->i;

	if (!next || next->code != OP_PERCPU || next->src != op->dst || op->imm < 0 ||
	    lower_blinds(w, op->imm))
		return false;
	w->i++;
	if (fuse_load(w, op->imm) ||
	    (w->t->percpu_at && w->t->percpu_at(w->b, reg_of(w, op->dst), (uint64_t)op->imm))) {
		builder_bind(w->b, i + 1);
		return true;
	}
	w->i = i;
	return false;
}
