/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same random operations on skep's maps and on the model, and on skep's maps and the running
 * kernel's: return values, errno and contents agree after each step.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/percpu.h"
#include "side.h"

enum { OPS = 4000, DUMP_MAX = 256, DUMP_EVERY = 50, HISTORY = 80 };

struct kind {
	const char *name;
	struct map_desc d;
	uint32_t keys; /* keys come from 0 .. keys - 1 */
	bool target;   /* values are redirect targets, which the model does not know */
};

/* In LRU maps of this size nothing is evicted: which element goes is not part of the contract. */
#define KIND(type_, k, v, n, f, keys_)                                                             \
	{ #type_ "_" #k "_" #v,                                                                    \
	  { .type = BPF_MAP_TYPE_##type_,                                                          \
	    .key_size = k,                                                                         \
	    .value_size = v,                                                                       \
	    .max_entries = n,                                                                      \
	    .flags = f },                                                                          \
	  keys_,                                                                                   \
	  false }

#define TARGET(type_, v, n, keys_)                                                                 \
	{ #type_ "_" #v,                                                                           \
	  { .type = BPF_MAP_TYPE_##type_, .key_size = 4, .value_size = v, .max_entries = n },      \
	  keys_,                                                                                   \
	  true }

static const struct kind kinds[] = {
	KIND(HASH, 4, 8, 24, 0, 40),
	KIND(HASH, 8, 8, 32, BPF_F_NO_PREALLOC, 40),
	KIND(HASH, 13, 5, 20, 0, 30),
	KIND(HASH, 16, 40, 1, 0, 3),
	KIND(HASH, 1, 1, 20, 0, 30),
	KIND(HASH, 2, 1, 20, 0, 30),
	KIND(HASH, 3, 1, 20, 0, 30),
	KIND(HASH, 5, 1, 20, 0, 30),
	KIND(HASH, 6, 8, 20, 0, 30),
	KIND(HASH, 7, 8, 20, 0, 30),
	KIND(HASH, 12, 8, 20, 0, 30),
	KIND(HASH, 21, 8, 20, 0, 30),
	KIND(HASH, 40, 1000, 30, 0, 32),
	KIND(ARRAY, 4, 8, 24, 0, 30),
	KIND(ARRAY, 4, 3, 24, 0, 30),
	KIND(ARRAY, 4, 24, 24, BPF_F_MMAPABLE, 30),
	KIND(PERCPU_HASH, 4, 8, 24, 0, 40),
	KIND(PERCPU_HASH, 6, 20, 24, BPF_F_NO_PREALLOC, 40),
	KIND(PERCPU_ARRAY, 4, 8, 24, 0, 30),
	KIND(PERCPU_ARRAY, 4, 5, 24, 0, 30),
	KIND(LRU_HASH, 4, 8, 200, 0, 20),
	KIND(LRU_HASH, 12, 16, 200, 0, 20),
	KIND(LRU_PERCPU_HASH, 8, 8, 200, 0, 20),
	KIND(LPM_TRIE, 5, 8, 24, BPF_F_NO_PREALLOC, 0),
	KIND(LPM_TRIE, 8, 4, 40, BPF_F_NO_PREALLOC, 0),
	KIND(LPM_TRIE, 20, 16, 100, BPF_F_NO_PREALLOC, 0),
	KIND(QUEUE, 0, 8, 10, 0, 0),
	KIND(QUEUE, 0, 13, 1, 0, 0),
	KIND(STACK, 0, 8, 10, 0, 0),
	KIND(STACK, 0, 4, 7, 0, 0),
	TARGET(DEVMAP, 4, 8, 10),
	TARGET(DEVMAP, 8, 8, 10),
	TARGET(DEVMAP_HASH, 4, 8, 14),
	TARGET(DEVMAP_HASH, 8, 8, 14),
	TARGET(CPUMAP, 4, 4, 6),
};

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

struct pair {
	const struct kind *k;
	const struct side *side[2];
	void *map[2];
	size_t value_size;
	char log[HISTORY][128];
	uint32_t n_log;
};

static void note(struct pair *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->log[p->n_log++ % HISTORY], sizeof(p->log[0]), fmt, ap);
	va_end(ap);
}

static void differ(struct pair *p, const char *what)
{
	for (uint32_t i = p->n_log < 12 ? 0 : p->n_log - 12; i < p->n_log; i++)
		print_message("# %s\n", p->log[i % HISTORY]);
	fail_msg("%s: %s and %s differ: %s", p->k->name, p->side[0]->name, p->side[1]->name, what);
}

static void fill(uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)rnd(256);
}

static void key_lpm(const struct map_desc *d, uint8_t *key)
{
	uint32_t bits = (d->key_size - 4) * 8, len = rnd(20) ? rnd(bits + 1) : rnd(2 * bits + 3);

	memcpy(key, &len, 4);
	for (uint32_t i = 4; i < d->key_size; i++)
		key[i] = rnd(3) ? 0 : (uint8_t)(1u << rnd(8));
}

static void key_make(const struct kind *k, uint8_t key[KEY_MAX])
{
	uint32_t i = k->keys ? rnd(k->keys) : 0;

	memset(key, 0, KEY_MAX);
	if (k->d.type == BPF_MAP_TYPE_LPM_TRIE)
		key_lpm(&k->d, key);
	else if (k->d.key_size)
		memcpy(key + (k->d.key_size > 4 && i & 1 ? k->d.key_size - 4 : 0), &i,
		       k->d.key_size < 4 ? k->d.key_size : 4);
}

static uint64_t update_flags(void)
{
	static const uint64_t odd[] = { 3, BPF_F_LOCK, BPF_F_LOCK | BPF_EXIST, 8, 1ull << 40 };

	return rnd(20) ? rnd(3) : odd[rnd(5)];
}

static uint64_t lookup_flags(void)
{
	static const uint64_t odd[] = { 1, BPF_F_LOCK, 8 };

	return rnd(30) ? 0 : odd[rnd(3)];
}

static void compare(struct pair *p, const char *what, const int r[2], const uint8_t *a,
		    const uint8_t *b, size_t n)
{
	note(p, "%s: %d %d", what, r[0], r[1]);
	if (r[0] != r[1] || (!r[0] && memcmp(a, b, n)))
		differ(p, what);
}

static void op_lookup(struct pair *p, const uint8_t *key, bool take)
{
	uint8_t v[2][VALUE_MAX] = { 0 };
	uint64_t flags = lookup_flags();
	int r[2];

	for (int i = 0; i < 2; i++)
		r[i] = (take ? p->side[i]->take : p->side[i]->lookup)(p->map[i], key, v[i], flags);
	compare(p, take ? "take" : "lookup", r, v[0], v[1], p->value_size);
}

/* Device 1 (loopback) or none, no program; for CPUMAP lengths of queues. */
static void target_make(const struct kind *k, uint8_t *at)
{
	static const uint32_t queue[] = { 0, 1, 192, 16384, 16385 };
	uint32_t what = k->d.type == BPF_MAP_TYPE_CPUMAP ? queue[rnd(5)] : rnd(2);
	int32_t prog = -(int32_t)rnd(2);

	memcpy(at, &what, 4);
	memcpy(at + 4, &prog, 4);
}

static void op_update(struct pair *p, const uint8_t *key)
{
	uint8_t v[VALUE_MAX];
	uint64_t flags = update_flags();
	int r[2];

	if (p->k->target)
		target_make(p->k, v);
	else
		fill(v, p->value_size);
	for (int i = 0; i < 2; i++)
		r[i] = p->side[i]->update(p->map[i], key, v, flags);
	note(p, "update %02x%02x%02x%02x %02x flags %llx", key[0], key[1], key[2], key[3], key[4],
	     (unsigned long long)flags);
	compare(p, "update", r, v, v, 0);
}

static void op_erase(struct pair *p, const uint8_t *key)
{
	int r[2];

	for (int i = 0; i < 2; i++)
		r[i] = p->side[i]->erase(p->map[i], key);
	note(p, "erase %02x%02x%02x%02x %02x", key[0], key[1], key[2], key[3], key[4]);
	compare(p, "erase", r, key, key, 0);
}

/* Hash maps have their own order each. */
static bool ordered(const struct kind *k)
{
	uint32_t t = k->d.type;

	return t == BPF_MAP_TYPE_ARRAY || t == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       t == BPF_MAP_TYPE_LPM_TRIE || t == BPF_MAP_TYPE_QUEUE || t == BPF_MAP_TYPE_STACK ||
	       t == BPF_MAP_TYPE_DEVMAP || t == BPF_MAP_TYPE_CPUMAP;
}

static void op_next(struct pair *p, const uint8_t *key)
{
	const uint8_t *from = rnd(10) ? key : NULL;
	uint8_t next[2][KEY_MAX] = { 0 };
	int r[2];

	if (!ordered(p->k))
		return;
	for (int i = 0; i < 2; i++)
		r[i] = p->side[i]->next_key(p->map[i], from, next[i]);
	compare(p, "next_key", r, next[0], next[1], p->k->d.key_size);
}

struct dump {
	size_t n, row;
	uint8_t *at; /* rows: key, value */
};

static size_t row_size;

static int row_order(const void *a, const void *b)
{
	return memcmp(a, b, row_size);
}

static void dump_read(struct pair *p, int i, struct dump *out)
{
	uint8_t key[KEY_MAX], next[KEY_MAX];
	const uint8_t *from = NULL;
	size_t k = p->k->d.key_size;

	out->row = k + p->value_size;
	out->n = 0;
	while (out->n < DUMP_MAX && !p->side[i]->next_key(p->map[i], from, next)) {
		uint8_t *row = out->at + out->n++ * out->row;

		memcpy(row, next, k);
		memset(row + k, 0, p->value_size);
		if (p->k->d.type != BPF_MAP_TYPE_LPM_TRIE &&
		    p->side[i]->lookup(p->map[i], next, row + k, 0))
			assert_true(p->k->target);
		memcpy(key, next, k);
		from = key;
	}
	row_size = out->row;
	if (!ordered(p->k))
		qsort(out->at, out->n, out->row, row_order);
}

static void dumps_equal(struct pair *p)
{
	static uint8_t rows[2][DUMP_MAX * (KEY_MAX + VALUE_MAX)];
	struct dump d[2];

	for (int i = 0; i < 2; i++) {
		d[i].at = rows[i];
		dump_read(p, i, &d[i]);
	}
	if (d[0].n != d[1].n || memcmp(d[0].at, d[1].at, d[0].n * d[0].row))
		differ(p, "contents");
}

static void op_any(struct pair *p)
{
	uint8_t key[KEY_MAX];
	uint32_t what = rnd(100);

	key_make(p->k, key);
	if (what < 40)
		op_update(p, key);
	else if (what < 60)
		op_lookup(p, key, false);
	else if (what < 85)
		op_erase(p, key);
	else if (what < 92)
		op_lookup(p, key, true);
	else
		op_next(p, key);
}

static void run(const struct kind *k, const struct side *other)
{
	struct pair *p = calloc(1, sizeof(*p));

	p->k = k;
	p->side[0] = &side_skep;
	p->side[1] = other;
	for (int i = 0; i < 2; i++)
		assert_int_equal(p->side[i]->create(&k->d, &p->map[i]), 0);
	p->value_size = map_user_value_size(p->map[0]);
	for (int i = 0; i < (k->target ? OPS / 20 : OPS); i++) {
		op_any(p);
		if (i % DUMP_EVERY == 0 && k->d.key_size)
			dumps_equal(p);
	}
	for (int i = 0; i < 2; i++)
		p->side[i]->destroy(p->map[i]);
	free(p);
}

/* On one CPU, so that the kernel's free lists for each CPU do not come into it. */
static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void against(const struct side *other)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		seed = 0x2545f4914f6cdd1d + i;
		if (!kinds[i].target || other == &side_kernel)
			run(&kinds[i], other);
	}
}

static void skep_is_like_the_model(void **state)
{
	against(&side_model);
}

static void skep_is_like_the_kernel(void **state)
{
	if (!side_kernel_there()) {
		print_message("# SKIP bpf(2) is not permitted here\n");
		skip();
	}
	against(&side_kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skep_is_like_the_model),
		cmocka_unit_test(skep_is_like_the_kernel),
	};

	pin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
