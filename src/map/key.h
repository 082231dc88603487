/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of hash maps: their hash, and their last word. Little-endian machines only. */
#ifndef SKEP_MAP_KEY_H
#define SKEP_MAP_KEY_H

#include <stdint.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "key_tail shifts");

#define KEY_INLINE static inline __attribute__((always_inline))

/* Keys of up to 16 bytes: two rounds of a 64 x 64 -> 128 bit multiplication, folded. Every key
 * bit reaches every result bit. Both factors of the first round contain the seed: with a factor
 * that a key alone decides, keys could make it zero and all collide. Two multiplications cost less
 * than XXH3's way in, which other sizes take. */
KEY_INLINE uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

KEY_INLINE uint64_t word_hash(uint64_t a, uint64_t b, uint32_t size, uint64_t seed)
{
	const uint64_t k1 = 0x9e3779b97f4a7c15, k2 = 0xd6e8feb86659fd93;
	uint64_t turned = seed << 32 | seed >> 32;

	return mix(mix(a ^ k1 ^ seed, b ^ k2 ^ turned) ^ seed, k1 + 2 * size);
}

/* In two halves: keys are mostly made of fields of 4 bytes that were stored just before, and a load
 * that spans two stores waits until both are in the cache. */
KEY_INLINE uint64_t load8(const uint8_t *p)
{
	uint32_t low, high;

	memcpy(&low, p, 4);
	memcpy(&high, p + 4, 4);
	__asm__("" : "+r"(low)); /* else it becomes one load */
	return low | (uint64_t)high << 32;
}

KEY_INLINE uint64_t load4(const uint8_t *p)
{
	uint32_t w;

	memcpy(&w, p, 4);
	return w;
}

/* The n < 8 bytes that end a key of `size` bytes, with zeros behind them as in a cell. Little
 * endian: what was read too much is shifted out. */
KEY_INLINE uint64_t key_tail(const uint8_t *key, uint32_t size, uint32_t n)
{
	uint64_t w = 0;

	if (n == 4)
		return load4(key + size - 4);
	if (size >= 8)
		return load8(key + size - 8) >> (64 - 8 * n);
	if (n > 4)
		return load4(key) | load4(key + n - 4) << (8 * n - 32);
	memcpy(&w, key, n);
	return w;
}

KEY_INLINE uint64_t key_hash(const void *key, uint32_t size, uint64_t seed)
{
	if (size > 16)
		return XXH3_64bits_withSeed(key, size, seed);
	if (size < 8)
		return word_hash(key_tail(key, size, size), 0, size, seed);
	return word_hash(load8(key), size == 8 ? 0 : load8((const uint8_t *)key + size - 8), size,
			 seed);
}

#endif
