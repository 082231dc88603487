/* SPDX-License-Identifier: BSD-2-Clause */
/* MAP_CREATE's attributes: a table of what the kernel refuses, and a sweep against the kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "side.h"

enum { TRIES = 6000 };

#define N(a) (sizeof(a) / sizeof(*(a)))

static const struct map_desc inner = {
	.type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 2
};

static int result(const struct side *s, const struct map_desc *d)
{
	void *map;
	int err = s->create(d, &map);

	if (!err)
		s->destroy(map);
	return err;
}

struct row {
	uint32_t type, key, value, n, flags;
	int err;
};

#define R(t, k, v, n, f, e) { BPF_MAP_TYPE_##t, k, v, n, f, e }

static const struct row rows[] = {
	R(HASH, 4, 8, 10, 0, 0),
	R(HASH, 0, 8, 10, 0, -EINVAL),
	R(HASH, 4, 0, 10, 0, -EINVAL),
	R(HASH, 4, 8, 0, 0, -EINVAL),
	R(HASH, 4, 1u << 23, 10, 0, -E2BIG),
	R(HASH, 4, 8, 10, BPF_F_NO_COMMON_LRU, -EINVAL),
	R(HASH, 4, 8, 10, BPF_F_MMAPABLE, -EINVAL),
	R(HASH, 4, 8, 10, BPF_F_RDONLY | BPF_F_WRONLY, -EINVAL),
	R(HASH, 4, 8, 10, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG, -EINVAL),
	R(LRU_HASH, 4, 8, 10, BPF_F_NO_PREALLOC, -524),
	R(LRU_HASH, 4, 8, 10, BPF_F_NO_COMMON_LRU, 0),
	R(PERCPU_HASH, 4, 1 << 16, 10, 0, -E2BIG),
	R(ARRAY, 8, 8, 10, 0, -EINVAL),
	R(ARRAY, 4, 8, 10, BPF_F_MMAPABLE, 0),
	R(ARRAY, 4, 8, 10, BPF_F_NO_PREALLOC, -EINVAL),
	R(PERCPU_ARRAY, 4, 8, 10, BPF_F_MMAPABLE, -EINVAL),
	R(PERCPU_ARRAY, 4, 1 << 16, 10, 0, -E2BIG),
	R(PROG_ARRAY, 4, 8, 10, 0, -EINVAL),
	R(PROG_ARRAY, 4, 4, 10, 0, 0),
	R(PERF_EVENT_ARRAY, 4, 4, 10, BPF_F_PRESERVE_ELEMS, 0),
	R(LPM_TRIE, 8, 8, 10, 0, -EINVAL),
	R(LPM_TRIE, 4, 8, 10, BPF_F_NO_PREALLOC, -EINVAL),
	R(LPM_TRIE, 261, 8, 10, BPF_F_NO_PREALLOC, -EINVAL),
	R(LPM_TRIE, 260, 8, 10, BPF_F_NO_PREALLOC, 0),
	R(QUEUE, 4, 8, 10, 0, -EINVAL),
	R(QUEUE, 0, 8, 10, 0, 0),
	R(STACK, 0, 0, 10, 0, -EINVAL),
	R(RINGBUF, 0, 0, 4096, 0, 0),
	R(RINGBUF, 0, 0, 4097, 0, -EINVAL),
	R(RINGBUF, 0, 0, 12288, 0, -EINVAL),
	R(RINGBUF, 0, 8, 4096, 0, -EINVAL),
	R(BLOOM_FILTER, 0, 8, 10, 0, 0),
	R(BLOOM_FILTER, 4, 8, 10, 0, -EINVAL),
	R(DEVMAP, 4, 4, 10, 0, 0),
	R(DEVMAP, 4, 8, 10, 0, 0),
	R(DEVMAP, 4, 6, 10, 0, -EINVAL),
	R(CPUMAP, 4, 4, 100000, 0, -E2BIG),
	R(XSKMAP, 4, 8, 10, 0, -EINVAL),
	R(ARRAY_OF_MAPS, 4, 4, 10, 0, 0),
	R(ARRAY_OF_MAPS, 4, 8, 10, 0, -EINVAL),
	R(HASH_OF_MAPS, 9, 4, 10, 0, 0),
	R(HASH_OF_MAPS, 9, 8, 10, 0, -EINVAL),
	R(STACK_TRACE, 4, 8, 10, 0, 0),
	R(STACK_TRACE, 4, 127 * 8, 10, 0, 0),
	R(STACK_TRACE, 4, 128 * 8, 10, 0, -EINVAL),
	R(STACK_TRACE, 4, 12, 10, 0, -EINVAL),
	R(STACK_TRACE, 4, 32, 10, BPF_F_STACK_BUILD_ID, 0),
	R(STACK_TRACE, 4, 40, 10, BPF_F_STACK_BUILD_ID, -EINVAL),
	R(STACK_TRACE, 8, 8, 10, 0, -EINVAL),
	R(CGROUP_ARRAY, 4, 4, 10, 0, 0),
	R(CGROUP_ARRAY, 4, 8, 10, 0, -EINVAL),
	R(CGROUP_ARRAY, 4, 4, 10, BPF_F_RDONLY_PROG, -EINVAL),
	R(SOCKMAP, 4, 4, 10, 0, -EINVAL), /* not built */
};

static struct map_desc row_desc(const struct row *r)
{
	struct map_desc d = { .type = r->type,
			      .key_size = r->key,
			      .value_size = r->value,
			      .max_entries = r->n,
			      .flags = r->flags };

	if (r->type == BPF_MAP_TYPE_ARRAY_OF_MAPS || r->type == BPF_MAP_TYPE_HASH_OF_MAPS)
		d.inner = &inner;
	return d;
}

static void attributes_are_checked(void **state)
{
	for (size_t i = 0; i < N(rows); i++) {
		struct map_desc d = row_desc(&rows[i]);
		int err = result(&side_skep, &d);

		if (err != rows[i].err)
			fail_msg("row %zu: %d, not %d", i, err, rows[i].err);
	}
}

static void maps_of_maps_need_an_inner_map(void **state)
{
	struct map_desc d = row_desc(&(struct row)R(ARRAY_OF_MAPS, 4, 4, 10, 0, 0));
	struct map_desc middle = d, prog = row_desc(&(struct row)R(PROG_ARRAY, 4, 4, 1, 0, 0));

	d.inner = NULL;
	assert_int_equal(result(&side_skep, &d), -EINVAL);
	d.inner = &middle;
	assert_int_equal(result(&side_skep, &d), -EINVAL);
	d.inner = &prog;
	assert_int_equal(result(&side_skep, &d), -524);
}

static const uint32_t keys[] = { 0, 1, 4, 5, 8, 16, 260, 261, 5000 };
static const uint32_t values[] = { 0, 1, 4, 8, 9, 64, 32768, 32769, 1u << 22, 1u << 23 };
static const uint32_t entries[] = { 0, 1, 2, 3, 4096, 5000, 8193 };

static uint64_t seed = 88172645463325252;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

/* Mostly sizes that the type may have, so that the sweep comes to the later checks too. */
static struct map_desc random_desc(void)
{
	const struct row *r = &rows[rnd(N(rows) - 1)];
	struct map_desc d = row_desc(r);

	if (!rnd(4))
		d.key_size = keys[rnd(N(keys))];
	if (!rnd(4))
		d.value_size = values[rnd(N(values))];
	if (!rnd(3))
		d.max_entries = entries[rnd(N(entries))];
	d.flags = rnd(4) ? r->flags : 0;
	for (int i = (int)rnd(3); i > 0; i--)
		d.flags ^= 1u << rnd(13);
	d.extra = rnd(4) ? 0 : rnd(20);
	return d;
}

/* A CPUMAP's bound is the kernel's build's; which of two errors a bloom filter names differs. */
static bool comparable(const struct map_desc *d)
{
	if ((uint64_t)d->max_entries * d->value_size > 1u << 26)
		return false;
	if (d->type == BPF_MAP_TYPE_CPUMAP)
		return d->max_entries <= 3;
	return d->type != BPF_MAP_TYPE_BLOOM_FILTER || d->value_size <= 1u << 22;
}

static void same_as_the_kernel(void **state)
{
	if (!side_kernel_there()) {
		print_message("# SKIP bpf(2) is not permitted here\n");
		skip();
	}
	for (int i = 0; i < TRIES; i++) {
		struct map_desc d = random_desc();
		int a, b;

		if (!comparable(&d))
			continue;
		a = result(&side_skep, &d);
		b = result(&side_kernel, &d);
		if (a != b)
			fail_msg("type %u key %u value %u n %u flags %x extra %llu: %d, kernel %d",
				 d.type, d.key_size, d.value_size, d.max_entries, d.flags,
				 (unsigned long long)d.extra, a, b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_checked),
		cmocka_unit_test(maps_of_maps_need_an_inner_map),
		cmocka_unit_test(same_as_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
