/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real maps that generated programs look up, update and delete in; the same map objects for every
 * engine, emptied before each run.
 */
#ifndef SKEP_TESTS_MAPS_H
#define SKEP_TESTS_MAPS_H

#include <stdint.h>

#include "isa/abi.h"

enum {
	MAPS = 3,	/* HASH, ARRAY, PERCPU_HASH */
	MAP_KEYS = 24,	/* programs use keys 0 to 23; a hash holds fewer */
	MAP_VALUE = 16, /* bytes */
};

struct map_desc;

/* What all maps hold. */
struct map_contents {
	struct {
		uint32_t n; /* elements */
		uint8_t present[MAP_KEYS];
		uint8_t value[MAP_KEYS][MAP_VALUE];
	} map[MAPS];
};

/* The map number i, made on first use; NULL: it cannot be had. */
const struct map_desc *maps_get(unsigned i);

void maps_empty(void);
void maps_save(struct map_contents *out);

/* Helpers of programs: bpf_map_lookup_elem and so on. */
uint64_t maps_lookup(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t c, uint64_t d, uint64_t e));
uint64_t maps_update(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t value, uint64_t flags,
				uint64_t e));
uint64_t maps_erase(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t c, uint64_t d, uint64_t e));

#endif
