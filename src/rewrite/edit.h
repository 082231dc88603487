/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a rewrite makes its new unit: it walks the old one and, for each old op, puts the ops that
 * stand in its place. Jumps and calls in what is put name old ops, as they do in the old unit, or,
 * with edit_put_local, ops of the same replacement; edit_finish turns both into new indexes and
 * carries subprograms with their names and stacks, lines and refs over. A subprogram of which
 * nothing is put is gone.
 */
#ifndef SKEP_REWRITE_EDIT_H
#define SKEP_REWRITE_EDIT_H

#include "base/vec.h"
#include "isa/fact.h"
#include "isa/unit.h"

struct edit {
	const struct unit *old;
	VEC(struct op) ops;
	VEC(uint8_t) local;	/* op.off is already an index into ops */
	VEC(uint32_t) from;	/* old op in whose place each new op stands */
	VEC(struct fact) facts; /* likewise, when the old unit has any */
	VEC(struct ref) refs;	/* those that are added to the old unit's */
	uint32_t *stack;	/* old->stack with what edit_stack added, or NULL */
	bool changed;		/* anything but edit_keep for each op in turn */
	uint32_t now;		/* old op in whose place ops are put */
	uint32_t *first;	/* old op -> its first new op; n_ops + 1 entries */
	int err;
};

/* Starts an empty new unit. Errors stick and come out of edit_finish. */
void edit_begin(struct edit *e, const struct unit *old);

/* What is put from here on stands in place of old op i. Called once for each, in order; what jumps
 * to old op i will go to the first op put after this call (or the next op's, when none is). */
void edit_at(struct edit *e, uint32_t i);

/* An op of which nothing is known (fact_unknown). */
void edit_put(struct edit *e, struct op op);

/* An op of which is known what `fact` says. */
void edit_put_known(struct edit *e, struct op op, const struct fact *fact);

/* The old op itself, with what is known of it. */
void edit_keep(struct edit *e);

/* What is known of old op i; fact_unknown() when the unit is not verified. */
struct fact edit_fact(const struct edit *e, uint32_t i);

/* A jump to the op `ahead` places behind it (1: the next one). */
void edit_put_local(struct edit *e, struct op op, int32_t ahead);

/* `bytes` of stack for the subprogram of the old op in hand, below what it uses, which must be
 * known (old->stack): the offset from r10 at which they begin. Every replacement in a subprogram
 * that asks gets the same bytes. */
int32_t edit_stack(struct edit *e, uint32_t bytes);

/* The number of a row of refs in the new unit that is like *ref. */
int64_t edit_ref(struct edit *e, const struct ref *ref);

/* The new unit, NULL when nothing was changed, or the first error. Frees what e holds in any
 * case. */
int edit_finish(struct edit *e, struct report *r, struct unit **out);

#endif
