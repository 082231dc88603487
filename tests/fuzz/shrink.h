/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a failing program small.
 */
#ifndef SKEP_TESTS_SHRINK_H
#define SKEP_TESTS_SHRINK_H

#include "check.h"

/* Whether check_case fails or crashes in the other engine. Runs in a process of its own. */
bool shrink_fails(struct check *check, const struct gen_case *c);

/* The smallest program found that still fails as seed's does: without items that are not needed,
 * then without single ops. False: the seed's does not fail, or there is no memory. */
bool shrink_seed(struct check *check, uint64_t seed, struct gen_case *out);

#endif
