/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper/hash.h"

#include <string.h>

static uint64_t rotl(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotl(v[1], 13) ^ v[0];
		v[3] = rotl(v[3], 16) ^ v[2];
		v[0] = rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotl(v[1], 17) ^ v[2];
		v[3] = rotl(v[3], 21) ^ v[0];
		v[2] = rotl(v[2], 32);
	}
}

static void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t hash_bytes(const void *p, size_t n, const uint64_t key[2])
{
	const uint8_t *b = p;
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	uint64_t word, left = n;

	for (; left >= 8; left -= 8, b += 8) {
		memcpy(&word, b, 8);
		absorb(v, word);
	}
	word = 0;
	memcpy(&word, b, left);
	absorb(v, word | (uint64_t)n << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
