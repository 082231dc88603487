/* SPDX-License-Identifier: BSD-2-Clause */
/* How keys spread over the buckets, for the patterns that real keys have. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "map/hash.h"

enum { BUCKETS = 4096 };

typedef void (*pattern)(uint8_t *key, uint32_t size, uint32_t i);

static void counting(uint8_t *key, uint32_t size, uint32_t i)
{
	memcpy(key, &i, 4);
}

static void high_bits(uint8_t *key, uint32_t size, uint32_t i)
{
	i = __builtin_bswap32(i);
	memcpy(key + size - 4, &i, 4);
}

static void strides(uint8_t *key, uint32_t size, uint32_t i)
{
	i *= 4096;
	memcpy(key, &i, 4);
}

/* A 5-tuple: few addresses and ports that count. */
static void flows(uint8_t *key, uint32_t size, uint32_t i)
{
	key[0] = 10;
	key[3] = (uint8_t)(i % 16);
	if (size >= 8)
		memcpy(key + size / 2, &i, 4);
	else
		memcpy(key + 1, &i, 3);
}

/* Keys whose second word is what a multiplication without seed would turn to nothing. */
static void adverse(uint8_t *key, uint32_t size, uint32_t i)
{
	const uint64_t k2 = 0xd6e8feb86659fd93;

	memcpy(key, &i, 4);
	if (size >= 16)
		memcpy(key + 8, &k2, 8);
}

/* As many keys as buckets: the mean square of the buckets' loads is 2 when they fall at random,
 * with a deviation of about 0.03. */
static double mean_square(uint32_t size, pattern make)
{
	struct map_desc d = {
		.type = BPF_MAP_TYPE_HASH, .key_size = size, .value_size = 4, .max_entries = BUCKETS
	};
	static uint32_t load[BUCKETS];
	struct map *m;
	double sum = 0;

	assert_int_equal(map_create(&d, &m), 0);
	memset(load, 0, sizeof(load));
	for (uint32_t i = 0; i < BUCKETS; i++) {
		uint8_t key[64] = { 0 };

		make(key, size, i);
		load[hash_home(m->priv, key)]++;
	}
	for (uint32_t i = 0; i < BUCKETS; i++)
		sum += (double)load[i] * load[i];
	obj_put(&m->obj);
	return sum / BUCKETS;
}

static void keys_spread_evenly(void **state)
{
	static const pattern patterns[] = { counting, high_bits, strides, flows, adverse };
	static const uint32_t sizes[] = { 4, 5, 6, 7, 8, 12, 13, 16, 17, 40 };

	for (size_t p = 0; p < 5; p++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			double x = mean_square(sizes[s], patterns[p]);

			if (x < 1.7 || x > 2.3)
				fail_msg("pattern %zu, key size %u: %g", p, sizes[s], x);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_spread_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
