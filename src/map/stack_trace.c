/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * STACK_TRACE: only bpf_get_stackid puts traces into such a map, and it finds no stack here
 * (docs/helpers.md), so that user space sees the kernel's map with nothing in it.
 */
#include "map/impl.h"
#include "map/types.h"

enum { STACK_DEPTH_MAX = 127 }; /* the kernel's default of perf_event_max_stack */

static int stack_check(const struct map_desc *d)
{
	bool build_id = d->flags & BPF_F_STACK_BUILD_ID;
	uint32_t each = build_id ? sizeof(struct bpf_stack_build_id) : sizeof(uint64_t);

	if (!d->max_entries || d->key_size != 4 || d->value_size < 8 || d->value_size % each)
		return -EINVAL;
	if (d->value_size / each > STACK_DEPTH_MAX)
		return -EINVAL;
	return d->max_entries > 1u << 31 ? -E2BIG : 0;
}

static int stack_create(struct map *m)
{
	return map_mem_new(m, 1, (uint64_t)m->desc.max_entries * (m->desc.value_size + 24ull));
}

/* Traces are numbered below the next power of two. */
static bool is_trace(const struct map *m, uint32_t id)
{
	uint64_t n = 1;

	while (n < m->desc.max_entries)
		n *= 2;
	return id < n;
}

static int stack_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	return -ENOENT;
}

static int stack_erase(struct map *m, const void *key)
{
	return is_trace(m, key_index(key)) ? -ENOENT : -E2BIG;
}

static int stack_next_key(struct map *m, const void *key, void *next)
{
	return -ENOENT;
}

const struct map_ops stack_trace_ops = {
	.check = stack_check,
	.create = stack_create,
	.erase = stack_erase,
	.user_lookup = stack_lookup,
	.user_update = op_einval_update,
	.next_key = stack_next_key,
};
