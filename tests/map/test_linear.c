/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hash maps under threads, key by key: there is an order of all operations on a key, each within
 * the time that it took, in which every one of them gives what it gave.
 *
 * Each value is written once, so a result names the operation that wrote it. The check goes through
 * calls and returns in time and keeps every state that is possible: which of the calls under way
 * have taken place, and what the key's value is then.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "map/map.h"

enum { THREADS = 4, KEYS = 6, OPS = 20000, KEY_BYTES = 40, STATES_MAX = 4096 };
enum kind { LOOKUP, UPDATE, ADD, REPLACE, ERASE, TAKE, KINDS };

struct call {
	uint64_t from, to; /* ticks */
	uint64_t value;	   /* written or, by LOOKUP and TAKE, found; 0: none */
	uint8_t kind, key;
	bool worked;
};

struct worker {
	struct map *m;
	uint64_t *clock;
	uint32_t number, seed;
	struct call call[OPS];
};

static uint32_t rnd(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void key_make(uint8_t key[KEY_BYTES], uint32_t i)
{
	memset(key, 0, KEY_BYTES);
	memcpy(key, &i, 4);
}

static int call_do(struct map *m, struct call *c)
{
	static const uint64_t flags[KINDS] = { [ADD] = BPF_NOEXIST, [REPLACE] = BPF_EXIST };
	uint64_t value[8] = { c->value, c->value, c->value, c->value };
	uint8_t key[KEY_BYTES];
	int err;

	key_make(key, c->key);
	if (c->kind == LOOKUP || c->kind == TAKE) {
		err = c->kind == LOOKUP ? map_lookup(m, key, value, 0)
					: map_lookup_erase(m, key, value, 0);
		c->value = err ? 0 : value[0];
		if (!err && m->desc.value_size == 32 && value[3] != value[0])
			c->value = UINT64_MAX; /* torn: nobody wrote that */
		return err;
	}
	return c->kind == ERASE ? map_erase(m, key) : map_update(m, key, value, flags[c->kind]);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (uint32_t i = 0; i < OPS; i++) {
		struct call *c = &w->call[i];
		int err;

		*c = (struct call){ .kind = (uint8_t)(rnd(&w->seed) % KINDS),
				    .key = (uint8_t)(rnd(&w->seed) % KEYS) };
		if (c->kind != LOOKUP && c->kind != TAKE && c->kind != ERASE)
			c->value = (uint64_t)(w->number * OPS + i + 1) << 8 | c->key;
		c->from = __atomic_fetch_add(w->clock, 1, __ATOMIC_SEQ_CST);
		err = call_do(w->m, c);
		c->to = __atomic_fetch_add(w->clock, 1, __ATOMIC_SEQ_CST);
		c->worked = !err;
		if (err && err != -ENOENT && err != -EEXIST)
			c->value = UINT64_MAX;
	}
	return NULL;
}

struct state {
	uint64_t value;
	uint32_t done; /* of the calls under way, by thread */
};

struct states {
	struct state at[STATES_MAX];
	size_t n;
};

static void states_add(struct states *s, struct state x)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].value == x.value && s->at[i].done == x.done)
			return;
	assert_true(s->n < STATES_MAX);
	s->at[s->n++] = x;
}

/* Whether c could give what it gave when the key has *value, which becomes what it is after. */
static bool call_fits(const struct call *c, uint64_t *value)
{
	const bool there = *value != 0;

	if (c->value == UINT64_MAX)
		return false;
	switch (c->kind) {
	case LOOKUP:
		return *value == c->value;
	case TAKE:
		if (*value != c->value)
			return false;
		*value = 0;
		return true;
	case ERASE:
		*value = 0;
		return c->worked == there;
	}
	if (c->worked != (c->kind == UPDATE || (c->kind == REPLACE) == there))
		return false;
	*value = c->worked ? c->value : *value;
	return true;
}

/* Adds all that can follow when calls under way take place. */
static void states_close(struct states *s, const struct call *const under_way[THREADS])
{
	for (size_t i = 0; i < s->n; i++)
		for (uint32_t t = 0; t < THREADS; t++) {
			struct state x = s->at[i];

			if (!under_way[t] || x.done >> t & 1 || !call_fits(under_way[t], &x.value))
				continue;
			x.done |= 1u << t;
			states_add(s, x);
		}
}

/* Of the states, those in which thread t's call has taken place. */
static void states_return(struct states *s, uint32_t t)
{
	size_t n = s->n;

	s->n = 0;
	for (size_t i = 0; i < n; i++) {
		struct state x = s->at[i];

		if (!(x.done >> t & 1))
			continue;
		x.done &= ~(1u << t);
		states_add(s, x);
	}
}

struct event {
	uint64_t at;
	const struct call *call;
	uint32_t thread;
	bool returns;
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static size_t events_of(const struct worker *w, uint8_t key, struct event *e)
{
	size_t n = 0;

	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 0; i < OPS; i++) {
			const struct call *c = &w[t].call[i];

			if (c->key != key)
				continue;
			e[n++] = (struct event){ c->from, c, t, false };
			e[n++] = (struct event){ c->to, c, t, true };
		}
	qsort(e, n, sizeof(*e), by_time);
	return n;
}

/* Whether there is an order; on failure says where there is none. */
static bool key_is_linear(const struct worker *w, uint8_t key, struct event *e)
{
	static struct states s;
	const struct call *under_way[THREADS] = { NULL };
	size_t n = events_of(w, key, e);

	s.n = 0;
	states_add(&s, (struct state){ 0 });
	for (size_t i = 0; i < n; i++) {
		under_way[e[i].thread] = e[i].call;
		if (!e[i].returns)
			continue;
		states_close(&s, under_way);
		states_return(&s, e[i].thread);
		under_way[e[i].thread] = NULL;
		if (s.n)
			continue;
		print_message("key %u: call %zu (kind %u, value %llx, worked %d) fits nothing\n",
			      key, i, e[i].call->kind, (unsigned long long)e[i].call->value,
			      e[i].call->worked);
		return false;
	}
	return true;
}

static void run_on(uint32_t type, uint32_t flags, uint32_t key_size, uint32_t value_size,
		   uint32_t seed)
{
	struct map_desc d = { .type = type,
			      .key_size = key_size,
			      .value_size = value_size,
			      .max_entries = 8,
			      .flags = flags };
	struct worker *w = calloc(THREADS, sizeof(*w));
	struct event *e = calloc(THREADS * OPS * 2, sizeof(*e));
	pthread_t thread[THREADS];
	uint64_t clock = 0;
	struct map *m;

	assert_non_null(w);
	assert_non_null(e);
	assert_int_equal(map_create(&d, &m), 0);
	for (uint32_t t = 0; t < THREADS; t++) {
		w[t].m = m;
		w[t].clock = &clock;
		w[t].number = t;
		w[t].seed = seed * 100 + t;
		assert_int_equal(pthread_create(&thread[t], NULL, work, &w[t]), 0);
	}
	for (uint32_t t = 0; t < THREADS; t++)
		pthread_join(thread[t], NULL);
	for (uint8_t key = 0; key < KEYS; key++)
		assert_true(key_is_linear(w, key, e));
	obj_put(&m->obj);
	free(e);
	free(w);
}

static unsigned rounds(void)
{
	const char *n = getenv("SKEP_LINEAR_ROUNDS");

	return n ? (unsigned)strtoul(n, NULL, 10) : 3;
}

static void hash_maps_are_linear(void **state)
{
	for (uint32_t i = 0; i < rounds(); i++) {
		run_on(BPF_MAP_TYPE_HASH, 0, 4, 8, i);
		run_on(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC, 8, 32, i);
		run_on(BPF_MAP_TYPE_HASH, 0, 13, 8, i);
		run_on(BPF_MAP_TYPE_HASH, 0, 16, 32, i);
		run_on(BPF_MAP_TYPE_HASH, 0, 40, 32, i);
		run_on(BPF_MAP_TYPE_HASH, 0, 20, 8, i);
	}
}

static void lru_maps_are_linear(void **state)
{
	for (uint32_t i = 0; i < rounds(); i++) {
		run_on(BPF_MAP_TYPE_LRU_HASH, 0, 4, 32, i);
		run_on(BPF_MAP_TYPE_LRU_HASH, BPF_F_NO_COMMON_LRU, 16, 8, i);
	}
}

/* The check itself: a history that has an order, and ones that have none. */
static void wrong_histories_are_found(void **state)
{
	static const struct call good[] = {
		{ 0, 3, 0x100, UPDATE, 0, true },
		{ 1, 2, 0, LOOKUP, 0, false },
		{ 4, 5, 0x100, LOOKUP, 0, true },
	};
	struct worker *w = calloc(THREADS, sizeof(*w));
	struct event e[64];

	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 0; i < OPS; i++)
			w[t].call[i].key = 9;
	for (uint32_t i = 0; i < 3; i++)
		w[i].call[0] = good[i];
	assert_true(key_is_linear(w, 0, e));
	w[2].call[0].value = 0; /* behind the update there is a value */
	assert_false(key_is_linear(w, 0, e));
	w[2].call[0] = (struct call){ 4, 5, 0x200, ADD, 0, true }; /* ... so none can be added */
	assert_false(key_is_linear(w, 0, e));
	w[2].call[0] = (struct call){ 4, 5, 0, ERASE, 0, true };
	assert_true(key_is_linear(w, 0, e));
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_histories_are_found),
		cmocka_unit_test(hash_maps_are_linear),
		cmocka_unit_test(lru_maps_are_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
