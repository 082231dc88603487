/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internet checksums: one's-complement sums of 32-bit words in host byte order, carried around.
 * The sum of anything but all zeroes is never 0 (it is 0xffffffff instead), whatever the order of
 * addition, so a value computed here equals the one the kernel computes, bit by bit.
 */
#ifndef SKEP_HELPER_SUM_H
#define SKEP_HELPER_SUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t sum_add(uint32_t a, uint32_t b)
{
	uint64_t s = (uint64_t)a + b;

	return (uint32_t)s + (uint32_t)(s >> 32);
}

static inline uint32_t sum_sub(uint32_t a, uint32_t b)
{
	return sum_add(a, ~b);
}

static inline uint16_t sum16_add(uint16_t a, uint16_t b)
{
	uint16_t s = (uint16_t)(a + b);

	return (uint16_t)(s + (s < b));
}

/* The checksum field for a sum: folded to 16 bits and complemented. */
static inline uint16_t sum_fold(uint32_t s)
{
	s = (s & 0xffff) + (s >> 16);
	s += s >> 16;
	return (uint16_t)~s;
}

/* The sum of a block that begins `off` bytes into the data: odd blocks are byte-swapped. */
static inline uint32_t sum_shift(uint32_t s, uint32_t off)
{
	return off & 1 ? s >> 8 | s << 24 : s;
}

/* seed plus the sum of n bytes, the last word filled up with zeroes. */
static inline uint32_t sum_bytes(const void *p, size_t n, uint32_t seed)
{
	const uint8_t *b = p;
	uint32_t w;

	for (; n >= 4; n -= 4, b += 4) {
		memcpy(&w, b, 4);
		seed = sum_add(seed, w);
	}
	if (n) {
		w = 0;
		memcpy(&w, b, n);
		seed = sum_add(seed, w);
	}
	return seed;
}

/* A checksum field after the data's sum changed by diff. */
static inline uint16_t sum_replace(uint16_t field, uint32_t diff)
{
	return sum_fold(sum_add(diff, ~(uint32_t)field));
}

/* ... after a 32-bit word changed. */
static inline uint16_t sum_replace4(uint16_t field, uint32_t from, uint32_t to)
{
	return sum_fold(sum_add(sum_sub(~(uint32_t)field, from), to));
}

/* ... after a 16-bit word changed. */
static inline uint16_t sum_replace2(uint16_t field, uint16_t from, uint16_t to)
{
	return (uint16_t)~sum16_add(sum16_add((uint16_t)~field, (uint16_t)~from), to);
}

#endif
