/* SPDX-License-Identifier: BSD-2-Clause */
/* The table (hash.h). */
#include "map/hash.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "base/percpu.h"
#include "map/key.h"
#include "map/types.h"
#include "map/value.h"

/* The cell's key is padded with zeros and may change under us. */
KEY_INLINE bool key_equal(const struct cell *c, const void *key, uint32_t size)
{
	const uint64_t *a = (const uint64_t *)c->key;
	uint32_t i = 0;

	for (; i + 8 <= size; i += 8, a++)
		if (__atomic_load_n(a, __ATOMIC_RELAXED) != load8((const uint8_t *)key + i))
			return false;
	return i == size || __atomic_load_n(a, __ATOMIC_RELAXED) == key_tail(key, size, size - i);
}

KEY_INLINE uint16_t tag_of(uint64_t hash)
{
	return (uint16_t)(hash >> 48) | 1;
}

KEY_INLINE bool cell_is(const struct cell *c, uint16_t tag, const void *key, uint32_t size)
{
	return __atomic_load_n(&c->tag, __ATOMIC_ACQUIRE) == tag && key_equal(c, key, size);
}

static inline uint32_t cell_next(const struct cell *c)
{
	return __atomic_load_n(&c->next, __ATOMIC_ACQUIRE);
}

KEY_INLINE struct cell *find(const struct hash *h, const void *key, uint32_t size)
{
	uint64_t hash = key_hash(key, size, h->seed);
	uint32_t home = (uint32_t)hash & h->mask, id, seq;
	struct cell *first = cell_at(h, home), *c;

	do {
		seq = __atomic_load_n(&first->seq, __ATOMIC_ACQUIRE);
		id = home;
		do {
			c = cell_at(h, id);
			if (cell_is(c, tag_of(hash), key, size))
				return c;
			id = cell_next(c);
		} while (id && (c == first || __atomic_load_n(&c->tag, __ATOMIC_ACQUIRE)));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (id || seq != __atomic_load_n(&first->seq, __ATOMIC_ACQUIRE));
	return NULL;
}

/* A function for each size: none pays for another's registers. IPv4 and IPv6 5-tuples have 13 and
 * 40 bytes. */
#define SIZES(X) X(4) X(8) X(13) X(16) X(40)
#define LOOKUP(name, size)                                                                         \
	static uint64_t name(                                                                      \
	    BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))           \
	{                                                                                          \
		const struct hash *h = hash_of((const struct map *)(uintptr_t)r1);                 \
                                                                                                   \
		return (uintptr_t)find(h, (const void *)(uintptr_t)r2, size);                      \
	}
#define LOOKUP_SIZE(n) LOOKUP(hash_lookup_##n, n)
#define SIZE_ROW(n)    { n, DIRECT_FN(hash_lookup_##n) },

SIZES(LOOKUP_SIZE)
LOOKUP(hash_lookup_any, h->key_size)

static struct direct_fn lookup_of(uint32_t key_size)
{
	static const struct {
		uint32_t size;
		struct direct_fn fn;
	} rows[] = { SIZES(SIZE_ROW) };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].size == key_size)
			return rows[i].fn;
	return (struct direct_fn)DIRECT_FN(hash_lookup_any);
}

uint32_t hash_find(const struct hash *h, const void *key)
{
	const struct cell *c = hash_get(h, key);

	return c ? (uint32_t)((size_t)((const uint8_t *)c - h->cells) / h->stride) : NONE;
}

uint32_t hash_home(const struct hash *h, const void *key)
{
	return (uint32_t)key_hash(key, h->key_size, h->seed) & h->mask;
}

/* Cell sizes: a small element must not lie across two cache lines. */
static uint32_t cell_stride(size_t n)
{
	return n <= 32 ? 32 : n <= 64 ? 64 : (uint32_t)((n + 15) & ~15ull);
}

static uint64_t pow2_above(uint32_t n)
{
	uint64_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

int hash_check(const struct map_desc *d)
{
	if (!d->max_entries || !d->key_size || !d->value_size)
		return -EINVAL;
	if ((uint64_t)d->key_size + d->value_size >= MAP_ALLOC_MAX - 64)
		return -E2BIG;
	return d->max_entries > 1u << 31 ? -E2BIG : 0;
}

static int region_create(struct map *m, struct hash *h, bool lru)
{
	uint64_t lru_bytes = lru ? lru_size() : 0;
	uint64_t used = (uint64_t)h->stride * m->desc.max_entries;
	uint64_t size = pool_size() + lru_bytes + (uint64_t)h->stride * h->n_cells;
	int err = map_mem_new(m, size, m->desc.flags & BPF_F_NO_PREALLOC ? 0 : used);

	if (err)
		return err;
	h->pool = (struct pool *)m->mem;
	h->lru = lru ? (struct lru *)(m->mem + pool_size()) : NULL;
	h->cells = m->mem + pool_size() + lru_bytes;
	pool_init(h->pool, m->desc.max_entries, h->mask + 1, h->n_cells);
	if (m->type->percpu)
		return map_percpu_new(m, h->n_cells, h->value_stride);
	return 0;
}

/* Address space for the references; memory only where it is used. */
static int inner_create(struct hash *h)
{
	void *p = mmap(NULL, h->n_cells * sizeof(*h->inner), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	h->inner = p;
	return 0;
}

static bool seed_new(const struct map *m, uint64_t *seed)
{
	*seed = 0;
	return m->desc.flags & BPF_F_ZERO_SEED || getrandom(seed, sizeof(*seed), 0) > 0;
}

int hash_create(struct map *m)
{
	bool lru =
	    m->desc.type == BPF_MAP_TYPE_LRU_HASH || m->desc.type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	uint64_t buckets = pow2_above(m->desc.max_entries);
	uint64_t cells = buckets + m->desc.max_entries + pool_slack(m->type->percpu);
	uint32_t in_cell = m->type->percpu ? 8 : (uint32_t)round8(m->desc.value_size);
	struct hash *h = hash_of(m);
	int err;

	m->priv = h;
	if (cells >= NONE)
		return -E2BIG;
	h->m = m;
	h->key_size = m->desc.key_size;
	h->lookup = lookup_of(h->key_size).fn;
	h->value_off = (uint32_t)(sizeof(struct cell) + round8(h->key_size));
	h->value_stride = (uint32_t)round8(m->desc.value_size);
	h->stride = cell_stride((size_t)h->value_off + in_cell);
	h->mask = (uint32_t)buckets - 1;
	h->n_cells = (uint32_t)cells;
	if (!m->direct.lookup.fn) {
		m->direct.lookup = lookup_of(h->key_size);
		m->direct.value_off = h->value_off;
	}
	if (!seed_new(m, &h->seed))
		return -EIO;
	err = region_create(m, h, lru);
	if (!err && m->desc.type == BPF_MAP_TYPE_HASH_OF_MAPS)
		err = inner_create(h);
	return err;
}

static void inner_destroy(struct hash *h)
{
	for (uint32_t id = 0; id < h->n_cells; id++)
		if (h->inner[id].map) {
			obj_put(&h->inner[id].map->obj);
			defer_free(h->inner[id].defer);
		}
	munmap(h->inner, h->n_cells * sizeof(*h->inner));
}

void hash_destroy(struct map *m)
{
	struct hash *h = m->priv;

	if (!h)
		return;
	if (h->inner)
		inner_destroy(h);
	if (m->percpu_off)
		map_percpu_free(m, h->n_cells, h->value_stride);
}

/* The element's reference goes when no program can hold it any more. */
static void inner_drop(const struct hash *h, uint32_t id)
{
	struct inner_ref r = h->inner[id];

	__atomic_store_n(&h->inner[id].map, NULL, __ATOMIC_RELEASE);
	if (r.map)
		defer_put(r.defer, &r.map->obj);
}

static uint32_t cell_before(const struct hash *h, uint32_t home, uint32_t id)
{
	while (cell_next(cell_at(h, home)) != id)
		home = cell_next(cell_at(h, home));
	return home;
}

static void bucket_changes(struct cell *first)
{
	__atomic_store_n(&first->seq, first->seq + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* seq counts before the cell is unlinked, for readers that come to the place where it was, and
 * after, for readers that still stand on it when it is used in another bucket. */
void hash_take_out(const struct hash *h, uint32_t home, uint32_t id)
{
	struct cell *c = cell_at(h, id);

	bucket_changes(cell_at(h, home));
	if (id != home) {
		__atomic_store_n(&cell_at(h, cell_before(h, home, id))->next, c->next,
				 __ATOMIC_RELEASE);
		bucket_changes(cell_at(h, home));
	}
	__atomic_store_n(&c->tag, 0, __ATOMIC_RELEASE);
	if (h->inner)
		inner_drop(h, id);
	if (id != home)
		pool_cell_free(h, id);
}

bool hash_holds(const struct hash *h, uint32_t home, uint32_t id)
{
	uint32_t at = home;

	while (at != id && cell_next(cell_at(h, at)))
		at = cell_next(cell_at(h, at));
	return at == id && cell_at(h, id)->tag;
}

/* An empty cell of this bucket: its home, or a new one that is not yet linked; NONE. */
static uint32_t cell_in(const struct hash *h, uint32_t home)
{
	uint32_t id;

	if (!cell_at(h, home)->tag)
		return home;
	id = pool_cell(h);
	return id ? id : NONE;
}

/* Makes the filled cell visible. */
static void cell_publish(const struct hash *h, uint32_t home, uint32_t id, uint16_t tag)
{
	struct cell *c = cell_at(h, id), *first = cell_at(h, home);

	if (id != home)
		__atomic_store_n(&c->next, first->next, __ATOMIC_RELAXED);
	__atomic_store_n(&c->tag, tag, __ATOMIC_RELEASE);
	if (id != home)
		__atomic_store_n(&first->next, id, __ATOMIC_RELEASE);
}

struct put {
	const void *key, *src;
	hash_put_fn put;
	uint16_t tag;
};

/* The element's new cell, filled and visible. `old` is its previous one, or NONE. */
static int bucket_add(const struct hash *h, uint32_t home, const struct put *p, uint32_t old)
{
	uint32_t id = cell_in(h, home);
	struct cell *c;

	if (id == NONE)
		return -ENOMEM;
	c = cell_at(h, id);
	words_store(c->key, p->key, h->key_size);
	p->put(h, id, p->src, true);
	__atomic_store_n(&c->ref, old != NONE, __ATOMIC_RELAXED);
	if (h->lru)
		lru_came(h, c);
	cell_publish(h, home, id, p->tag);
	if (old != NONE)
		hash_take_out(h, home, old);
	return 0;
}

/* With the bucket locked: nothing moves. */
static uint32_t bucket_find(const struct hash *h, uint32_t home, const void *key, uint16_t tag)
{
	uint32_t id = home;

	do {
		if (cell_is(cell_at(h, id), tag, key, h->key_size))
			return id;
		id = cell_next(cell_at(h, id));
	} while (id);
	return NONE;
}

static int exist_check(uint32_t id, uint64_t flags)
{
	flags &= ~(uint64_t)BPF_F_LOCK;
	if (id != NONE && flags == BPF_NOEXIST)
		return -EEXIST;
	return id == NONE && flags == BPF_EXIST ? -ENOENT : 0;
}

/* With the bucket locked. -EAGAIN: a new element needs a token, and the caller has none. */
static int bucket_put(const struct hash *h, uint32_t home, const struct put *p, uint64_t flags,
		      bool in_place, bool *token)
{
	uint32_t id = bucket_find(h, home, p->key, p->tag);
	int err = exist_check(id, flags);

	if (err)
		return err;
	if (id != NONE && in_place) {
		p->put(h, id, p->src, false);
		if (h->lru)
			__atomic_store_n(&cell_at(h, id)->ref, 1, __ATOMIC_RELAXED);
		return 0;
	}
	if (id == NONE && !*token) {
		*token = pool_take(h->pool);
		if (!*token)
			return -EAGAIN;
	}
	err = bucket_add(h, home, p, id);
	if (!err && id == NONE)
		*token = false;
	return err;
}

static int put_locked(const struct hash *h, uint32_t home, const struct put *p, uint64_t flags,
		      bool in_place)
{
	struct cell *first = cell_at(h, home);
	bool token = false;
	int err;

	do {
		lock_take(&first->lock);
		err = bucket_put(h, home, p, flags, in_place, &token);
		lock_drop(&first->lock);
		if (err == -EAGAIN && h->lru) {
			token = !lru_evict(h);
			err = token ? err : -ENOMEM;
		} else if (err == -EAGAIN) {
			err = -E2BIG;
		}
	} while (err == -EAGAIN);
	if (token)
		pool_give(h->pool);
	return err;
}

int hash_put(const struct hash *h, const void *key, const void *src, uint64_t flags,
	     hash_put_fn put, bool in_place)
{
	uint64_t hash = key_hash(key, h->key_size, h->seed);
	struct put p = { key, src, put, tag_of(hash) };
	int err = lock_enter();

	if (err)
		return err;
	err = put_locked(h, (uint32_t)hash & h->mask, &p, flags, in_place);
	lock_leave();
	return err;
}

int hash_erase(struct map *m, const void *key)
{
	const struct hash *h = m->priv;
	uint64_t hash = key_hash(key, h->key_size, h->seed);
	uint32_t home = (uint32_t)hash & h->mask, id;
	struct cell *first = cell_at(h, home);
	int err = lock_enter();

	if (err)
		return err;
	lock_take(&first->lock);
	id = bucket_find(h, home, key, tag_of(hash));
	if (id != NONE)
		hash_take_out(h, home, id);
	lock_drop(&first->lock);
	if (id != NONE)
		pool_give(h->pool);
	lock_leave();
	return id != NONE ? 0 : -ENOENT;
}
