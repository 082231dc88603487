/* SPDX-License-Identifier: BSD-2-Clause */
#include "side.h"

static int create(const struct map_desc *d, void **map)
{
	return map_create(d, (struct map **)map);
}

static void destroy(void *map)
{
	obj_put(&((struct map *)map)->obj);
}

static int lookup(void *map, const void *key, void *value, uint64_t flags)
{
	return map_lookup(map, key, value, flags);
}

static int update(void *map, const void *key, const void *value, uint64_t flags)
{
	return map_update(map, key, value, flags);
}

static int erase(void *map, const void *key)
{
	return map_erase(map, key);
}

static int take(void *map, const void *key, void *value, uint64_t flags)
{
	return map_lookup_erase(map, key, value, flags);
}

static int next_key(void *map, const void *key, void *next)
{
	return map_next_key(map, key, next);
}

static int freeze(void *map)
{
	return map_freeze(map);
}

static int lookup_batch(void *map, struct map_batch *b)
{
	return map_lookup_batch(map, b);
}

static int take_batch(void *map, struct map_batch *b)
{
	return map_lookup_erase_batch(map, b);
}

static int update_batch(void *map, struct map_batch *b)
{
	return map_update_batch(map, b);
}

static int delete_batch(void *map, struct map_batch *b)
{
	return map_delete_batch(map, b);
}

const struct side side_skep = {
	.name = "skep",
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
