/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a failing program small.
 */
#ifndef SKEP_TESTS_SHRINK_H
#define SKEP_TESTS_SHRINK_H

#include "check.h"

/* Exit status of a process in which a program crashed. */
enum { SHRINK_OK, SHRINK_FAILS, SHRINK_CRASHED };

/* What check_case says, in a process of its own: SHRINK_FAILS, or SHRINK_CRASHED in the engine
 * under test; else SHRINK_OK. */
int shrink_verdict(struct check *check, const struct gen_case *c);

/* The smallest program found that still fails as seed's does: without items that are not needed,
 * then without single ops. False: the seed's does not fail, or there is no memory. */
bool shrink_seed(struct check *check, uint64_t seed, struct gen_case *out);

#endif
