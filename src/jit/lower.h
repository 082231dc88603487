/* SPDX-License-Identifier: BSD-2-Clause */
/* What the walker's files share: lower.c (control), lower_mem.c (memory), lower_const.c. */
#ifndef SKEP_JIT_LOWER_H
#define SKEP_JIT_LOWER_H

#include "jit/target.h"

struct walk {
	struct builder *b;
	const struct target *t;
	const struct unit *u;
	struct frame *frames, *f; /* all; the one in hand */
	uint32_t i;		  /* op in hand */
};

/* The native register of a BPF register: in a subprogram that calls nothing, r6-r9 may lie in
 * registers that need no saving. */
static inline uint8_t reg_of(const struct walk *w, unsigned r)
{
	bool leaf = r >= 6 && r <= 9 && !w->f->calls;

	return leaf ? w->t->leaf_reg[r - 6] : w->t->reg[r];
}

static inline struct args args_of(const struct walk *w, const struct op *op)
{
	return (struct args){
		.rule = &w->t->rules[op->code],
		.op = op,
		.w32 = op->mode & OP_W32,
		.dst = reg_of(w, op->dst),
		.src = reg_of(w, op->src),
		.first = reg_of(w, op->dst),
		.size_log = (uint8_t)op_size_log(op),
		.off = op->off,
		.imm = op->imm,
		.label = LABEL_NONE,
		.index = INDEX_NONE,
	};
}

void lower_op(struct walk *w, const struct op *op);

/* The op behind the one in hand, when nothing else leads to it and it works on the same dst. */
const struct op *walk_next(const struct walk *w, const struct op *op);

/* The next op is part of what was emitted for this one. */
void walk_next_done(struct walk *w);

/* lower_const.c: the register form, or the immediate one where there is one for this value, else
 * the value in a register. */
void lower_emit(struct walk *w, const struct args *a);
/* A number of the program into a register, blinded if that is asked for. */
void lower_constant(struct walk *w, uint8_t dst, uint64_t imm);
/* Whether this number must not be seen in the code. Zero says nothing. */
bool lower_blinds(const struct walk *w, int64_t imm);

/* lower_percpu.c; whether a constant was made into a per-CPU address, and all is done. */
void lower_percpu(struct walk *w, const struct op *op);
bool lower_percpu_constant(struct walk *w, const struct op *op);

/* lower_mem.c */
void lower_load(struct walk *w, const struct op *op);
void lower_store(struct walk *w, const struct op *op);
void lower_atomic(struct walk *w, const struct op *op);
void lower_release(struct walk *w, const struct op *op);

#endif
