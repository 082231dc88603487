/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "gen.h"
#include "map/ringbuf.h"
#include "run/slot.h"

static struct {
	struct map *map;
	uint8_t *fresh; /* its memory as it was created */
} world[GEN_MAPS];

uint64_t world_next(uint64_t *rng)
{
	*rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
	return *rng >> 11;
}

/* Zeroes, small numbers and large ones. */
void world_garbage(uint64_t *rng, void *at, size_t n)
{
	uint8_t *p = at;

	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t v = world_next(rng) << 13 ^ world_next(rng);

		v >>= (unsigned[]){ 0, 32, 56, 64 - 4 }[v % 4];
		memcpy(p + i, &v, 8);
	}
}

static void same_addresses(char **argv)
{
	int old = personality(0xffffffff);

	if (old == -1 || old & ADDR_NO_RANDOMIZE ||
	    personality((unsigned)old | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", argv);
}

/* The ring's pages: its owner's, two of positions, then the data twice. */
static size_t kept_bytes(const struct map *m)
{
	return m->desc.type == BPF_MAP_TYPE_RINGBUF ? m->mem_size - m->desc.max_entries
						    : m->mem_size;
}

int world_make(char **argv)
{
	int err;

	same_addresses(argv);
	err = slot_init();
	for (unsigned i = 0; !err && i < GEN_MAPS; i++) {
		const struct gen_map_row *row = &gen_maps[i];
		const struct map_desc d = { .type = row->type,
					    .key_size = row->key_size,
					    .value_size = row->value_size,
					    .max_entries = row->max_entries,
					    .flags = row->type == BPF_MAP_TYPE_HASH
							 ? BPF_F_ZERO_SEED
							 : 0,
					    .name = "m" };

		err = map_create(&d, &world[i].map);
		if (err || !world[i].map->mem)
			continue;
		world[i].fresh = malloc(kept_bytes(world[i].map));
		if (!world[i].fresh)
			return -ENOMEM;
		memcpy(world[i].fresh, world[i].map->mem, kept_bytes(world[i].map));
	}
	return err;
}

struct map *world_map(unsigned i)
{
	return world[i].map;
}

static void value_set(uint64_t *rng, enum gen_map m, uint32_t key)
{
	uint64_t value[GEN_VALUE / 8];

	for (unsigned i = 0; i < GEN_VALUE / 8; i++)
		value[i] = world_next(rng) % 3 ? world_next(rng) % 64 : world_next(rng) << 12;
	if (m != GEN_HASH || world_next(rng) % 2)
		world[m].map->ops->update(world[m].map, &key, value, BPF_ANY);
}

int world_reset(uint64_t *rng)
{
	const struct map *ring = world[GEN_RINGBUF].map;
	struct slot_run hold;
	int err = slot_hold(&hold);

	if (err)
		return err;
	for (unsigned i = 0; i < GEN_MAPS; i++) {
		if (world[i].fresh)
			memcpy(world[i].map->mem, world[i].fresh, kept_bytes(world[i].map));
	}
	for (uint32_t key = 0; key < GEN_KEYS; key++) {
		for (unsigned m = 0; m < 3; m++)
			value_set(rng, m, key);
	}
	world_garbage(rng, ring->mem + kept_bytes(ring) - GEN_RING, GEN_RING);
	/* Every fourth ring has room for little or nothing. */
	if (world_next(rng) % 4 == 0)
		ringbuf_reserve(world[GEN_RINGBUF].map, GEN_RING - 8 * (1 + world_next(rng) % 12),
				0);
	slot_leave(&hold);
	return 0;
}

uint32_t world_packet(uint64_t *rng, uint8_t *bytes)
{
	uint32_t n = 34 + (uint32_t)(world_next(rng) % (WORLD_PACKET - 34));

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)(world_next(rng) % 4 ? world_next(rng) : 0);
	bytes[12] = 8;
	bytes[13] = 0;
	bytes[14] = 0x45;
	return n;
}
