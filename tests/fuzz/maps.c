/* SPDX-License-Identifier: BSD-2-Clause */
#include "maps.h"

#include <string.h>

#include "map/map.h"

static struct map *maps[MAPS];

const struct map_desc *maps_get(unsigned i)
{
	static const struct map_desc descs[MAPS] = {
		{ .type = BPF_MAP_TYPE_HASH,
		  .key_size = 8,
		  .value_size = MAP_VALUE,
		  .max_entries = 16,
		  .name = "hash" },
		{ .type = BPF_MAP_TYPE_ARRAY,
		  .key_size = 4,
		  .value_size = MAP_VALUE,
		  .max_entries = 16,
		  .name = "array" },
		{ .type = BPF_MAP_TYPE_PERCPU_HASH,
		  .key_size = 8,
		  .value_size = MAP_VALUE,
		  .max_entries = 16,
		  .name = "percpu" },
	};

	if (!maps[i] && map_create(&descs[i], &maps[i]))
		return NULL;
	return &maps[i]->desc;
}

static struct map *map_at(uint64_t address)
{
	return (struct map *)(uintptr_t)address;
}

static const void *bytes_at(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

uint64_t maps_lookup(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t c, uint64_t d, uint64_t e))
{
	return (uintptr_t)map_at(map)->ops->lookup(map_at(map), bytes_at(key));
}

uint64_t maps_update(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t value, uint64_t flags,
				uint64_t e))
{
	struct map *m = map_at(map);

	return (uint64_t)(int64_t)m->ops->update(m, bytes_at(key), bytes_at(value), flags);
}

uint64_t maps_erase(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t c, uint64_t d, uint64_t e))
{
	return (uint64_t)(int64_t)map_at(map)->ops->erase(map_at(map), bytes_at(key));
}

void maps_empty(void)
{
	static const uint8_t zero[MAP_VALUE];

	for (unsigned i = 0; i < MAPS; i++)
		for (uint64_t key = 0; key < MAP_KEYS; key++)
			if (maps[i]->desc.type == BPF_MAP_TYPE_ARRAY)
				maps[i]->ops->update(maps[i], &key, zero, BPF_ANY);
			else
				maps[i]->ops->erase(maps[i], &key);
}

/* Elements as user space counts them; a loop in the map ends at MAP_KEYS. */
static uint32_t count(struct map *m)
{
	uint64_t key = 0, next = 0;
	uint32_t n = 0;

	if (map_next_key(m, NULL, &next))
		return 0;
	do {
		key = next;
		n++;
	} while (n < MAP_KEYS && map_next_key(m, &key, &next) == 0);
	return n;
}

void maps_save(struct map_contents *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < MAPS; i++) {
		out->map[i].n = count(maps[i]);
		for (uint64_t key = 0; key < MAP_KEYS; key++) {
			const void *value = maps[i]->ops->lookup(maps[i], &key);

			out->map[i].present[key] = value != NULL;
			if (value)
				memcpy(out->map[i].value[key], value, MAP_VALUE);
		}
	}
}
