/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CGROUP_ARRAY: user space stores descriptors of cgroup directories. What is kept is the cgroup's
 * number, which is its directory's inode; as in the kernel nobody can read it back.
 */
#include "map/cgroup_array.h"

#include <sys/stat.h>
#include <sys/statfs.h>

#include "map/obj_array.h"
#include "map/types.h"

enum { CGROUP2_MAGIC = 0x63677270 };

static uint64_t *id_at(const struct map *m, uint32_t i)
{
	return (uint64_t *)m->mem + i;
}

uint64_t cgroup_array_at(const struct map *m, uint32_t i)
{
	return i < m->desc.max_entries ? __atomic_load_n(id_at(m, i), __ATOMIC_RELAXED) : 0;
}

static int cgroup_array_create(struct map *m)
{
	uint64_t size = (uint64_t)m->desc.max_entries * sizeof(uint64_t);

	return map_mem_new(m, size, size);
}

/* 0 and the number of the cgroup behind a descriptor, or -EBADF. */
static int cgroup_id(int fd, uint64_t *id)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) || fs.f_type != CGROUP2_MAGIC || fstat(fd, &st) ||
	    !S_ISDIR(st.st_mode))
		return -EBADF;
	*id = st.st_ino;
	return 0;
}

static int cgroup_array_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);
	uint64_t id;
	int fd, err;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	memcpy(&fd, value, sizeof(fd));
	err = cgroup_id(fd, &id);
	if (!err)
		__atomic_store_n(id_at(m, i), id, __ATOMIC_RELAXED);
	return err;
}

static int cgroup_array_erase(struct map *m, const void *key)
{
	uint32_t i = key_index(key);

	if (i >= m->desc.max_entries)
		return -E2BIG;
	return __atomic_exchange_n(id_at(m, i), 0, __ATOMIC_RELAXED) ? 0 : -ENOENT;
}

const struct map_ops cgroup_array_ops = {
	.check = obj_array_check,
	.create = cgroup_array_create,
	.erase = cgroup_array_erase,
	.user_lookup = op_enotsupp_lookup,
	.user_update = cgroup_array_update,
	.next_key = index_next_key,
};
