/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs for the host's back end, and helpers that they may call: what the tests of jit share. */
#ifndef SKEP_TESTS_JIT_NATIVE_H
#define SKEP_TESTS_JIT_NATIVE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "jit/jit.h"

typedef VEC(struct op) ops_t;

void push(ops_t *v, struct op op);

/* Units whose helpers are: 1 a + 2b + 3c + 4d + 5e, 2 what is amiss with the stack's alignment, 3
 * the sum of calling back r1 for 0, 1, ... r2 - 1 with r3; packets are 16 bytes long. */
struct unit *unit_from(const char *text);
struct unit *unit_of(ops_t *v);

struct image *image_of(const struct unit *u, const struct jit_opts *opts);

/* r0 of a program in text with r1 = a and 2, 3, 4, 5 behind it. */
uint64_t run_text(const char *text, uint64_t a);

/* A mixture of n ops with branches near and far. */
struct unit *large_unit(uint32_t n);

/* A SIGSEGV handler that goes on behind a probe that faulted and ends the process else. */
void on_signal(int sig, siginfo_t *info, void *context);

#endif
