/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions: how a program that throws is entered and left. A program is called by throw_run, a
 * callback that a helper calls by throw_call; what throws goes back to the innermost of them.
 *
 * Helpers are C and may hold locks, so none of their frames is ever cut off: an exception in a
 * callback makes it return 1 to its helper, at which loops stop, and goes on behind the helper's
 * call (throw_go_on). Registers that C's caller keeps come back since setjmp keeps them.
 */
#ifndef SKEP_JIT_THROW_H
#define SKEP_JIT_THROW_H

#include "isa/abi.h"

/* r0 of `body`, or of the exception that it ends with. */
uint64_t throw_run(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5),
		   helper_fn body);

/* As throw_run for a callback: 1 while an exception is on its way. */
uint64_t throw_call(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5),
		    helper_fn body);

/* Ends the running program with `cookie`, or with what callback `fn` makes of it. */
uint64_t throw_now(BPF_PARAMS(uint64_t cookie, uint64_t fn, uint64_t r3, uint64_t r4, uint64_t r5));

/* Called with a helper's result: gives it back, or goes on with what its callback threw. */
uint64_t throw_go_on(BPF_PARAMS(uint64_t r0, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5));

#endif
