/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "side.h"

struct kernel_map {
	int fd, inner;
	bool keyed;
};

static int bpf(int cmd, union bpf_attr *a)
{
	return syscall(SYS_bpf, cmd, a, sizeof(*a)) < 0 ? -errno : 0;
}

static int map_fd(const struct map_desc *d, int inner)
{
	union bpf_attr a;
	long fd;

	memset(&a, 0, sizeof(a));
	a.map_type = d->type;
	a.key_size = d->key_size;
	a.value_size = d->value_size;
	a.max_entries = d->max_entries;
	a.map_flags = d->flags;
	a.map_extra = d->extra;
	if (d->inner)
		a.inner_map_fd = (uint32_t)inner;
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a));
	return fd < 0 ? -errno : (int)fd;
}

static int create(const struct map_desc *d, void **map)
{
	int inner = d->inner ? map_fd(d->inner, -1) : -1, fd = map_fd(d, inner);
	struct kernel_map *k;

	if (fd < 0) {
		if (inner >= 0)
			close(inner);
		return fd;
	}
	k = calloc(1, sizeof(*k));
	*k = (struct kernel_map){ fd, inner, d->key_size != 0 };
	*map = k;
	return 0;
}

static void destroy(void *map)
{
	struct kernel_map *k = map;

	close(k->fd);
	if (k->inner >= 0)
		close(k->inner);
	free(k);
}

static int elem(void *map, int cmd, const void *key, const void *value, uint64_t flags)
{
	struct kernel_map *k = map;
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)k->fd;
	a.key = k->keyed ? (uintptr_t)key : 0;
	a.value = (uintptr_t)value;
	a.flags = flags;
	return bpf(cmd, &a);
}

static int lookup(void *map, const void *key, void *value, uint64_t flags)
{
	return elem(map, BPF_MAP_LOOKUP_ELEM, key, value, flags);
}

static int update(void *map, const void *key, const void *value, uint64_t flags)
{
	return elem(map, BPF_MAP_UPDATE_ELEM, key, value, flags);
}

static int erase(void *map, const void *key)
{
	return elem(map, BPF_MAP_DELETE_ELEM, key, NULL, 0);
}

static int take(void *map, const void *key, void *value, uint64_t flags)
{
	return elem(map, BPF_MAP_LOOKUP_AND_DELETE_ELEM, key, value, flags);
}

static int next_key(void *map, const void *key, void *next)
{
	return elem(map, BPF_MAP_GET_NEXT_KEY, key, next, 0);
}

static int freeze(void *map)
{
	return elem(map, BPF_MAP_FREEZE, NULL, NULL, 0);
}

static int batch(void *map, int cmd, struct map_batch *b)
{
	union bpf_attr a;
	int err;

	memset(&a, 0, sizeof(a));
	a.batch.map_fd = (uint32_t)((struct kernel_map *)map)->fd;
	a.batch.in_batch = (uintptr_t)b->in_batch;
	a.batch.out_batch = (uintptr_t)b->out_batch;
	a.batch.keys = (uintptr_t)b->keys;
	a.batch.values = (uintptr_t)b->values;
	a.batch.count = b->count;
	a.batch.elem_flags = b->elem_flags;
	a.batch.flags = b->flags;
	err = bpf(cmd, &a);
	b->count = a.batch.count;
	return err;
}

static int lookup_batch(void *map, struct map_batch *b)
{
	return batch(map, BPF_MAP_LOOKUP_BATCH, b);
}

static int take_batch(void *map, struct map_batch *b)
{
	return batch(map, BPF_MAP_LOOKUP_AND_DELETE_BATCH, b);
}

static int update_batch(void *map, struct map_batch *b)
{
	return batch(map, BPF_MAP_UPDATE_BATCH, b);
}

static int delete_batch(void *map, struct map_batch *b)
{
	return batch(map, BPF_MAP_DELETE_BATCH, b);
}

bool side_kernel_there(void)
{
	struct map_desc d = {
		.type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	int fd = map_fd(&d, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

const struct side side_kernel = {
	.name = "kernel",
	.create = create,
	.destroy = destroy,
	.lookup = lookup,
	.update = update,
	.erase = erase,
	.take = take,
	.next_key = next_key,
	.freeze = freeze,
	.lookup_batch = lookup_batch,
	.take_batch = take_batch,
	.update_batch = update_batch,
	.delete_batch = delete_batch,
};
