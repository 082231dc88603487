/* SPDX-License-Identifier: BSD-2-Clause */
#include "values.h"

static uint64_t around_power(struct rng *r)
{
	const uint64_t v = (1ull << rng_below(r, 64)) + (uint64_t)(int64_t)rng_between(r, -2, 2);

	return rng_below(r, 2) ? v : 0 - v;
}

/* A run of ones, rotated, repeated: what arm64 takes as a bit mask, and its neighbours. */
static uint64_t bit_pattern(struct rng *r)
{
	const unsigned size = 2u << rng_below(r, 6);
	const unsigned ones = 1 + rng_below(r, size - 1);
	const unsigned turn = rng_below(r, size);
	const uint64_t all = size == 64 ? UINT64_MAX : (1ull << size) - 1;
	const uint64_t run = (1ull << ones) - 1;
	const uint64_t turned = turn ? (run << turn | run >> (size - turn)) & all : run;
	uint64_t v = 0;

	for (unsigned at = 0; at < 64; at += size)
		v |= turned << at;
	return v ^ (uint64_t)rng_once_in(r, 4);
}

static uint64_t small(struct rng *r)
{
	return (uint64_t)(int64_t)rng_between(r, -3, 3);
}

/* What moves of 16-bit parts take one or two of. */
static uint64_t parts(struct rng *r)
{
	const uint64_t part = rng_next(r) & 0xffff;
	const uint64_t v = part << 16 * rng_below(r, 4);

	return rng_below(r, 2) ? v : ~v;
}

static uint64_t any(struct rng *r)
{
	return rng_next(r);
}

static uint64_t any_32(struct rng *r)
{
	return rng_below(r, 2) ? (uint32_t)rng_next(r) : (uint64_t)(int32_t)rng_next(r);
}

static uint64_t twelve(struct rng *r)
{
	return (uint64_t)(int64_t)rng_between(r, -4097, 4097) << 12 * rng_below(r, 2);
}

/* Where immediates of 8, 12 and 16 bits end. */
static uint64_t edge(struct rng *r)
{
	static const int32_t edges[] = { 127, 128, 129, 255, 256, 4095, 4096, 32767, 32768, 65535 };
	const int64_t v = edges[rng_below(r, sizeof(edges) / sizeof(edges[0]))];

	return (uint64_t)(rng_below(r, 2) ? v : -v);
}

uint64_t value_64(struct rng *r)
{
	static uint64_t (*const kinds[])(struct rng *) = {
		around_power, around_power, bit_pattern, small,	 small,
		parts,	      any,	    any_32,	 twelve, edge,
	};

	return kinds[rng_below(r, sizeof(kinds) / sizeof(kinds[0]))](r);
}

int32_t value_32(struct rng *r)
{
	return (int32_t)value_64(r);
}

int32_t value_offset(struct rng *r, int32_t low, int32_t high, int32_t align)
{
	static const int32_t edges[] = { 0,    127,  128,  255,	  256,	 2047,
					 2048, 4095, 4096, 16380, 32760, 32767 };
	const int32_t edge = edges[rng_below(r, sizeof(edges) / sizeof(edges[0]))];
	const int32_t signed_edge = rng_below(r, 2) ? edge : -edge;
	const int32_t v =
	    rng_once_in(r, 3) ? rng_between(r, low, high) : signed_edge + rng_between(r, -9, 9);
	const int32_t in = v < low ? low : v > high ? high : v;
	const int32_t down = in - (in % align + align) % align;

	return down < low ? down + align : down;
}
