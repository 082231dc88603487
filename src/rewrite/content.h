/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What registers, and some words of the stack, hold in straight code: constants, addresses, places
 * on the stack, copies. Stepped op by op; where control joins, nothing is known but that r10 is the
 * frame. Only for units that are verified: an address stays one, and is not 0, when something is
 * added to it, because programs keep to the bounds of what they point to.
 */
#ifndef SKEP_REWRITE_CONTENT_H
#define SKEP_REWRITE_CONTENT_H

#include <stdbool.h>

#include "isa/fact.h"
#include "isa/unit.h"

enum content_kind {
	ANYTHING,
	CONSTANT,
	NOT_ZERO,
	ADDRESS_OR_ZERO,
	ADDRESS,
	FRAME, /* r10 + value */
	COPY,  /* a stack word: the low half of register `value` */
};

struct content {
	uint8_t is; /* enum content_kind */
	int64_t value;
};

enum { CONTENT_WORDS = 6 };

/* 4 bytes of the stack. */
struct content_word {
	int32_t off; /* from r10, a multiple of 4; 0: none */
	struct content c;
};

struct contents {
	struct content r[BPF_REGS];
	struct content_word word[CONTENT_WORDS];
	unsigned next; /* word that is given up next */
};

void contents_forget(struct contents *k);

/* Before op i, given how control comes to it. */
void contents_join(struct contents *k, const struct unit *u, uint32_t i, uint8_t join);

/* From what is known before an op to what is known behind it when control goes on to the next. */
void contents_step(struct contents *k, const struct op *op, const struct fact *fact);

/* What is known of the n bytes (4 or 8, constants only) at r10 + off. */
struct content contents_stack(const struct contents *k, int64_t off, unsigned n);

/* Is it a comparison of 64 bits with 0? */
bool is_zero_test(const struct op *op);

/* What a conditional jump says of its register where it jumps, or does not. */
struct content content_tested(const struct op *op, struct content c, bool jumps);

/* 1: the zero test jumps, 0: it does not, -1: it is not known. */
int content_outcome(const struct op *test, const struct content *c);

enum join { JOIN_NONE, JOIN_STORE, JOIN_ANY };

/* joins[i] (enum join): control comes to op i from elsewhere than the op before it, too; or only
 * from a jump over a single store. `to` has the target of each op that is a jump. */
void joins_find(const struct unit *u, const uint32_t *to, uint8_t *joins);

#endif
