/* SPDX-License-Identifier: BSD-2-Clause */
/* PERCPU_ARRAY: value i of a slot lies at percpu_off + i * stride in the slot's area. */
#include "base/percpu.h"
#include "map/impl.h"
#include "map/types.h"
#include "map/value.h"

static int percpu_array_check(const struct map_desc *d)
{
	int err = array_check(d);

	if (err || d->flags & BPF_F_NUMA_NODE)
		return err ? err : -EINVAL;
	return round8(d->value_size) > MAP_PERCPU_MAX ? -E2BIG : 0;
}

static int percpu_array_create(struct map *m)
{
	int err = map_mem_new(m, 1, 0);

	m->stride = (uint32_t)round8(m->desc.value_size);
	if (!err)
		err = map_percpu_new(m, m->desc.max_entries, m->stride);
	m->direct.percpu_off = m->percpu_off;
	m->direct.stride = m->stride;
	return err;
}

static void percpu_array_destroy(struct map *m)
{
	map_percpu_free(m, m->desc.max_entries, m->stride);
}

static uint32_t off_of(const struct map *m, uint32_t i)
{
	return m->percpu_off + i * m->stride;
}

static void *percpu_array_lookup(struct map *m, const void *key)
{
	uint32_t i = key_index(key);

	return i < m->desc.max_entries ? value_here(off_of(m, i)) : NULL;
}

static void *percpu_array_lookup_cpu(struct map *m, const void *key, uint32_t cpu)
{
	uint32_t i = key_index(key);

	if (cpu >= percpu_slots() || i >= m->desc.max_entries)
		return NULL;
	return percpu_at(cpu, off_of(m, i));
}

static int update_check(const struct map *m, uint32_t i, uint64_t flags)
{
	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	return flags & BPF_NOEXIST ? -EEXIST : 0;
}

static int percpu_array_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	uint32_t i = key_index(key);
	int err = update_check(m, i, flags);

	if (!err)
		words_store(value_here(off_of(m, i)), value, m->desc.value_size);
	return err;
}

static int percpu_array_user_update(struct map *m, const void *key, const void *value,
				    uint64_t flags)
{
	uint32_t i = key_index(key);
	int err = flags > BPF_EXIST ? -EINVAL : update_check(m, i, flags);

	if (!err)
		value_write_percpu(m, off_of(m, i), value);
	return err;
}

static int percpu_array_user_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	uint32_t i = key_index(key);

	if (i >= m->desc.max_entries)
		return -ENOENT;
	value_read_percpu(m, value, off_of(m, i));
	return 0;
}

static long percpu_array_for_each(struct map *m, uint64_t callback, uint64_t ctx)
{
	uint32_t i = 0;

	while (i < m->desc.max_entries) {
		uint32_t key = i++;

		if (callback_call(callback, (uintptr_t)m, (uintptr_t)&key,
				  (uintptr_t)percpu_array_lookup(m, &key), ctx, 0))
			break;
	}
	return i;
}

DIRECT(update, percpu_array_update_direct, percpu_array_update)

const struct map_ops percpu_array_ops = {
	.direct = { .percpu = true, .update = DIRECT_FN(percpu_array_update_direct) },
	.check = percpu_array_check,
	.create = percpu_array_create,
	.destroy = percpu_array_destroy,
	.lookup = percpu_array_lookup,
	.lookup_percpu = percpu_array_lookup_cpu,
	.update = percpu_array_update,
	.erase = op_einval_erase,
	.user_lookup = percpu_array_user_lookup,
	.user_update = percpu_array_user_update,
	.next_key = index_next_key,
	.for_each = percpu_array_for_each,
};
