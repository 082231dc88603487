/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may answer to a map operation: skep's maps, the running kernel's bpf(2), and a slow, plain
 * model. All speak the same language: 0 or -errno, values as user space sees them.
 */
#ifndef TESTS_MAP_SIDE_H
#define TESTS_MAP_SIDE_H

#include "map/map.h"

struct side {
	const char *name;
	int (*create)(const struct map_desc *d, void **map);
	void (*destroy)(void *map);
	int (*lookup)(void *map, const void *key, void *value, uint64_t flags);
	int (*update)(void *map, const void *key, const void *value, uint64_t flags);
	int (*erase)(void *map, const void *key);
	int (*take)(void *map, const void *key, void *value, uint64_t flags);
	int (*next_key)(void *map, const void *key, void *next);
	int (*freeze)(void *map);
	/* NULL: none */
	int (*lookup_batch)(void *map, struct map_batch *b);
	int (*take_batch)(void *map, struct map_batch *b);
	int (*update_batch)(void *map, struct map_batch *b);
	int (*delete_batch)(void *map, struct map_batch *b);
};

extern const struct side side_skep, side_kernel, side_model;

/* Whether the running kernel lets us make maps. */
bool side_kernel_there(void);

enum { KEY_MAX = 64, VALUE_MAX = 4096 };

#endif
