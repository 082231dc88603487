/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What skep says of a refusal, under the kernel's line: what it means, where it is, which
 * registers had a part in it and where their values came from, and what would be accepted.
 */
#ifndef SKEP_VERIFY_EXPLAIN_H
#define SKEP_VERIFY_EXPLAIN_H

#include "verify/ver.h"

/* What is known of the past of a register's value. */
struct origin {
	uint32_t op; /* 1 + op that wrote the register last, 0: none, it had it from the start */
	uint32_t source; /* 1 + op that wrote what `op` copied, 0: none */
	uint32_t moved;	 /* 1 + call since then that moved the packet, 0: none */
};

/* Where the value in a register of the running frame came from, before the running op. */
struct origin origin_of(const struct ver *v, unsigned reg);

/* Collects what can be said of v->refusal while the refused path is still there. */
void explain_path(struct ver *v);

/* Writes the explanation of v->refusal behind the log, each line with EXPLAIN_MARK. It is left out
 * of a log that has no room for all of it, so that the last lines are the kernel's. */
void explain_print(struct ver *v);

/* The row of explain.def for a line of a refusal, -1: none. For tests: its texts. */
int explain_find(const char *line);
const char *explain_pattern(unsigned row); /* NULL: no such row */

#endif
