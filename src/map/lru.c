/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Approximately least recently used, without lists: nothing moves when an element is added,
 * replaced, looked up or deleted. A cell keeps when its element came (`age`, in 32nd parts of the
 * time in which a full map turns over once; in small maps exactly) and whether it was looked up
 * since it was last considered (`ref`).
 *
 * Whoever needs room takes the next WINDOW of cells, in the order of the table, and evicts the
 * oldest elements there that were not looked up; those that were lose the mark and count as having
 * come just now. Windows are handed out by one atomic addition, so threads that evict at the same
 * time work on different cells and wait for nobody. In a map of up to EXACT elements the window is
 * all of them, and the choice is exact. In a larger one it is the oldest of a random sample: a
 * cell's place is its key's hash.
 *
 * Ages have 8 bits and wrap: after more than 2 turns of the map, whereas the windows come around to
 * a cell at least once in every turn and evict it then, or make it young.
 */
#include <sched.h>

#include "map/hash.h"

enum {
	WINDOW = 128, /* cells */
	EXACT = 64,
	EACH_MAX = 4096, /* up to so many elements, each is a tick of its own */
	VICTIMS = 8,
	TRIES = 4, /* windows, then what was looked up is evicted too */
	TRIES_MAX = 4096,
};

struct lru {
	uint64_t hand;	/* cells that windows began with, all in all */
	uint32_t ticks; /* elements that came, about */
} __attribute__((aligned(128)));

struct victim {
	uint32_t id;
	uint8_t age; /* how long it has been there */
};

/* The oldest ones so far, the oldest first. */
struct victims {
	struct victim at[VICTIMS];
	unsigned n;
	unsigned seen; /* elements, whether candidates or not */
};

size_t lru_size(void)
{
	return sizeof(struct lru);
}

/* Ticks are counted where it costs least: in small maps as each element comes and goes, in large
 * ones as some elements go. */
static bool ticks_each(const struct hash *h)
{
	return h->m->desc.max_entries <= EACH_MAX;
}

static void tick(const struct hash *h, uint32_t n)
{
	__atomic_fetch_add(&h->lru->ticks, n, __ATOMIC_RELAXED);
}

static uint8_t now(const struct hash *h)
{
	uint32_t n = h->m->desc.max_entries, part = n <= EXACT ? 1 : n / 32;

	return (uint8_t)(__atomic_load_n(&h->lru->ticks, __ATOMIC_RELAXED) / part);
}

void lru_came(const struct hash *h, struct cell *c)
{
	if (ticks_each(h))
		tick(h, 1);
	__atomic_store_n(&c->age, now(h), __ATOMIC_RELAXED);
}

static void victims_add(struct victims *v, struct victim new)
{
	unsigned i = v->n < VICTIMS ? v->n++ : VICTIMS;

	for (; i && v->at[i - 1].age < new.age; i--)
		if (i < VICTIMS)
			v->at[i] = v->at[i - 1];
	if (i < VICTIMS)
		v->at[i] = new;
}

static void consider(const struct hash *h, uint32_t id, bool force, struct victims *v)
{
	struct cell *c = cell_at(h, id);
	uint8_t t = now(h);

	if (!__atomic_load_n(&c->tag, __ATOMIC_RELAXED))
		return;
	v->seen++;
	if (__atomic_load_n(&c->ref, __ATOMIC_RELAXED) && !force) {
		__atomic_store_n(&c->ref, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->age, t, __ATOMIC_RELAXED);
		return;
	}
	victims_add(
	    v, (struct victim){ id, (uint8_t)(t - __atomic_load_n(&c->age, __ATOMIC_RELAXED)) });
}

/* Takes the element out if its bucket is free just now. */
static bool victim_take(const struct hash *h, uint32_t id)
{
	uint32_t home = hash_home(h, cell_at(h, id)->key);
	struct cell *first = cell_at(h, home);
	bool there;

	if (!lock_try(&first->lock))
		return false;
	there = hash_holds(h, home, id);
	if (there)
		hash_take_out(h, home, id);
	lock_drop(&first->lock);
	return there;
}

/* One window; how many elements were evicted. */
static unsigned window_evict(const struct hash *h, bool force)
{
	uint32_t end = pool_end(h->pool), n = end < WINDOW ? end : WINDOW, got = 0;
	uint64_t from = __atomic_fetch_add(&h->lru->hand, n, __ATOMIC_RELAXED);
	unsigned want = ticks_each(h) ? 1 : VICTIMS;
	struct victims v = { .n = 0 };

	for (uint32_t i = 0; i < n; i++)
		consider(h, (uint32_t)((from + i) % end), force, &v);
	/* Home cells are half full, overflow cells wholly: without this, elements there would live
	 * twice as long. */
	if (v.seen > n / 4 * 3)
		__atomic_fetch_sub(&h->lru->hand, n / 2, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < v.n && got < want; i++)
		got += victim_take(h, v.at[i].id);
	return got;
}

int lru_evict(const struct hash *h)
{
	unsigned got = 0;

	/* What becomes young now is younger than what came before. */
	if (ticks_each(h))
		tick(h, 1);
	for (unsigned i = 0; i < TRIES_MAX && !got; i++) {
		got = window_evict(h, i >= TRIES);
		if (!got && i >= TRIES)
			sched_yield(); /* whoever holds the buckets may wait for our CPU */
	}
	if (!got)
		return -ENOMEM;
	if (!ticks_each(h))
		tick(h, got);
	while (--got)
		pool_give(h->pool);
	return 0;
}
