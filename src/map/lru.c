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
	AHEAD = 64, /* cache lines */
	TRIES = 1,  /* windows, then what was looked up is evicted too */
	TRIES_MAX = 4096,
};

struct lru {
	uint64_t hand;	/* cells that windows began with, all in all */
	uint32_t ticks; /* elements that came, about */
} __attribute__((aligned(128)));

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

/* What cell c counts for at time t: 0, it stays; else 1 + the age of its element. Whether a cell is
 * in use nobody can foresee, so nothing branches on that alone. */
static inline uint8_t consider(struct cell *c, uint8_t t, bool force)
{
	uint8_t age = (uint8_t)(t - __atomic_load_n(&c->age, __ATOMIC_RELAXED));
	uint8_t used = __atomic_load_n(&c->tag, __ATOMIC_RELAXED) ? UINT8_MAX : 0;

	if (__atomic_load_n(&c->ref, __ATOMIC_RELAXED) && !force) {
		__atomic_store_n(&c->ref, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->age, t, __ATOMIC_RELAXED);
		return 0;
	}
	return used & (uint8_t)(age < UINT8_MAX ? age + 1 : UINT8_MAX);
}

/* Takes the element out if its bucket is free just now. */
static bool victim_take(const struct hash *h, uint32_t home, uint32_t id)
{
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

/* The cells of a window: n from `id` on, round the table's end, and what each counts for. */
struct window {
	uint32_t id, n, end;
	uint8_t age[WINDOW], oldest;
};

static uint32_t window_next(const struct window *w, uint32_t id)
{
	return id + 1 < w->end ? id + 1 : 0;
}

static struct window window_look(const struct hash *h, bool force)
{
	uint32_t end = pool_end(h->pool), n = end < WINDOW ? end : WINDOW, id, seen = 0;
	uint64_t from = __atomic_fetch_add(&h->lru->hand, n, __ATOMIC_RELAXED);
	struct window w = { .id = (uint32_t)(from % end), .n = n, .end = end };
	uint8_t t = now(h);

	id = w.id;
	for (uint32_t i = 0; i < n; i++, id = window_next(&w, id)) {
		w.age[i] = consider(cell_at(h, id), t, force);
		w.oldest = w.age[i] > w.oldest ? w.age[i] : w.oldest;
		seen += w.age[i] != 0;
	}
	/* Home cells are half full, overflow cells wholly: without this, elements there would live
	 * twice as long. */
	if (seen > n / 4 * 3)
		__atomic_fetch_sub(&h->lru->hand, n / 2, __ATOMIC_RELAXED);
	return w;
}

/* Evicts up to `want` elements that count for `least` or more; how many. The memory of all their
 * buckets is on its way before the first is needed. */
static unsigned window_take(const struct hash *h, const struct window *w, uint8_t least,
			    unsigned want)
{
	uint32_t id = w->id, victim[VICTIMS], home[VICTIMS];
	unsigned n = 0, got = 0;

	for (uint32_t i = 0; i < w->n && n < want; i++, id = window_next(w, id)) {
		if (w->age[i] < least)
			continue;
		victim[n] = id;
		home[n] = hash_home(h, cell_at(h, id)->key);
		__builtin_prefetch(cell_at(h, home[n++]), 1);
	}
	for (unsigned i = 0; i < n; i++)
		got += victim_take(h, home[i], victim[i]);
	return got;
}

/* The cells that the next window begins with: they are there when it is looked at. */
static void window_expect(const struct hash *h, const struct window *w)
{
	uint32_t id = w->id + w->n < w->end ? w->id + w->n : 0;
	const uint8_t *at = (const uint8_t *)cell_at(h, id);

	for (uint32_t i = 0; i < AHEAD; i++)
		__builtin_prefetch(at + i * 64);
}

/* One window; how many elements were evicted: of a large map's those that are nearly as old as the
 * oldest, and any where their buckets are busy. */
static unsigned window_evict(const struct hash *h, bool force)
{
	struct window w = window_look(h, force);
	bool exact = h->m->desc.max_entries <= EXACT;
	unsigned got;

	window_expect(h, &w);
	if (!w.oldest)
		return 0;
	got = window_take(h, &w, exact ? w.oldest : w.oldest - w.oldest / 8, exact ? 1 : VICTIMS);
	return got ? got : window_take(h, &w, 1, 1);
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
