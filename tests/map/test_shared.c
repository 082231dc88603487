/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads, processes and signal handlers on one map; what an LRU map keeps. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/percpu.h"
#include "map/map.h"

enum { MILLISECONDS = 700, KEYS = 64, FIXED = 16 };

static struct map *new_map(uint32_t type, uint32_t key, uint32_t value, uint32_t n)
{
	struct map_desc d = {
		.type = type, .key_size = key, .value_size = value, .max_entries = n
	};
	struct map *m;

	d.flags = type == BPF_MAP_TYPE_LPM_TRIE ? BPF_F_NO_PREALLOC : 0;
	assert_int_equal(map_create(&d, &m), 0);
	return m;
}

/* A number in the last 4 bytes; for tries a whole prefix. */
struct key {
	uint32_t word[4];
};

static struct key key_of(const struct map *m, uint32_t i)
{
	struct key k = { { 0 } };

	if (m->desc.type == BPF_MAP_TYPE_LPM_TRIE)
		k.word[0] = (m->desc.key_size - 4) * 8;
	k.word[m->desc.key_size / 4 - 1] = i;
	return k;
}

static bool time_is_up(const struct timespec *from)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - from->tv_sec) * 1000 + (t.tv_nsec - from->tv_nsec) / 1000000 >
	       MILLISECONDS;
}

struct work {
	struct map *m;
	struct timespec start;
	uint32_t id;
	uint64_t done;
	const char *wrong; /* what went wrong, NULL: nothing */
};

/* Replaces the fixed keys all the time, and makes and deletes others. */
static void *writer(void *arg)
{
	struct work *w = arg;
	uint64_t seed = w->id + 1;

	for (; !time_is_up(&w->start); w->done++) {
		uint32_t i = (uint32_t)((seed = seed * 6364136223846793005 + 1) >> 33) % KEYS;
		struct key k = key_of(w->m, i);
		uint64_t v = i;
		int err = i < FIXED || seed & 1ull << 20 ? w->m->ops->update(w->m, &k, &v, 0)
							 : w->m->ops->erase(w->m, &k);

		if (err && err != -ENOENT && w->m->desc.type != BPF_MAP_TYPE_ARRAY)
			w->wrong = "update failed";
	}
	return NULL;
}

/* A fixed key is always there, whatever writers do in its bucket. */
static void *reader(void *arg)
{
	struct work *w = arg;

	for (; !time_is_up(&w->start); w->done++) {
		struct key k = key_of(w->m, (uint32_t)(w->done % FIXED));
		const uint64_t *v = w->m->ops->lookup(w->m, &k);

		if (!v)
			w->wrong = "a key that is there was not found";
		else if (__atomic_load_n(v, __ATOMIC_RELAXED) >= KEYS)
			w->wrong = "a value that nobody wrote";
	}
	return NULL;
}

static void readers_and_writers(uint32_t type, uint32_t key_size, uint32_t n)
{
	struct map *m = new_map(type, key_size, 8, n);
	struct work w[4] = { 0 };
	pthread_t t[4];

	for (uint32_t i = 0; i < FIXED; i++) {
		struct key k = key_of(m, i);

		assert_int_equal(m->ops->update(m, &k, &(uint64_t){ i }, 0), 0);
	}
	for (uint32_t i = 0; i < 4; i++) {
		w[i].m = m;
		w[i].id = i;
		clock_gettime(CLOCK_MONOTONIC, &w[i].start);
		pthread_create(&t[i], NULL, i < 2 ? reader : writer, &w[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		if (w[i].wrong)
			fail_msg("type %u key %u: %s", type, key_size, w[i].wrong);
	}
	obj_put(&m->obj);
}

static void readers_never_miss_what_is_there(void **state)
{
	readers_and_writers(BPF_MAP_TYPE_HASH, 4, KEYS);
	readers_and_writers(BPF_MAP_TYPE_HASH, 16, KEYS);
	readers_and_writers(BPF_MAP_TYPE_LRU_HASH, 8, 4 * KEYS);
	readers_and_writers(BPF_MAP_TYPE_LPM_TRIE, 8, KEYS);
	readers_and_writers(BPF_MAP_TYPE_ARRAY, 4, KEYS);
}

enum { THREADS = 4, ROUNDS = 20000 };

/* Each thread its own keys, all in a map that is just large enough for all of them. */
static void *filler(void *arg)
{
	struct work *w = arg;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t key = w->id * 8 + i % 8;
		uint64_t v = i;

		if (w->m->ops->update(w->m, &key, &v, BPF_NOEXIST))
			w->wrong = "a map with room was full";
		if (i % 8 == 7)
			for (uint32_t j = 0; j < 8; j++, key--)
				if (w->m->ops->erase(w->m, &key))
					w->wrong = "an element was lost";
	}
	return NULL;
}

static void room_is_counted_exactly(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_HASH, 4, 8, THREADS * 8);
	struct work w[THREADS] = { 0 };
	pthread_t t[THREADS];
	uint32_t key;

	for (uint32_t i = 0; i < THREADS; i++) {
		w[i].m = m;
		w[i].id = i;
		pthread_create(&t[i], NULL, filler, &w[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		assert_null(w[i].wrong);
	}
	assert_int_equal(map_next_key(m, NULL, &key), -ENOENT);
	for (key = 0; key < THREADS * 8; key++)
		assert_int_equal(map_update(m, &key, &(uint64_t){ 1 }, 0), 0);
	assert_int_equal(map_update(m, &key, &(uint64_t){ 1 }, 0), -E2BIG);
	obj_put(&m->obj);
}

/* A child works on its parent's maps, while the parent does too. */
static void a_fork_shares_the_map(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_HASH, 4, 8, 2000);
	struct map *a = new_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 4);
	uint32_t key = 1;
	uint64_t v[PERCPU_SLOTS_MAX] = { 7, 8 };
	pid_t child = fork();
	int status;

	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t mine = 2 * i + (child == 0);

		if (m->ops->update(m, &mine, &(uint64_t){ i }, 0))
			_exit(1);
	}
	if (!child)
		_exit(map_update(a, &key, v, 0) ? 1 : 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_int_equal(map_lookup(m, &i, v, 0), 0);
		assert_int_equal(v[0], i / 2);
	}
	assert_int_equal(map_lookup(a, &key, v, 0), 0);
	assert_int_equal(v[0], 7);
	obj_put(&m->obj);
	obj_put(&a->obj);
}

static struct map *signal_map;
static volatile uint64_t handled, busy, strange;

static void handler(int sig)
{
	uint32_t key = 3;
	uint64_t v = handled;
	int err = signal_map->ops->update(signal_map, &key, &v, 0);

	handled++;
	busy += err == -EBUSY;
	strange += err && err != -EBUSY;
	if (!signal_map->ops->lookup(signal_map, &key))
		strange++;
}

/* A handler that comes in the middle of an update never waits for it. */
static void signal_handlers_get_ebusy(uint32_t type)
{
	struct itimerval on = { { 0, 50 }, { 0, 50 } }, off = { { 0, 0 }, { 0, 0 } };
	struct timespec start;
	uint32_t key = 3;

	signal_map = new_map(type, 4, 8, 8);
	handled = busy = strange = 0;
	signal(SIGALRM, handler);
	assert_int_equal(map_update(signal_map, &key, &(uint64_t){ 1 }, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	setitimer(ITIMER_REAL, &on, NULL);
	while (!time_is_up(&start))
		for (uint64_t i = 0; i < 200; i++) {
			key = i % 8;
			signal_map->ops->update(signal_map, &key, &i, 0);
		}
	setitimer(ITIMER_REAL, &off, NULL);
	assert_int_equal(strange, 0);
	assert_true(handled > 0);
	print_message("# type %u: %llu handlers, %llu of them -EBUSY\n", type,
		      (unsigned long long)handled, (unsigned long long)busy);
	obj_put(&signal_map->obj);
}

static void signal_handlers_do_not_wait(void **state)
{
	signal_handlers_get_ebusy(BPF_MAP_TYPE_HASH);
	signal_handlers_get_ebusy(BPF_MAP_TYPE_LRU_HASH);
}

static void a_full_lru_map_takes_more(uint32_t type, uint32_t n)
{
	struct map *m = new_map(type, 4, 8, n);
	uint32_t there = 0;

	for (uint32_t key = 0; key < 10 * n; key++)
		assert_int_equal(m->ops->update(m, &key, &(uint64_t){ key }, BPF_NOEXIST), 0);
	for (uint32_t key = 0; key < 10 * n; key++)
		there += m->ops->lookup(m, &key) != NULL;
	assert_in_range(there, n > 64 ? n - 7 : n, n); /* eight go at once */
	obj_put(&m->obj);
}

static void lru_maps_are_never_full(void **state)
{
	a_full_lru_map_takes_more(BPF_MAP_TYPE_LRU_HASH, 1);
	a_full_lru_map_takes_more(BPF_MAP_TYPE_LRU_HASH, 2);
	a_full_lru_map_takes_more(BPF_MAP_TYPE_LRU_HASH, 1000);
	a_full_lru_map_takes_more(BPF_MAP_TYPE_LRU_PERCPU_HASH, 100);
}

/* What is looked up again and again survives a stream of keys that are seen once. */
static void lru_maps_keep_what_is_used(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_LRU_HASH, 4, 8, 128);

	for (uint32_t key = 0; key < 32; key++)
		assert_int_equal(m->ops->update(m, &key, &(uint64_t){ key }, 0), 0);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t hot = i % 32, cold = 1000 + i;

		assert_non_null(m->ops->lookup(m, &hot));
		assert_int_equal(m->ops->update(m, &cold, &(uint64_t){ i }, 0), 0);
	}
	obj_put(&m->obj);
}

static uint32_t keys_there(struct map *m, uint32_t from, uint32_t to, uint32_t step)
{
	uint32_t n = 0;
	uint64_t value;

	for (; from < to; from += step)
		n += !map_lookup(m, &from, &value, 0);
	return n;
}

static void keys_put(struct map *m, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		assert_int_equal(m->ops->update(m, &from, &(uint64_t){ from }, BPF_NOEXIST), 0);
}

/* In a small map exactly those go that were not looked up, in a large one most of those that go are
 * old, and next to nothing goes before its time. */
static void lru_maps_choose_the_old(void **state)
{
	enum { SMALL = 64, LARGE = 20000 };
	struct map *m = new_map(BPF_MAP_TYPE_LRU_HASH, 4, 8, SMALL);

	keys_put(m, 0, SMALL);
	for (uint32_t key = 0; key < SMALL; key += 2)
		assert_non_null(m->ops->lookup(m, &key));
	keys_put(m, SMALL, SMALL + SMALL / 2);
	assert_int_equal(keys_there(m, 0, SMALL, 2), SMALL / 2);
	assert_int_equal(keys_there(m, 1, SMALL, 2), 0);
	keys_put(m, 1000, 1000 + SMALL / 2); /* what was looked up once before is old by now */
	assert_int_equal(keys_there(m, 0, SMALL, 2), 0);
	obj_put(&m->obj);

	m = new_map(BPF_MAP_TYPE_LRU_HASH, 4, 8, LARGE);
	keys_put(m, 0, 3 * LARGE);
	assert_in_range(keys_there(m, 3 * LARGE - LARGE / 2, 3 * LARGE, 1), LARGE / 2 * 95 / 100,
			LARGE / 2);
	assert_in_range(keys_there(m, 0, 3 * LARGE / 2, 1), 0, LARGE / 20);
	obj_put(&m->obj);
}

static void *evictor(void *arg)
{
	struct work *w = arg;

	for (uint32_t i = 0; !time_is_up(&w->start); i++, w->done++) {
		uint32_t key = (i * 2654435761u) % 500;
		uint64_t v = key;

		if (i % 5 == 4)
			w->m->ops->erase(w->m, &key);
		else if (w->m->ops->update(w->m, &key, &v, 0))
			w->wrong = "an LRU map refused";
	}
	return NULL;
}

/* After any mixture of evictions and deletions lists, cells and room still agree. */
static void lru_maps_stay_whole(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_LRU_HASH, 4, 8, 100);
	struct work w[3] = { 0 };
	pthread_t t[3];
	uint32_t there = 0;

	for (uint32_t i = 0; i < 3; i++) {
		w[i].m = m;
		clock_gettime(CLOCK_MONOTONIC, &w[i].start);
		pthread_create(&t[i], NULL, evictor, &w[i]);
	}
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		assert_null(w[i].wrong);
	}
	for (uint32_t key = 0; key < 500; key++)
		m->ops->erase(m, &key);
	for (uint32_t key = 1000; key < 1100; key++)
		assert_int_equal(m->ops->update(m, &key, &(uint64_t){ key }, 0), 0);
	for (uint32_t key = 1000; key < 1100; key++)
		there += m->ops->lookup(m, &key) != NULL;
	assert_int_equal(there, 100);
	obj_put(&m->obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_never_miss_what_is_there),
		cmocka_unit_test(room_is_counted_exactly),
		cmocka_unit_test(a_fork_shares_the_map),
		cmocka_unit_test(signal_handlers_do_not_wait),
		cmocka_unit_test(lru_maps_are_never_full),
		cmocka_unit_test(lru_maps_keep_what_is_used),
		cmocka_unit_test(lru_maps_choose_the_old),
		cmocka_unit_test(lru_maps_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
