/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DEVMAP, DEVMAP_HASH, CPUMAP, XSKMAP: targets of bpf_redirect_map. There are no devices: what
 * user space stores is kept as it is, and a program's redirect names map and key. The arrays hold
 * 8 bytes an element; an element whose first 4 bytes are 0 is empty.
 */
#include <sys/socket.h>

#include "base/percpu.h"
#include "map/hash.h"
#include "map/types.h"
#include "map/value.h"

#ifndef AF_XDP
#define AF_XDP 44
#endif

enum { ABORTED = 0, REDIRECT = 4, ACTIONS = 3, CPUS_MAX = 8192, QUEUE_MAX = 16384 };

static int target_check(const struct map_desc *d)
{
	if (!d->max_entries || d->key_size != 4)
		return -EINVAL;
	return d->value_size == 4 || d->value_size == 8 ? 0 : -EINVAL;
}

static int devmap_hash_check(const struct map_desc *d)
{
	int err = target_check(d);

	return err ? err : d->max_entries > 1u << 31 ? -EINVAL : 0;
}

static int cpumap_check(const struct map_desc *d)
{
	int err = target_check(d);

	return err ? err : d->max_entries > CPUS_MAX ? -E2BIG : 0;
}

static int xskmap_check(const struct map_desc *d)
{
	return d->value_size == 4 ? target_check(d) : -EINVAL;
}

static int targets_create(struct map *m)
{
	uint64_t size = 8ull * m->desc.max_entries;

	m->stride = 8;
	return map_mem_new(m, size, size);
}

/* Programs never write a device's number. */
static int devmap_create(struct map *m)
{
	m->desc.flags |= BPF_F_RDONLY_PROG;
	return targets_create(m);
}

static int devmap_hash_create(struct map *m)
{
	m->desc.flags |= BPF_F_RDONLY_PROG;
	return hash_create(m);
}

static uint64_t *target_at(const struct map *m, uint32_t i)
{
	return (uint64_t *)m->mem + i;
}

static void *target_lookup(struct map *m, const void *key)
{
	uint32_t i = key_index(key);

	if (i >= m->desc.max_entries ||
	    !__atomic_load_n((uint32_t *)target_at(m, i), __ATOMIC_RELAXED))
		return NULL;
	return target_at(m, i);
}

static int target_erase(struct map *m, const void *key)
{
	uint32_t i = key_index(key);

	if (i >= m->desc.max_entries)
		return -EINVAL;
	__atomic_store_n(target_at(m, i), 0, __ATOMIC_RELEASE);
	return 0;
}

struct target {
	uint32_t what; /* ifindex, queue size */
	int32_t prog;  /* fd of a program to run there */
};

static struct target target_of(const struct map *m, const void *value)
{
	struct target t = { 0, 0 };

	memcpy(&t, value, m->desc.value_size);
	return t;
}

static int target_update_check(const struct map *m, uint32_t i, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	return flags == BPF_NOEXIST ? -EEXIST : 0;
}

static int target_store(const struct map *m, uint32_t i, struct target t)
{
	uint64_t w;

	if (t.prog > 0)
		return -EINVAL; /* no device to run it on */
	t.prog = 0;
	memcpy(&w, &t, sizeof(w));
	__atomic_store_n(target_at(m, i), w, __ATOMIC_RELEASE);
	return 0;
}

static int devmap_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);
	int err = target_update_check(m, i, flags);

	return err ? err : target_store(m, i, target_of(m, value));
}

static int cpumap_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);
	struct target t = target_of(m, value);
	int err = target_update_check(m, i, flags);

	if (err)
		return err;
	if (t.what > QUEUE_MAX)
		return -EOVERFLOW;
	if (i >= percpu_slots())
		return -ENODEV;
	return target_store(m, i, t);
}

/* Only AF_XDP sockets are targets; the element is the socket's fd + 1. */
static int xskmap_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);
	int fd = (int)key_index(value), domain;
	socklen_t n = sizeof(domain);

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n))
		return -errno;
	if (domain != AF_XDP)
		return -EOPNOTSUPP;
	if (flags == BPF_NOEXIST && target_lookup(m, key))
		return -EEXIST;
	if (flags == BPF_EXIST && !target_lookup(m, key))
		return -ENOENT;
	return target_store(m, i, (struct target){ (uint32_t)fd + 1, 0 });
}

static int xskmap_user_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	return -EOPNOTSUPP;
}

static void put_target(const struct hash *h, uint32_t id, const void *src, bool fresh)
{
	words_store(cell_value(h, cell_at(h, id)), src, h->m->desc.value_size);
}

static int devmap_hash_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	struct target t = target_of(m, value);

	if (flags > BPF_EXIST || !t.what || t.prog > 0)
		return -EINVAL;
	t.prog = 0;
	return hash_put(m->priv, key, &t, flags & BPF_NOEXIST, put_target, false);
}

static void *devmap_hash_lookup(struct map *m, const void *key)
{
	const struct hash *h = hash_of(m);
	struct cell *c = hash_get(h, key);

	return c ? cell_value(h, c) : NULL;
}

static long action(struct map *m, uint32_t key, uint64_t flags, uint64_t allowed)
{
	if (flags & ~(ACTIONS | allowed))
		return ABORTED;
	if (!m->ops->lookup(m, &key) && !(flags & BPF_F_BROADCAST))
		return (long)(flags & ACTIONS);
	return REDIRECT;
}

static long devmap_redirect(struct map *m, uint64_t key, uint64_t flags)
{
	return action(m, (uint32_t)key, flags, BPF_F_BROADCAST | BPF_F_EXCLUDE_INGRESS);
}

static long target_redirect(struct map *m, uint64_t key, uint64_t flags)
{
	return action(m, (uint32_t)key, flags, 0);
}

#define TARGET_OPS .lookup = target_lookup, .erase = target_erase, .next_key = index_next_key

const struct map_ops devmap_ops = {
	TARGET_OPS,
	.check = target_check,
	.create = devmap_create,
	.update = devmap_update,
	.redirect = devmap_redirect,
};

const struct map_ops cpumap_ops = {
	TARGET_OPS,
	.check = cpumap_check,
	.create = targets_create,
	.update = cpumap_update,
	.redirect = target_redirect,
};

const struct map_ops xskmap_ops = {
	TARGET_OPS,
	.check = xskmap_check,
	.create = targets_create,
	.update = xskmap_update,
	.user_lookup = xskmap_user_lookup,
	.redirect = target_redirect,
};

const struct map_ops devmap_hash_ops = {
	.priv_size = sizeof(struct hash),
	.check = devmap_hash_check,
	.create = devmap_hash_create,
	.destroy = hash_destroy,
	.lookup = devmap_hash_lookup,
	.user_lookup = hash_user_lookup,
	.update = devmap_hash_update,
	.erase = hash_erase,
	.next_key = hash_next_key,
	.redirect = devmap_redirect,
};
