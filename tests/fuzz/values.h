/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers at which code generators go wrong.
 */
#ifndef SKEP_TESTS_VALUES_H
#define SKEP_TESTS_VALUES_H

#include <stdint.h>

#include "rng.h"

/* Any 64-bit value; those around powers of two, field limits and bit patterns are frequent. */
uint64_t value_64(struct rng *r);

/* The same for immediates. */
int32_t value_32(struct rng *r);

/* low to high, frequently at or near what fits in 8, 9, 12 or 16 bits; a multiple of `align`. */
int32_t value_offset(struct rng *r, int32_t low, int32_t high, int32_t align);

#endif
