/* SPDX-License-Identifier: BSD-2-Clause */
/* QUEUE and STACK: a ring of max_entries values behind a lock. */
#include "map/impl.h"
#include "map/lock.h"
#include "map/types.h"
#include "map/value.h"

enum { RING_OFFSET = 64 };

struct ring { /* at the region's start; values from RING_OFFSET */
	uint32_t lock;
	uint32_t first; /* index of the oldest value */
	uint32_t n;
};

static int queue_check(const struct map_desc *d)
{
	if (!d->max_entries || !d->value_size)
		return -EINVAL;
	return d->value_size > MAP_ALLOC_MAX ? -E2BIG : 0;
}

static int queue_create(struct map *m)
{
	uint64_t size;

	m->stride = (uint32_t)round8(m->desc.value_size);
	size = RING_OFFSET + (uint64_t)m->stride * m->desc.max_entries;
	return map_mem_new(m, size, size);
}

/* The i-th value from the oldest. */
static void *value_at(const struct map *m, const struct ring *r, uint32_t i)
{
	uint64_t at = ((uint64_t)r->first + i) % m->desc.max_entries;

	return m->mem + RING_OFFSET + at * m->stride;
}

static int ring_get(struct map *m, void *value, bool newest, bool take)
{
	struct ring *r = (struct ring *)m->mem;
	int err = lock_enter();

	if (err)
		return err;
	lock_take(&r->lock);
	if (r->n) {
		words_load(value, value_at(m, r, newest ? r->n - 1 : 0), m->desc.value_size);
		if (take && !newest)
			r->first = (r->first + 1) % m->desc.max_entries;
		r->n -= take;
	} else {
		memset(value, 0, m->desc.value_size);
		err = -ENOENT;
	}
	lock_drop(&r->lock);
	lock_leave();
	return err;
}

/* BPF_EXIST makes room in a full map: the oldest value goes. */
static int queue_push(struct map *m, const void *value, uint64_t flags)
{
	struct ring *r = (struct ring *)m->mem;
	int err;

	if (flags & BPF_NOEXIST || flags > BPF_EXIST)
		return -EINVAL;
	err = lock_enter();
	if (err)
		return err;
	lock_take(&r->lock);
	if (r->n == m->desc.max_entries && flags & BPF_EXIST) {
		r->first = (r->first + 1) % m->desc.max_entries;
		r->n--;
	}
	if (r->n < m->desc.max_entries)
		words_store(value_at(m, r, r->n++), value, m->desc.value_size);
	else
		err = -E2BIG;
	lock_drop(&r->lock);
	lock_leave();
	return err;
}

static int queue_peek(struct map *m, void *value)
{
	return ring_get(m, value, false, false);
}

static int queue_pop(struct map *m, void *value)
{
	return ring_get(m, value, false, true);
}

static int stack_peek(struct map *m, void *value)
{
	return ring_get(m, value, true, false);
}

static int stack_pop(struct map *m, void *value)
{
	return ring_get(m, value, true, true);
}

static int user_push(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return queue_push(m, value, flags);
}

static int user_peek(struct map *m, const void *key, void *value, uint64_t flags)
{
	return m->ops->peek(m, value);
}

static int user_pop(struct map *m, const void *key, void *value, uint64_t flags)
{
	return m->ops->pop(m, value);
}

DIRECT(push, queue_push_direct, queue_push)
DIRECT(peek, queue_peek_direct, queue_peek)
DIRECT(peek, queue_pop_direct, queue_pop)
DIRECT(peek, stack_peek_direct, stack_peek)
DIRECT(peek, stack_pop_direct, stack_pop)

#define RING_OPS                                                                                   \
	.check = queue_check, .create = queue_create, .push = queue_push,                          \
	.update = op_einval_update, .erase = op_einval_erase, .next_key = op_einval_next,          \
	.user_update = user_push, .user_lookup = user_peek, .user_lookup_erase = user_pop

const struct map_ops queue_ops = {
	RING_OPS,
	.peek = queue_peek,
	.pop = queue_pop,
	.direct = { .push = DIRECT_FN(queue_push_direct),
		    .peek = DIRECT_FN(queue_peek_direct),
		    .pop = DIRECT_FN(queue_pop_direct) },
};

const struct map_ops stack_ops = {
	RING_OPS,
	.peek = stack_peek,
	.pop = stack_pop,
	.direct = { .push = DIRECT_FN(queue_push_direct),
		    .peek = DIRECT_FN(stack_peek_direct),
		    .pop = DIRECT_FN(stack_pop_direct) },
};
