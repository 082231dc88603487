/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference interpreter: what every JIT and optimisation is compared with. It runs any unit
 * that unit_decode accepts, internal forms included. Slow and plain on purpose.
 *
 * What is in registers and stack before they are written, and in r1-r5 after a call, is nothing
 * that a program may rely on; engines differ in it.
 */
#ifndef SKEP_INTERP_INTERP_H
#define SKEP_INTERP_INTERP_H

#include <stdint.h>

#include "isa/trait.h"
#include "isa/unit.h"

struct interp_opts {
	uint64_t max_ops; /* stop with -ELOOP after that many ops; 0: no limit */
};

enum {
	INTERP_FRAMES = 8, /* most frames of a run, callbacks included */
	INTERP_TRAITS = TRAIT_ZEXT32 | TRAIT_PERCPU | TRAIT_DIV0,
	INTERP_MAY_GOTO = 8 * 1024 * 1024, /* how often a frame's may_goto ops go on */
};

/* What an op is about to run on. r and stack are good while the frame lives. */
struct interp_at {
	const struct unit *u;
	uint32_t op;
	uint32_t depth; /* frames below this one, callbacks' included */
	uint64_t *r;	/* BPF_REGS values; may be changed */
	uint8_t *stack; /* BPF_STACK bytes */
};

/* From now on `fn` is called before each op that this thread runs; what it returns, when not 0,
 * ends the run as an error does. NULL: no more. */
typedef int (*interp_watch_fn)(void *arg, const struct interp_at *at);
void interp_watch(interp_watch_fn fn, void *arg);

/* Runs u from op 0 with r1-r5 = args; *r0 is the result. Tail calls and callbacks included.
 * opts may be NULL. 0 or
 *   -ELOOP       max_ops is used up
 *   -E2BIG       more than INTERP_FRAMES frames
 *   -EINVAL      control left the unit, or it has accesses to an arena and none is there
 *   -EOPNOTSUPP  a call that env lacks, a kfunc, a map or variable that is not resolved
 * and then *r0 is 0. An error within a callback ends the run as soon as its helper returns; the
 * callback seems to return 1, at which loops stop. */
int interp_run(const struct unit *u, const uint64_t args[5], const struct interp_opts *opts,
	       uint64_t *r0);

#endif
