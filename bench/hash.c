/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash of hash maps' keys beside XXH3, by size of the key: time when each key waits for the
 * hash before it, time when they do not wait, and how far the worst pair of an input bit and one of
 * the low 20 output bits is from changing together half of the time.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "map/key.h"

enum { KEYS = 1024, TIMES = 2000, SAMPLES = 20000, OUT_BITS = 20, SIZE_MAX_ = 40 };

static const uint64_t seed = 0x243f6a8885a308d3;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t rnd(void)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

KEY_INLINE uint64_t hash_of(int xxh3, const void *key, uint32_t size)
{
	return xxh3 ? XXH3_64bits_withSeed(key, size, seed) : key_hash(key, size, seed);
}

/* ns of one hash; `wait`: the next key's place depends on it. */
KEY_INLINE double time_of(int xxh3, uint32_t size, int wait)
{
	static uint8_t keys[KEYS + SIZE_MAX_];
	volatile uint64_t sink;
	uint64_t sum = 0;
	double from;

	for (size_t i = 0; i < sizeof(keys); i++)
		keys[i] = (uint8_t)rnd();
	from = now();
	for (int t = 0; t < TIMES; t++)
		for (uint32_t i = 0; i < KEYS; i++)
			sum += hash_of(xxh3, keys + (i ^ (wait ? sum & 1 : 0)), size);
	sink = sum;
	(void)sink;
	return (now() - from) / KEYS / TIMES;
}

/* The worst bias of all pairs of bits, 0 to 1. */
KEY_INLINE double bias_of(int xxh3, uint32_t size)
{
	static uint32_t changes[SIZE_MAX_ * 8][OUT_BITS];
	uint64_t key[SIZE_MAX_ / 8];
	double worst = 0;

	memset(changes, 0, sizeof(changes));
	for (int s = 0; s < SAMPLES; s++) {
		uint64_t before;

		for (unsigned i = 0; i < SIZE_MAX_ / 8; i++)
			key[i] = rnd();
		before = hash_of(xxh3, key, size);
		for (uint32_t bit = 0; bit < size * 8; bit++) {
			uint64_t diff;

			((uint8_t *)key)[bit / 8] ^= (uint8_t)(1 << bit % 8);
			diff = before ^ hash_of(xxh3, key, size);
			((uint8_t *)key)[bit / 8] ^= (uint8_t)(1 << bit % 8);
			for (unsigned o = 0; o < OUT_BITS; o++)
				changes[bit][o] += diff >> o & 1;
		}
	}
	for (uint32_t bit = 0; bit < size * 8; bit++)
		for (unsigned o = 0; o < OUT_BITS; o++) {
			double bias = fabs(2.0 * changes[bit][o] / SAMPLES - 1);

			worst = bias > worst ? bias : worst;
		}
	return worst;
}

#define ROW(size)                                                                                  \
	printf("%4d  %6.2f %6.2f %6.3f   %6.2f %6.2f %6.3f\n", size, time_of(0, size, 1),          \
	       time_of(0, size, 0), bias_of(0, size), time_of(1, size, 1), time_of(1, size, 0),    \
	       bias_of(1, size))

int main(void)
{
	printf("size  ours: ns in turn, ns at once, bias   XXH3: the same\n");
	ROW(4);
	ROW(8);
	ROW(12);
	ROW(13);
	ROW(16);
	ROW(40);
	return 0;
}
