/* SPDX-License-Identifier: BSD-2-Clause */
/* Going over the elements of a hash table: bucket by bucket, each from its home cell. */
#include <unistd.h>

#include "base/percpu.h"
#include "map/hash.h"
#include "map/value.h"

enum { SKIP_AFTER = 64 /* empty buckets */, PAGE = 4096 };

static bool cell_used(const struct hash *h, uint32_t id)
{
	return __atomic_load_n(&cell_at(h, id)->tag, __ATOMIC_ACQUIRE) != 0;
}

/* The next element of the same bucket; NONE, also where the chain was left under our feet. */
static uint32_t next_in(const struct hash *h, uint32_t id)
{
	uint32_t next = __atomic_load_n(&cell_at(h, id)->next, __ATOMIC_ACQUIRE);

	return next && cell_used(h, next) ? next : NONE;
}

static uint32_t first_in(const struct hash *h, uint32_t home)
{
	return cell_used(h, home) ? home : next_in(h, home);
}

/* A home cell at `home` or behind it, before which there is nothing but memory that was never
 * written: reading there would make a sparse map take its whole size. */
static uint64_t skip_hole(const struct hash *h, uint64_t home)
{
	off_t cells = h->cells - h->m->mem;
	off_t at = cells + (off_t)(home * h->stride);
	off_t data = lseek(h->m->fd, at, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? (uint64_t)h->mask + 1 : home;
	return data > at ? (uint64_t)(data - cells) / h->stride : home;
}

/* Whether the cell begins in another page than the one before it. */
static bool page_begins(const struct hash *h, uint64_t home)
{
	uint64_t at = (uint64_t)(h->cells - h->m->mem) + home * h->stride;

	return at / PAGE != (at - h->stride) / PAGE;
}

/* The first bucket from `home` on that has an element; mask + 1: none. */
static uint32_t bucket_from(const struct hash *h, uint64_t home)
{
	for (uint32_t empty = 0; home <= h->mask; home++) {
		if (++empty > SKIP_AFTER && page_begins(h, home))
			home = skip_hole(h, home);
		if (home <= h->mask && first_in(h, (uint32_t)home) != NONE)
			return (uint32_t)home;
	}
	return h->mask + 1;
}

/* The first element of bucket `home` or of one behind it; NONE. */
static uint32_t first_from(const struct hash *h, uint32_t home)
{
	uint32_t found = bucket_from(h, home);

	return found <= h->mask ? first_in(h, found) : NONE;
}

static uint32_t after(const struct hash *h, uint32_t home, uint32_t id)
{
	uint32_t next = next_in(h, id);

	return next != NONE ? next : first_from(h, home + 1);
}

int hash_next_key(struct map *m, const void *key, void *next)
{
	const struct hash *h = m->priv;
	uint32_t id = key ? hash_find(h, key) : NONE;

	id = id == NONE ? first_from(h, 0) : after(h, hash_home(h, key), id);
	if (id == NONE)
		return -ENOENT;
	words_load(next, cell_at(h, id)->key, h->key_size);
	return 0;
}

/* The value as user space sees it. */
static void read_value(const struct hash *h, struct cell *c, void *value, uint64_t flags)
{
	if (h->m->type->percpu)
		value_read_percpu(h->m, value, cell_percpu(h, c));
	else
		value_read(h->m, value, cell_value(h, c), flags);
}

/* Without a lock. Where nothing was taken out of the bucket meanwhile, the cell is still the
 * element that was found. */
int hash_user_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	const struct hash *h = hash_of(m);
	const uint32_t *seq = &cell_at(h, hash_home(h, key))->seq;
	struct cell *c;
	uint32_t before;

	do {
		before = __atomic_load_n(seq, __ATOMIC_ACQUIRE);
		c = hash_get(h, key);
		if (c)
			read_value(h, c, value, flags);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (before != __atomic_load_n(seq, __ATOMIC_RELAXED));
	return c ? 0 : -ENOENT;
}

static uint32_t bucket_count(const struct hash *h, uint32_t home)
{
	uint32_t n = 0;

	for (uint32_t id = first_in(h, home); id != NONE; id = next_in(h, id))
		n++;
	return n;
}

static void take(const struct hash *h, uint32_t home, uint32_t id, bool erase)
{
	if (!erase)
		return;
	hash_take_out(h, home, id);
	pool_give(h->pool);
}

/* With the bucket locked. */
static void bucket_read(const struct hash *h, uint32_t home, uint8_t *keys, uint8_t *values,
			uint64_t flags, bool erase)
{
	size_t size = map_user_value_size(h->m);
	uint32_t id = first_in(h, home), next;

	for (; id != NONE; id = next) {
		next = next_in(h, id);
		words_load(keys, cell_at(h, id)->key, h->key_size);
		read_value(h, cell_at(h, id), values, flags);
		take(h, home, id, erase);
		keys += h->key_size;
		values += size;
	}
}

int hash_bucket(struct map *m, uint32_t *bucket, void *keys, void *values, uint32_t *count,
		uint64_t flags, bool erase)
{
	const struct hash *h = m->priv;
	uint32_t room = *count, home = bucket_from(h, *bucket);
	int err;

	*count = 0;
	*bucket = home;
	if (home > h->mask)
		return -ENOENT;
	err = lock_enter();
	if (err)
		return err;
	lock_take(&cell_at(h, home)->lock);
	*count = bucket_count(h, home);
	if (*count <= room)
		bucket_read(h, home, keys, values, flags, erase);
	else
		err = -ENOSPC;
	lock_drop(&cell_at(h, home)->lock);
	lock_leave();
	return err;
}

int hash_lookup_erase(struct map *m, const void *key, void *value, uint64_t flags)
{
	const struct hash *h = m->priv;
	uint32_t home = hash_home(h, key), id;
	int err = lock_enter();

	if (err)
		return err;
	lock_take(&cell_at(h, home)->lock);
	id = hash_find(h, key);
	if (id != NONE) {
		read_value(h, cell_at(h, id), value, flags);
		take(h, home, id, true);
	}
	lock_drop(&cell_at(h, home)->lock);
	lock_leave();
	return id != NONE ? 0 : -ENOENT;
}

static void *program_value(const struct hash *h, uint32_t id)
{
	if (h->m->type->percpu)
		return value_here(cell_percpu(h, cell_at(h, id)));
	return cell_value(h, cell_at(h, id));
}

long hash_for_each(struct map *m, uint64_t callback, uint64_t ctx)
{
	const struct hash *h = m->priv;
	long n = 0;
	uint64_t stop = 0;

	for (uint64_t b = 0; (b = bucket_from(h, b)) <= h->mask && !stop; b++) {
		uint32_t id = first_in(h, (uint32_t)b), next;

		for (; id != NONE && !stop; id = next) {
			next = next_in(h, id);
			n++;
			stop = callback_call(callback, (uintptr_t)m, (uintptr_t)cell_at(h, id)->key,
					     (uintptr_t)program_value(h, id), ctx, 0);
		}
	}
	return n;
}
