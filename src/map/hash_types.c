/* SPDX-License-Identifier: BSD-2-Clause */
/* HASH, PERCPU_HASH and their LRU variants: which values lie behind the table's cells. */
#include "base/percpu.h"
#include "map/hash.h"
#include "map/types.h"
#include "map/value.h"

static void put_plain(const struct hash *h, uint32_t id, const void *src, bool fresh)
{
	void *value = cell_value(h, cell_at(h, id));

	if (fresh)
		value_init(h->m, value, src);
	else
		value_write(h->m, value, src, BPF_F_LOCK);
}

/* The offset of the cell's values, also in the cell. */
static uint32_t cell_percpu_set(const struct hash *h, uint32_t id)
{
	uint32_t off = cell_percpu_new(h, id);

	__atomic_store_n((uint32_t *)cell_value(h, cell_at(h, id)), off, __ATOMIC_RELAXED);
	return off;
}

static void put_slot(const struct hash *h, uint32_t id, const void *src, bool fresh)
{
	if (fresh)
		value_init_percpu(h->m, cell_percpu_set(h, id), src, false);
	else
		words_store(value_here(cell_percpu_new(h, id)), src, h->m->desc.value_size);
}

static void put_slots(const struct hash *h, uint32_t id, const void *src, bool fresh)
{
	value_write_percpu(h->m, cell_percpu_set(h, id), src);
}

/* What the kernel's reference bit is for: only what was looked up is worth keeping. */
static void touch(struct cell *c)
{
	if (!__atomic_load_n(&c->ref, __ATOMIC_RELAXED))
		__atomic_store_n(&c->ref, 1, __ATOMIC_RELAXED);
}

static void *plain_lookup(struct map *m, const void *key)
{
	const struct hash *h = hash_of(m);
	struct cell *c = hash_get(h, key);

	return c ? cell_value(h, c) : NULL;
}

static int plain_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (flags & BPF_F_LOCK && !value_has_lock(m))
		return -EINVAL;
	return hash_put(hash_of(m), key, value, flags, put_plain, flags & BPF_F_LOCK);
}

static void *lru_lookup(struct map *m, const void *key)
{
	const struct hash *h = hash_of(m);
	struct cell *c = hash_get(h, key);

	if (!c)
		return NULL;
	touch(c);
	return cell_value(h, c);
}

static int lru_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return flags > BPF_EXIST ? -EINVAL
				 : hash_put(hash_of(m), key, value, flags, put_plain, false);
}

/* The offset of key's values, or 0. */
static uint32_t percpu_find(struct map *m, const void *key)
{
	const struct hash *h = hash_of(m);
	struct cell *c = hash_get(h, key);

	if (!c)
		return 0;
	if (h->lru)
		touch(c);
	return cell_percpu(h, c);
}

static void *percpu_lookup(struct map *m, const void *key)
{
	uint32_t off = percpu_find(m, key);

	return off ? value_here(off) : NULL;
}

static void *percpu_lookup_cpu(struct map *m, const void *key, uint32_t cpu)
{
	uint32_t off = cpu < percpu_slots() ? percpu_find(m, key) : 0;

	return off ? percpu_at(cpu, off) : NULL;
}

static int percpu_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return flags > BPF_EXIST ? -EINVAL
				 : hash_put(hash_of(m), key, value, flags, put_slot, true);
}

static int percpu_user_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return flags > BPF_EXIST ? -EINVAL
				 : hash_put(hash_of(m), key, value, flags, put_slots, true);
}

/* LRU maps are preallocated; per-CPU values must fit the kernel's per-CPU allocator. */
static int lru_check(const struct map_desc *d)
{
	if (d->flags & BPF_F_NO_PREALLOC)
		return -ENOTSUPP;
	if (d->flags & BPF_F_NO_COMMON_LRU && d->flags & BPF_F_NUMA_NODE)
		return -EINVAL;
	return hash_check(d);
}

static int percpu_check(const struct map_desc *d)
{
	int err = d->flags & BPF_F_NUMA_NODE ? -EINVAL : hash_check(d);

	if (err)
		return err;
	return round8(d->value_size) > MAP_PERCPU_MAX ? -E2BIG : 0;
}

static int lru_percpu_check(const struct map_desc *d)
{
	int err = lru_check(d);

	return err ? err : percpu_check(d);
}

/* With lists for each CPU, each has the same number of elements. */
static int lru_create(struct map *m)
{
	uint32_t slots = percpu_slots();
	uint64_t n = ((uint64_t)m->desc.max_entries + slots - 1) / slots * slots;

	if (m->desc.flags & BPF_F_NO_COMMON_LRU)
		m->desc.max_entries = (uint32_t)(n <= UINT32_MAX ? n : n - slots);
	return hash_create(m);
}

DIRECT(erase, hash_erase_direct, hash_erase)
DIRECT(update, hash_update_direct, plain_update)
DIRECT(update, lru_hash_update_direct, lru_update)
DIRECT(update, percpu_hash_update_direct, percpu_update)

#define REF_OFF offsetof(struct cell, ref)

#define TABLE_OPS                                                                                  \
	.priv_size = sizeof(struct hash), .destroy = hash_destroy, .erase = hash_erase,            \
	.next_key = hash_next_key, .user_lookup = hash_user_lookup,                                \
	.user_lookup_erase = hash_lookup_erase, .bucket = hash_bucket, .for_each = hash_for_each

const struct map_ops hash_ops = {
	.direct = { .update = DIRECT_FN(hash_update_direct),
		    .erase = DIRECT_FN(hash_erase_direct) },
	TABLE_OPS,
	.check = hash_check,
	.create = hash_create,
	.lookup = plain_lookup,
	.update = plain_update,
};

const struct map_ops lru_hash_ops = {
	.direct = { .ref_off = REF_OFF,
		    .update = DIRECT_FN(lru_hash_update_direct),
		    .erase = DIRECT_FN(hash_erase_direct) },
	TABLE_OPS,
	.check = lru_check,
	.create = lru_create,
	.lookup = lru_lookup,
	.update = lru_update,
};

#define PERCPU_OPS                                                                                 \
	.lookup = percpu_lookup, .lookup_percpu = percpu_lookup_cpu, .update = percpu_update,      \
	.user_update = percpu_user_update

const struct map_ops percpu_hash_ops = {
	.direct = { .percpu = true,
		    .update = DIRECT_FN(percpu_hash_update_direct),
		    .erase = DIRECT_FN(hash_erase_direct) },
	TABLE_OPS,
	PERCPU_OPS,
	.check = percpu_check,
	.create = hash_create,
};

const struct map_ops lru_percpu_hash_ops = {
	.direct = { .percpu = true,
		    .ref_off = REF_OFF,
		    .update = DIRECT_FN(percpu_hash_update_direct),
		    .erase = DIRECT_FN(hash_erase_direct) },
	TABLE_OPS,
	PERCPU_OPS,
	.check = lru_percpu_check,
	.create = lru_create,
};
