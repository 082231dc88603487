/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/percpu.h"
#include "map/hash.h"
#include "map/value.h"

enum { CACHES_MAX = 64, CACHE_CELLS = 28, BATCH = CACHE_CELLS / 2, TOKENS_KEEP = 64 };

/* One for each slot (or several slots), on its own cache lines. */
struct cache {
	uint32_t lock;
	uint32_t tokens;
	uint32_t n; /* cells */
	uint32_t cell[CACHE_CELLS];
	uint32_t pad;
} __attribute__((aligned(128)));

struct pool {
	uint32_t lock;
	uint32_t tokens;
	uint32_t free;	/* freed cells, linked by next; 0: none */
	uint32_t fresh; /* cells from here to `end` were never used */
	uint32_t end;
	uint32_t n_caches; /* a power of two */
	struct cache cache[CACHES_MAX];
} __attribute__((aligned(128)));

size_t pool_size(void)
{
	return sizeof(struct pool);
}

/* What sits in caches is not lost to others only because it exists beyond max_entries. A replaced
 * element has two cells for a moment: room for many threads that do so at once. */
uint32_t pool_slack(bool in_place)
{
	return CACHES_MAX * CACHE_CELLS + (in_place ? 0 : 1024);
}

void pool_init(struct pool *p, uint32_t tokens, uint32_t first_cell, uint32_t n_cells)
{
	unsigned slots = percpu_slots();

	p->tokens = tokens;
	p->fresh = first_cell;
	p->end = n_cells;
	p->n_caches = 1;
	while (p->n_caches < slots && p->n_caches < CACHES_MAX)
		p->n_caches *= 2;
}

uint32_t pool_end(const struct pool *p)
{
	return __atomic_load_n(&p->fresh, __ATOMIC_RELAXED);
}

static struct cache *own_cache(struct pool *p)
{
	struct cache *c = &p->cache[value_slot() & (p->n_caches - 1)];

	lock_take(&c->lock);
	return c;
}

/* Counts of tokens change under their lock, and are looked at without. */
static bool tokens_there(const uint32_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED) != 0;
}

static void tokens_set(uint32_t *count, uint32_t n)
{
	__atomic_store_n(count, n, __ATOMIC_RELAXED);
}

/* Up to `want` tokens out of *count, which `lock` guards. */
static uint32_t tokens_out(uint32_t *lock, uint32_t *count, uint32_t want)
{
	uint32_t n;

	if (!tokens_there(count))
		return 0;
	lock_take(lock);
	n = *count < want ? *count : want;
	tokens_set(count, *count - n);
	lock_drop(lock);
	return n;
}

/* One token of any cache. The caller holds no cache's lock. */
static bool token_steal(struct pool *p)
{
	bool got = false;

	for (uint32_t i = 0; i < p->n_caches && !got; i++)
		got = tokens_out(&p->cache[i].lock, &p->cache[i].tokens, 1);
	return got || tokens_out(&p->lock, &p->tokens, 1);
}

bool pool_take(struct pool *p)
{
	struct cache *c = own_cache(p);
	bool got;

	if (!c->tokens)
		tokens_set(&c->tokens, tokens_out(&p->lock, &p->tokens, TOKENS_KEEP / 2));
	got = c->tokens > 0;
	tokens_set(&c->tokens, c->tokens - got);
	lock_drop(&c->lock);
	return got || token_steal(p);
}

void pool_give(struct pool *p)
{
	struct cache *c = own_cache(p);
	uint32_t n = c->tokens + 1;

	if (n > TOKENS_KEEP) {
		n -= TOKENS_KEEP / 2;
		lock_take(&p->lock);
		tokens_set(&p->tokens, p->tokens + TOKENS_KEEP / 2);
		lock_drop(&p->lock);
	}
	tokens_set(&c->tokens, n);
	lock_drop(&c->lock);
}

static uint32_t cell_from_pool(const struct hash *h)
{
	struct pool *p = h->pool;
	uint32_t id = p->free;

	if (id)
		p->free = __atomic_load_n(&cell_at(h, id)->next, __ATOMIC_RELAXED);
	else if (p->fresh < p->end) {
		id = p->fresh;
		__atomic_store_n(&p->fresh, id + 1, __ATOMIC_RELAXED);
	}
	return id;
}

static void cache_fill(const struct hash *h, struct cache *c)
{
	uint32_t id = 1;

	lock_take(&h->pool->lock);
	while (c->n < BATCH && id) {
		id = cell_from_pool(h);
		if (id)
			c->cell[c->n++] = id;
	}
	lock_drop(&h->pool->lock);
}

uint32_t pool_cell(const struct hash *h)
{
	struct cache *c = own_cache(h->pool);
	uint32_t id;

	if (!c->n)
		cache_fill(h, c);
	id = c->n ? c->cell[--c->n] : 0;
	lock_drop(&c->lock);
	return id;
}

static void cache_flush(const struct hash *h, struct cache *c)
{
	struct pool *p = h->pool;

	lock_take(&p->lock);
	while (c->n > BATCH) {
		uint32_t id = c->cell[--c->n];

		__atomic_store_n(&cell_at(h, id)->next, p->free, __ATOMIC_RELAXED);
		p->free = id;
	}
	lock_drop(&p->lock);
}

void pool_cell_free(const struct hash *h, uint32_t id)
{
	struct cache *c = own_cache(h->pool);

	if (c->n == CACHE_CELLS)
		cache_flush(h, c);
	c->cell[c->n++] = id;
	lock_drop(&c->lock);
}
