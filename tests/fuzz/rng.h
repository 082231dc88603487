/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream of pseudo-random numbers (splitmix64): the same seed gives the same numbers anywhere.
 */
#ifndef SKEP_TESTS_RNG_H
#define SKEP_TESTS_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* 0 to n - 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* low to high, both included. */
static inline int32_t rng_between(struct rng *r, int32_t low, int32_t high)
{
	return low + (int32_t)rng_below(r, (uint32_t)(high - low + 1));
}

/* True once in n times. */
static inline bool rng_once_in(struct rng *r, uint32_t n)
{
	return rng_below(r, n) == 0;
}

#endif
