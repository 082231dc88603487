/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batch commands, against the running kernel: the same batches give the same counts, errors,
 * tokens and elements; a hash map's batches give the same elements in any order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/percpu.h"
#include "side.h"

enum { ROUNDS = 400, ROOM = 64, ERRNO_ENOTSUPP = 524 };

struct buffers {
	uint8_t keys[ROOM * KEY_MAX], values[ROOM * 256], out[KEY_MAX];
	uint32_t n;
};

static uint64_t seed = 88172645463325252;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

#define D(t, k, v, n, f)                                                                           \
	{ .type = BPF_MAP_TYPE_##t, .key_size = k, .value_size = v, .max_entries = n, .flags = f }

static const struct map_desc descs[] = {
	D(ARRAY, 4, 8, 20, 0),
	D(PERCPU_ARRAY, 4, 12, 20, 0),
	D(HASH, 4, 8, 20, 0),
	D(HASH, 8, 16, 30, BPF_F_NO_PREALLOC),
	D(PERCPU_HASH, 8, 12, 30, 0),
	D(LRU_HASH, 4, 8, 300, 0),
	D(LRU_PERCPU_HASH, 4, 8, 300, 0),
	D(LPM_TRIE, 8, 8, 30, BPF_F_NO_PREALLOC),
	D(QUEUE, 0, 8, 30, 0),
};

struct pair {
	struct map_desc d;
	const struct side *side[2];
	void *map[2];
	size_t value_size;
};

static bool is_hash(const struct pair *p)
{
	return p->d.type != BPF_MAP_TYPE_ARRAY && p->d.type != BPF_MAP_TYPE_PERCPU_ARRAY &&
	       p->d.type != BPF_MAP_TYPE_LPM_TRIE;
}

static struct map_batch batch_of(struct buffers *b, const void *in, uint32_t count)
{
	return (struct map_batch){ .in_batch = in,
				   .out_batch = b->out,
				   .keys = b->keys,
				   .values = b->values,
				   .count = count };
}

static void keys_random(const struct pair *p, struct buffers *b, uint32_t n)
{
	memset(b, 0, sizeof(*b));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = rnd(25);

		memcpy(b->keys + (size_t)i * p->d.key_size, &x, 4);
		if (p->d.type == BPF_MAP_TYPE_LPM_TRIE)
			b->keys[i * p->d.key_size + 4] = (uint8_t)(1u << rnd(8));
	}
	for (size_t i = 0; i < n * p->value_size; i++)
		b->values[i] = (uint8_t)rnd(256);
}

/* Update or delete: the same on each side, to the element. */
static void write_same(struct pair *p)
{
	struct buffers b;
	uint32_t n = rnd(12);
	uint64_t flags = rnd(8) ? 0 : rnd(6);
	bool update = rnd(3) != 0;
	struct map_batch m[2];
	int r[2];

	keys_random(p, &b, n);
	for (int i = 0; i < 2; i++) {
		m[i] = batch_of(&b, NULL, n);
		m[i].elem_flags = update ? flags : 0;
		r[i] = (update ? p->side[i]->update_batch : p->side[i]->delete_batch)(p->map[i],
										      &m[i]);
	}
	assert_int_equal(r[0], r[1]);
	assert_int_equal(m[0].count, m[1].count);
}

/* Ordered maps: each batch the same. */
static void read_same(struct pair *p)
{
	struct buffers b[2] = { 0 };
	uint8_t token[KEY_MAX];
	const void *in = NULL;
	uint32_t room = rnd(9);
	int r[2] = { 0, 0 };

	for (int turn = 0; turn < 40 && !r[0]; turn++) {
		struct map_batch m[2];

		for (int i = 0; i < 2; i++) {
			m[i] = batch_of(&b[i], in, room);
			r[i] = p->side[i]->lookup_batch(p->map[i], &m[i]);
		}
		assert_int_equal(r[0], r[1]);
		assert_int_equal(m[0].count, m[1].count);
		assert_memory_equal(&b[0], &b[1], sizeof(b[0]));
		memcpy(token, b[0].out, sizeof(token));
		in = token;
	}
}

static size_t row_size;

static int row_order(const void *a, const void *b)
{
	return memcmp(a, b, row_size);
}

/* All elements of a hash map, sorted, by batches of `room`; `take` removes them. */
static int read_all(struct pair *p, int i, uint32_t room, bool take, uint8_t *rows, uint32_t *n)
{
	struct buffers b = { 0 };
	uint32_t token;
	const void *in = NULL;
	int err = 0;

	*n = 0;
	while (!err) {
		struct map_batch m = batch_of(&b, in, room);

		err = (take ? p->side[i]->take_batch : p->side[i]->lookup_batch)(p->map[i], &m);
		if (err && err != -ENOENT)
			return err;
		for (uint32_t j = 0; j < m.count; j++, ++*n) {
			uint8_t *row = rows + *n * row_size;

			memcpy(row, b.keys + (size_t)j * p->d.key_size, p->d.key_size);
			memcpy(row + p->d.key_size, b.values + j * p->value_size, p->value_size);
		}
		memcpy(&token, b.out, sizeof(token));
		in = &token;
	}
	qsort(rows, *n, row_size, row_order);
	return 0;
}

static void read_same_set(struct pair *p)
{
	static uint8_t rows[2][ROOM * 512];
	uint32_t n[2], room = 8 + rnd(30);
	bool take = !rnd(8);

	row_size = p->d.key_size + p->value_size;
	for (int i = 0; i < 2; i++)
		assert_int_equal(read_all(p, i, room, take, rows[i], &n[i]), 0);
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(rows[0], rows[1], n[0] * row_size);
}

static void no_batches(struct pair *p)
{
	struct buffers b = { 0 };

	for (int i = 0; i < 2; i++) {
		struct map_batch m = batch_of(&b, NULL, 1);

		assert_int_equal(p->side[i]->lookup_batch(p->map[i], &m), -ERRNO_ENOTSUPP);
		assert_int_equal(p->side[i]->take_batch(p->map[i], &m), -ERRNO_ENOTSUPP);
		assert_int_equal(p->side[i]->delete_batch(p->map[i], &m), -ERRNO_ENOTSUPP);
	}
}

static void one_type(const struct map_desc *d)
{
	struct pair p = { .d = *d, .side = { &side_skep, &side_kernel } };

	for (int i = 0; i < 2; i++)
		assert_int_equal(p.side[i]->create(d, &p.map[i]), 0);
	p.value_size = map_user_value_size(p.map[0]);
	if (d->type == BPF_MAP_TYPE_QUEUE)
		no_batches(&p);
	for (int i = 0; i < ROUNDS && d->key_size; i++) {
		write_same(&p);
		if (is_hash(&p))
			read_same_set(&p);
		else
			read_same(&p);
	}
	for (int i = 0; i < 2; i++)
		p.side[i]->destroy(p.map[i]);
}

static void same_as_the_kernel(void **state)
{
	if (!side_kernel_there()) {
		print_message("# SKIP bpf(2) is not permitted here\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(descs) / sizeof(*descs); i++)
		one_type(&descs[i]);
}

static void a_small_batch_says_enospc(void **state)
{
	struct map_desc d = D(HASH, 4, 8, 64, 0);
	struct buffers b = { 0 };
	struct map_batch m;
	void *map;
	int err = 0;

	assert_int_equal(side_skep.create(&d, &map), 0);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(side_skep.update(map, &i, &(uint64_t){ i }, 0), 0);
	m = batch_of(&b, NULL, 1);
	for (uint32_t token; !err; memcpy(&token, b.out, 4), m = batch_of(&b, &token, 1))
		err = map_lookup_batch(map, &m);
	assert_int_equal(err, -ENOSPC); /* 64 keys in 64 buckets: two share one */
	assert_int_equal(m.count, 1);
	side_skep.destroy(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_the_kernel),
		cmocka_unit_test(a_small_batch_says_enospc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
