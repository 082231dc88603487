/* SPDX-License-Identifier: BSD-2-Clause */
/* BLOOM_FILTER: max_entries * hashes * 7/5 bits, rounded up to a power of two. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "map/impl.h"
#include "map/types.h"

#include <sys/random.h>

enum { HASHES_DEFAULT = 5, HASHES_MAX = 15 };

struct bloom {
	uint64_t seed;
	uint32_t mask; /* number of bits - 1 */
	uint32_t hashes;
};

static int bloom_check(const struct map_desc *d)
{
	if (!d->max_entries || !d->value_size || d->extra & ~(uint64_t)HASHES_MAX)
		return -EINVAL;
	return d->value_size > MAP_ALLOC_MAX ? -E2BIG : 0;
}

static uint32_t bits_mask(uint64_t entries, uint32_t hashes)
{
	uint64_t want = entries * hashes / 5 * 7, n = 64;

	while (n < want && n < 1ull << 32)
		n *= 2;
	return (uint32_t)(n - 1);
}

static int bloom_create(struct map *m)
{
	struct bloom *b = mem_zalloc(1, sizeof(*b));
	uint64_t size;

	if (!b)
		return -ENOMEM;
	m->priv = b;
	b->hashes = m->desc.extra ? (uint32_t)m->desc.extra : HASHES_DEFAULT;
	b->mask = bits_mask(m->desc.max_entries, b->hashes);
	if (!(m->desc.flags & BPF_F_ZERO_SEED) && getrandom(&b->seed, sizeof(b->seed), 0) < 0)
		return -EIO;
	size = ((uint64_t)b->mask + 1) / 8;
	return map_mem_new(m, size, size);
}

static void bloom_destroy(struct map *m)
{
	mem_free(m->priv);
}

static uint32_t bit_of(const struct map *m, const void *value, uint32_t i)
{
	const struct bloom *b = m->priv;

	return (uint32_t)XXH3_64bits_withSeed(value, m->desc.value_size, b->seed + i) & b->mask;
}

static int bloom_push(struct map *m, const void *value, uint64_t flags)
{
	const struct bloom *b = m->priv;

	if (flags != BPF_ANY)
		return -EINVAL;
	for (uint32_t i = 0; i < b->hashes; i++) {
		uint32_t bit = bit_of(m, value, i);

		__atomic_or_fetch(m->mem + bit / 8, 1u << bit % 8, __ATOMIC_RELAXED);
	}
	return 0;
}

static int bloom_peek(struct map *m, void *value)
{
	const struct bloom *b = m->priv;

	for (uint32_t i = 0; i < b->hashes; i++) {
		uint32_t bit = bit_of(m, value, i);

		if (!(__atomic_load_n(m->mem + bit / 8, __ATOMIC_RELAXED) & 1u << bit % 8))
			return -ENOENT;
	}
	return 0;
}

static int bloom_pop(struct map *m, void *value)
{
	return -EOPNOTSUPP;
}

static int bloom_user_push(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return bloom_push(m, value, flags);
}

static int bloom_user_peek(struct map *m, const void *key, void *value, uint64_t flags)
{
	return bloom_peek(m, value);
}

static int bloom_erase(struct map *m, const void *key)
{
	return -EOPNOTSUPP;
}

static int bloom_next_key(struct map *m, const void *key, void *next)
{
	return -EOPNOTSUPP;
}

DIRECT(push, bloom_push_direct, bloom_push)
DIRECT(peek, bloom_peek_direct, bloom_peek)

const struct map_ops bloom_ops = {
	.direct = { .push = DIRECT_FN(bloom_push_direct), .peek = DIRECT_FN(bloom_peek_direct) },
	.check = bloom_check,
	.create = bloom_create,
	.destroy = bloom_destroy,
	.update = op_einval_update,
	.erase = bloom_erase,
	.push = bloom_push,
	.pop = bloom_pop,
	.peek = bloom_peek,
	.user_lookup = bloom_user_peek,
	.user_update = bloom_user_push,
	.next_key = bloom_next_key,
};
