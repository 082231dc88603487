/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private stacks: the BPF stacks of a program in per-slot memory instead of C's stack. Each
 * subprogram has its own place, so a chain of calls needs nothing of C's stack but return
 * addresses and saved registers.
 *
 * A run in a signal handler has another slot, and so other stacks, than what it interrupted
 * (run/slot.h). But a run may also begin within one of the same program in the same slot, from a
 * helper or in an embedder's hands. So a slot has PRIVATE_AREAS of them for each program: area 0
 * for callbacks that run on their own (timers), then one for each level of nesting; a run takes
 * the next one (target.private_enter). Where none is left it does not take place and gives 0.
 * Programs with tail calls have none (frame.c).
 */
#ifndef SKEP_JIT_PRIVATE_H
#define SKEP_JIT_PRIVATE_H

#include "jit/builder.h"

/* Memory for the private stacks that b->private.size was added up for, into code. */
int private_alloc(struct builder *b, struct code *code);

/* Bytes of one area: guards and stacks. */
static inline uint32_t private_stride(const struct builder *b)
{
	return b->private.size + 2 * PRIVATE_GUARD;
}

#endif
