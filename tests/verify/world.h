/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The world that generated programs run in: maps and packets. It is made anew from a seed before
 * each run, whatever ran before, and lies at the same addresses in each process: so what a run does
 * depends on the program and the seed alone.
 */
#ifndef SKEP_TESTS_VERIFY_WORLD_H
#define SKEP_TESTS_VERIFY_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "map/map.h"

enum { WORLD_PACKET = 256 };

/* Starts the process again without address randomization, and makes the maps. 0 or -errno. */
int world_make(char **argv);
struct map *world_map(unsigned i); /* enum gen_map */

/* Everything as at the start, with contents from *rng. 0 or -errno. */
int world_reset(uint64_t *rng);
/* A packet, at most WORLD_PACKET bytes. Returns its length. */
uint32_t world_packet(uint64_t *rng, uint8_t *bytes);

uint64_t world_next(uint64_t *rng);
/* What memory holds that nobody initialised. */
void world_garbage(uint64_t *rng, void *at, size_t n);

#endif
