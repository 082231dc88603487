/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/private.h"

#include <errno.h>

#include "base/percpu.h"

static const uint64_t guard = 0xeb9f12345678eb9full;

static uint32_t stride_of(const struct code *c)
{
	return (c->private_size - PRIVATE_HEAD) / PRIVATE_AREAS;
}

/* The two guards of area n: at its start and at its end. */
static uint64_t *guard_at(const struct code *c, unsigned slot, unsigned area, bool end)
{
	uint32_t at = PRIVATE_HEAD + area * stride_of(c) + (end ? stride_of(c) - PRIVATE_GUARD : 0);

	return (uint64_t *)percpu_at(slot, c->private_off + at);
}

static bool guards_each(const struct code *c, bool (*each)(uint64_t *g))
{
	bool all = true;

	for (unsigned slot = 0; slot < percpu_slots(); slot++)
		for (unsigned area = 0; area < PRIVATE_AREAS; area++)
			for (unsigned end = 0; end < 2; end++)
				all &= each(guard_at(c, slot, area, end));
	return all;
}

static bool guard_set(uint64_t *g)
{
	g[0] = g[1] = guard;
	return true;
}

static bool guard_whole(uint64_t *g)
{
	return g[0] == guard && g[1] == guard;
}

bool code_stacks_whole(const struct code *c)
{
	return !c->private_off || c->dump || guards_each(c, guard_whole);
}

int private_alloc(struct builder *b, struct code *c)
{
	uint32_t size = PRIVATE_HEAD + PRIVATE_AREAS * private_stride(b);

	if (b->dump) {
		b->private.off = PRIVATE_HEAD;
		return 0;
	}
	c->private_off = percpu_init() ? 0 : percpu_alloc(size, 16);
	if (!c->private_off)
		return -ENOMEM;
	c->private_size = size;
	b->private.off = c->private_off;
	guards_each(c, guard_set);
	return 0;
}
