/* SPDX-License-Identifier: BSD-2-Clause */
/* Where maps lie: the address of an object or of a direct value is short in generated code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/near.h"
#include "base/room.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "map/map.h"

static struct map *map_new(uint32_t type, uint32_t value_size, uint32_t n)
{
	struct map_desc d = {
		.type = type, .key_size = 4, .value_size = value_size, .max_entries = n
	};
	struct map *m;

	assert_int_equal(map_create(&d, &m), 0);
	return m;
}

/* Bytes of code that `op` takes for m. */
static size_t op_bytes(const struct map *m, uint8_t code)
{
	struct ref ref = { REF_MAP, &m->desc, (uintptr_t)m, (uintptr_t)m->value };
	struct op ops[] = { { code, 0, 1, 0, 0, 0 }, { OP_EXIT, 0, 0, 0, 0, 0 } };
	size_t size[2];

	for (int i = 0; i < 2; i++) {
		struct unit u = { .ops = ops + i, .n_ops = 2 - i, .refs = &ref, .n_refs = 1 };
		struct image *image;
		struct code *c;

		assert_int_equal(unit_index(&u, NULL), 0);
		assert_int_equal(jit_compile(target_find(NULL), &u, NULL, NULL, &c), 0);
		assert_int_equal(image_new(c, NULL, &image), 0);
		size[i] = image->size;
		image_free(image);
		mem_free(u.slot);
		mem_free(u.subs);
	}
	return size[0] - size[1];
}

#if defined(__aarch64__)
enum { SHORT = 8 };
#else
enum { SHORT = 7 };
#endif

static const uint32_t types[] = {
	BPF_MAP_TYPE_HASH,	   BPF_MAP_TYPE_ARRAY,	     BPF_MAP_TYPE_PROG_ARRAY,
	BPF_MAP_TYPE_PERCPU_ARRAY, BPF_MAP_TYPE_PERCPU_HASH, BPF_MAP_TYPE_LRU_HASH,
};
enum { TYPES = sizeof(types) / sizeof(types[0]), MAPS = 500 };

static void addresses_are_short(void **state)
{
	struct map *m[MAPS];

	for (unsigned i = 0; i < MAPS; i++) {
		m[i] = map_new(types[i % TYPES], 4, 1 + i * 97);
		assert_in_range(op_bytes(m[i], OP_LDMAP), 1, SHORT);
		if (m[i]->value)
			assert_in_range(op_bytes(m[i], OP_LDVALUE), 1, SHORT);
	}
	for (unsigned i = 0; i < MAPS; i++)
		obj_put(&m[i]->obj);
}

/* Room that maps leave is used again, and is clean. */
static void room_comes_back(void **state)
{
	for (unsigned i = 0; i < 3000; i++) {
		struct map *m = map_new(BPF_MAP_TYPE_ARRAY, 1 << 20, 1);

		assert_in_range(op_bytes(m, OP_LDVALUE), 1, SHORT);
		assert_int_equal(m->value[12345], 0);
		m->value[12345] = 1;
		obj_put(&m->obj);
	}
}

/* What does not fit is somewhere else. */
static void large_maps_work(void **state)
{
	struct map *m[40];
	const uint32_t key = 0x7ffffff;
	uint8_t value[8] = { 7 };

	for (unsigned i = 0; i < 40; i++) {
		m[i] = map_new(BPF_MAP_TYPE_ARRAY, 8, key + 1);
		assert_int_equal(map_update(m[i], &key, value, 0), 0);
		assert_in_range(op_bytes(m[i], OP_LDMAP), 1, SHORT);
	}
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(map_lookup(m[i], &key, value, 0), 0);
		assert_int_equal(value[0], 7);
		obj_put(&m[i]->obj);
	}
}

/* A child frees and makes maps; its parent's stay what they are, and both see shared values. */
static void children_have_their_own(void **state)
{
	struct map *m = map_new(BPF_MAP_TYPE_ARRAY, 8, 1), *other;
	uint64_t *value = (uint64_t *)m->value;
	int status;

	*value = 1;
	if (!fork()) {
		__atomic_store_n(value, 2, __ATOMIC_SEQ_CST);
		obj_put(&m->obj);
		other = map_new(BPF_MAP_TYPE_ARRAY, 8, 1);
		*(uint64_t *)other->value = 3;
		_exit(other->desc.max_entries == 1 ? 0 : 1);
	}
	wait(&status);
	assert_int_equal(status, 0);
	assert_int_equal(__atomic_load_n(value, __ATOMIC_SEQ_CST), 2);
	assert_int_equal(m->desc.type, BPF_MAP_TYPE_ARRAY);
	obj_put(&m->obj);
}

static void objects_are_zero_and_apart(void **state)
{
	static const size_t sizes[] = { 1, 64, 400, 4096, 20000, 100000, 40 << 20 };
	enum { N = sizeof(sizes) / sizeof(sizes[0]), TIMES = 50 };

	for (unsigned t = 0; t < TIMES; t++) {
		uint8_t *p[N];

		for (unsigned i = 0; i < N; i++) {
			p[i] = near_zalloc(sizes[i]);
			assert_non_null(p[i]);
			assert_int_equal(p[i][0] | p[i][sizes[i] / 2] | p[i][sizes[i] - 1], 0);
			p[i][0] = p[i][sizes[i] / 2] = p[i][sizes[i] - 1] = (uint8_t)(i + 1);
		}
		for (unsigned i = 0; i < N; i++) {
			assert_int_equal(p[i][sizes[i] - 1], i + 1);
			near_free(p[i], sizes[i]);
		}
	}
}

enum { RANGE = 5000, PARTS = 32 };

/* Against one byte for each place; at the end all is one piece again. */
static void rooms_keep_account(void **state)
{
	static uint8_t used[RANGE];
	struct rooms r = { 0 };
	struct room part[PARTS] = { 0 };
	uint32_t x = 1;

	assert_int_equal(room_add(&r, 0, RANGE), 0);
	for (unsigned t = 0; t < 200000; t++) {
		struct room *p = &part[(x = x * 1664525 + 1013904223) >> 16 & 31];
		size_t size = 1 + (x >> 8) % 200, align = (size_t)1 << (x >> 5) % 6;

		if (p->size) {
			memset(used + p->off, 0, p->size);
			room_give(&r, p->off, p->size);
			p->size = 0;
		} else if (!room_take(&r, size, align, &p->off)) {
			p->size = size;
			assert_int_equal(p->off % align, 0);
			assert_true(p->off + size <= RANGE && !memchr(used + p->off, 1, size));
			memset(used + p->off, 1, size);
		}
	}
	for (unsigned i = 0; i < PARTS; i++)
		if (part[i].size)
			room_give(&r, part[i].off, part[i].size);
	assert_int_equal(r.free.n, 1);
	assert_int_equal(r.free.at[0].size, RANGE);
	room_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_short),
		cmocka_unit_test(room_comes_back),
		cmocka_unit_test(large_maps_work),
		cmocka_unit_test(children_have_their_own),
		cmocka_unit_test(objects_are_zero_and_apart),
		cmocka_unit_test(rooms_keep_account),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
