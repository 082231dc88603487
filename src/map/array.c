/* SPDX-License-Identifier: BSD-2-Clause */
/* ARRAY: values in order from offset 0 of the region. PERCPU_ARRAY is in percpu_array.c. */
#include <limits.h>

#include "map/impl.h"
#include "map/types.h"
#include "map/value.h"

int array_check(const struct map_desc *d)
{
	if (!d->max_entries || d->key_size != 4 || !d->value_size)
		return -EINVAL;
	return d->value_size > INT_MAX ? -E2BIG : 0;
}

int index_next_key(struct map *m, const void *key, void *next)
{
	uint32_t i = key ? key_index(key) : UINT32_MAX;

	if (i == m->desc.max_entries - 1)
		return -ENOENT;
	i = i < m->desc.max_entries ? i + 1 : 0;
	memcpy(next, &i, sizeof(i));
	return 0;
}

static int array_create(struct map *m)
{
	uint64_t size;
	int err;

	m->stride = (uint32_t)round8(m->desc.value_size);
	size = (uint64_t)m->stride * m->desc.max_entries;
	err = map_mem_near(m, size, size);
	if (err)
		return err;
	m->value = m->mem;
	m->direct.values = (uintptr_t)m->value;
	m->direct.stride = m->stride;
	return 0;
}

static void *array_at(const struct map *m, uint32_t i)
{
	return m->value + (size_t)i * m->stride;
}

static void *array_lookup(struct map *m, const void *key)
{
	uint32_t i = key_index(key);

	return i < m->desc.max_entries ? array_at(m, i) : NULL;
}

static int array_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);

	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	if (flags & BPF_NOEXIST)
		return -EEXIST;
	if (flags & BPF_F_LOCK && !value_has_lock(m))
		return -EINVAL;
	value_write(m, array_at(m, i), value, flags);
	return 0;
}

static long array_for_each(struct map *m, uint64_t callback, uint64_t ctx)
{
	uint32_t i = 0;

	while (i < m->desc.max_entries) {
		uint32_t key = i++;

		if (callback_call(callback, (uintptr_t)m, (uintptr_t)&key,
				  (uintptr_t)array_at(m, key), ctx, 0))
			break;
	}
	return i;
}

DIRECT(update, array_update_direct, array_update)

const struct map_ops array_ops = {
	.direct = { .update = DIRECT_FN(array_update_direct) },
	.check = array_check,
	.create = array_create,
	.lookup = array_lookup,
	.update = array_update,
	.erase = op_einval_erase,
	.next_key = index_next_key,
	.for_each = array_for_each,
};
