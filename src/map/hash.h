/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash table behind HASH, PERCPU_HASH, LRU_*, HASH_OF_MAPS; for src/map/ only.
 *
 * Layout of the region: struct pool | struct lru | cells. Cells 0 .. n_buckets-1 are the home cells
 * of the buckets: a bucket's first element lies in its home cell, so that a hit mostly touches one
 * cache line. Further elements are overflow cells, chained by index from the home cell; 0 ends a
 * chain. The lock and the sequence number of a bucket are those of its home cell.
 *
 * Writers hold the bucket's lock. Readers hold nothing. What they rely on:
 * - a cell's tag is not 0 only while it holds an element, and it is stored after key and value;
 * - a replaced element is published in its new cell before the old one is taken out;
 * - a bucket's seq is counted up before and after a cell is taken out. A reader that finds nothing
 *   and sees that seq has changed meanwhile, or that stands on an emptied overflow cell, looks
 *   again: it may have passed the new cell before it was filled and the old one after it was
 *   emptied, or have followed a cell into another chain.
 * A program that found its key may see the value of a later element, as in the kernel's
 * preallocated maps; bpf(2) does not (hash_user_lookup).
 */
#ifndef SKEP_MAP_HASH_H
#define SKEP_MAP_HASH_H

#include "map/impl.h"
#include "map/lock.h"

struct cell {
	uint32_t lock; /* home cells only */
	uint32_t seq;  /* home cells only */
	uint32_t next; /* index of the next cell of this bucket, 0: none */
	uint16_t tag;  /* 0: no element here; else bits of the hash, bit 0 set */
	uint8_t ref;   /* LRU: looked up since it was last considered */
	uint8_t age;   /* LRU: when it came (lru.c) */
	uint8_t key[]; /* padded with zeros to 8 bytes; then the value, padded to 8 */
};

struct pool;
struct lru;

struct inner_ref { /* HASH_OF_MAPS: what an element refers to, private to the process */
	struct map *map;
	struct defer *defer; /* for giving the reference back */
};

/* Constants of one map, private to the process; at MAP_PRIV_OFFSET of struct map. */
struct hash {
	struct map *m;
	helper_fn lookup; /* m->direct.lookup */
	uint8_t *cells;
	uint32_t stride, value_off;	 /* of cells; from a cell's start to its value */
	uint32_t key_size, value_stride; /* value_stride: per-CPU values */
	uint32_t mask;			 /* number of buckets - 1 */
	uint32_t n_cells;
	uint64_t seed;
	struct pool *pool;
	struct lru *lru;	 /* NULL: a full map refuses */
	struct inner_ref *inner; /* by cell; HASH_OF_MAPS only */
};

static inline struct cell *cell_at(const struct hash *h, uint32_t id)
{
	return (struct cell *)(h->cells + (size_t)id * h->stride);
}

static inline void *cell_value(const struct hash *h, struct cell *c)
{
	return (uint8_t *)c + h->value_off;
}

static inline struct hash *hash_of(const struct map *m)
{
	return (struct hash *)((uint8_t *)m + MAP_PRIV_OFFSET);
}

/* Per-CPU maps: offset of cell id's value in each slot's area. A cell that has been used holds it
 * where others hold the value. */
static inline uint32_t cell_percpu_new(const struct hash *h, uint32_t id)
{
	return h->m->percpu_off + id * h->value_stride;
}

static inline uint32_t cell_percpu(const struct hash *h, struct cell *c)
{
	return __atomic_load_n((uint32_t *)cell_value(h, c), __ATOMIC_RELAXED);
}

/* The element of `key`; NULL. */
static inline struct cell *hash_get(const struct hash *h, const void *key)
{
	return (struct cell *)(uintptr_t)helper_call(h->lookup, (uintptr_t)h->m, (uintptr_t)key, 0,
						     0, 0);
}

/* Stores a value into cell id: a fresh one or, `fresh` false, one that is in use. */
typedef void (*hash_put_fn)(const struct hash *h, uint32_t id, const void *src, bool fresh);

/* Table operations (hash.c, hash_walk.c). NONE: no such element. */
enum { NONE = UINT32_MAX };
int hash_create(struct map *m);
void hash_destroy(struct map *m);
uint32_t hash_find(const struct hash *h, const void *key);
/* In place: an existing element keeps its cell and takes the new value there. */
int hash_put(const struct hash *h, const void *key, const void *src, uint64_t flags,
	     hash_put_fn put, bool in_place);
int hash_erase(struct map *m, const void *key);
int hash_user_lookup(struct map *m, const void *key, void *value, uint64_t flags);
int hash_next_key(struct map *m, const void *key, void *next);
int hash_lookup_erase(struct map *m, const void *key, void *value, uint64_t flags);
int hash_bucket(struct map *m, uint32_t *bucket, void *keys, void *values, uint32_t *count,
		uint64_t flags, bool erase);
long hash_for_each(struct map *m, uint64_t callback, uint64_t ctx);
uint32_t hash_home(const struct hash *h, const void *key);
/* Takes cell id out of its bucket, which the caller has locked, and frees it. */
void hash_take_out(const struct hash *h, uint32_t home, uint32_t id);
/* Whether the bucket, which the caller has locked, has an element in cell id. */
bool hash_holds(const struct hash *h, uint32_t home, uint32_t id);

/* Room (pool.c): tokens count elements, so that there are never more than max_entries; the cells
 * for overflow are enough for all of them. Both are cached for each slot. */
size_t pool_size(void);
uint32_t pool_slack(bool in_place); /* cells that must exist beyond max_entries */
void pool_init(struct pool *p, uint32_t tokens, uint32_t first_cell, uint32_t n_cells);
bool pool_take(struct pool *p); /* false: the map is full */
void pool_give(struct pool *p);
uint32_t pool_cell(const struct hash *h); /* 0: none left */
void pool_cell_free(const struct hash *h, uint32_t id);
uint32_t pool_end(const struct pool *p); /* cells from here on were never used */

/* Least recently used (lru.c). */
size_t lru_size(void);
/* An element came into cell c, whose bucket is locked. */
void lru_came(const struct hash *h, struct cell *c);
/* Takes old elements out of the map and keeps one's token for the caller, who holds no lock. */
int lru_evict(const struct hash *h);

#endif
