/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores and atomics of the program: addressing, arena, faults. */
#include <errno.h>

#include "jit/lower.h"

/* Makes base + off fit an addressing form: the offset in a register, as an index where the access
 * can take one, else added to the base. */
static void fit_offset(struct walk *w, struct args *a, uint8_t *base)
{
	struct args add = { .rule = &w->t->rules[OP_ADD], .op = a->op };
	bool plain = a->op->code == OP_LD || a->op->code == OP_ST;

	if (*base == w->t->reg[BPF_FP])
		a->off += w->f->bias;
	if (w->t->off_fits(w->b, a))
		return;
	w->t->mov_imm(w->b, w->t->address_tmp, (uint64_t)(int64_t)a->off);
	a->off = 0;
	if (plain && w->t->traits & TRAIT_INDEX) {
		a->index = w->t->address_tmp;
		return;
	}
	add.dst = add.first = w->t->address_tmp;
	add.src = *base;
	add.rule->reg(w->b, &add);
	*base = w->t->address_tmp;
}

/* The address of the access, in the arena or not. `base` is the member of a that holds it. */
static void fit_address(struct walk *w, const struct op *op, struct args *a, uint8_t *base)
{
	if (!(op->mode & OP_ARENA))
		fit_offset(w, a, base);
	else if (!w->b->arena)
		builder_fail(w->b, -EINVAL, "there is no arena");
	else
		w->t->arena(w->b, a, base);
}

/* A load and the change of its byte order. The target's order is little-endian. */
static bool fuse_swap(struct walk *w, const struct op *op, const struct args *a)
{
	const struct op *next = walk_next(w, op);

	if (!next || !w->t->load_swapped || op->mode & OP_SX || op->code != OP_LD ||
	    (next->code != OP_TOBE && next->code != OP_BSWAP) || next->imm != 8 << a->size_log ||
	    !w->t->load_swapped(w->b, a))
		return false;
	walk_next_done(w);
	return true;
}

static bool may_fault(const struct op *op)
{
	return op->mode & (OP_PROBE | OP_ARENA);
}

/* The access that was emitted since `at` may fault. */
static void note_fault(struct walk *w, const struct op *op, struct place at, uint8_t reg)
{
	struct place here = builder_here(w->b);

	if (!may_fault(op))
		return;
	if (w->t->insn_size)
		at.raw = here.raw - w->t->insn_size;
	builder_fault(w->b, at, here, reg);
}

static void load(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	struct place at;

	fit_address(w, op, &a, &a.src);
	at = builder_here(w->b);
	if (!fuse_swap(w, op, &a))
		a.rule->reg(w->b, &a);
	note_fault(w, op, at, a.dst);
}

/* A probe of an address that nothing can be at is 0 without being tried (abi.h). */
static void load_probe(struct walk *w, const struct op *op)
{
	uint32_t outside = builder_labels(w->b, 2), done = outside + 1;
	uint8_t dst = reg_of(w, op->dst), base = reg_of(w, op->src);
	bool apart = dst != base;

	if (apart)
		w->t->mov_imm(w->b, dst, 0);
	w->t->probe_outside(w->b, base, outside);
	load(w, op);
	if (!apart)
		w->t->jump(w->b, done);
	builder_bind(w->b, outside);
	if (!apart)
		w->t->mov_imm(w->b, dst, 0);
	builder_bind(w->b, done);
}

void lower_load(struct walk *w, const struct op *op)
{
	if ((op->mode & (OP_PROBE | OP_ARENA)) == OP_PROBE && op->src != BPF_FP)
		load_probe(w, op);
	else
		load(w, op);
}

void lower_store(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	bool imm = !(op->mode & OP_REG);
	bool in_reg = imm && (lower_blinds(w, op->imm) || (a.rule->fits && !a.rule->fits(&a)));
	struct place at;

	if (in_reg) {
		a.src = w->t->tmp;
		lower_constant(w, a.src, (uint64_t)op->imm);
	}
	fit_address(w, op, &a, &a.dst);
	at = builder_here(w->b);
	if (imm && !in_reg)
		a.rule->imm(w->b, &a);
	else
		a.rule->reg(w->b, &a);
	note_fault(w, op, at, 0xff);
}

/* The target notes which of its instructions may fault. */
void lower_atomic(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	fit_address(w, op, &a, &a.dst);
	a.rule->reg(w->b, &a);
}

void lower_release(struct walk *w, const struct op *op)
{
	struct op st = *op;

	st.mode |= OP_REG;
	lower_store(w, &st);
}
