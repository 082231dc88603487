/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a generated program sees of the outside: memory, helpers, a packet, maps to tail-call
 * through; and running one on an engine.
 */
#ifndef SKEP_TESTS_WORLD_H
#define SKEP_TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "gen.h"
#include "maps.h"

struct engine;
struct report;

enum {
	WORLD_HALF = 40 * 1024, /* bytes of memory on each side of the address in r1 */
	WORLD_PACKET = 64,	/* bytes that LDABS sees, from r6 on */
	WORLD_ARENA =
	    16 * 1024,	 /* bytes of the arena that are there, from its offset WORLD_HALF on */
	WORLD_SPAN = 64, /* most bytes that HELPER_XOR changes */
};

/* Helpers by number: gaps, and not only small ones. */
enum {
	HELPER_MIX = 1,	     /* a hash of r1-r5 */
	HELPER_SCRIBBLE = 3, /* the same, with garbage in every register that a call may clobber */
	HELPER_FIRST = 5,    /* r1 */
	HELPER_XOR = 7,	     /* xors r3 into each of the r2 % (WORLD_SPAN + 1) bytes at r1 */
	HELPER_MINUS = 11,   /* -1 */
	HELPER_MAP_LOOKUP = 21, /* maps.h */
	HELPER_MAP_UPDATE = 22,
	HELPER_MAP_ERASE = 23,
	HELPER_LOOP = 181,  /* calls r2 with (r3, r3, i, sum, r4) r1 % 4 times until it gives 1;
			     * the sum of what it gave */
	HELPER_TWICE = 182, /* r1(r2, r2, r3, ..) and then r1(r2, r2, that, ..) */
	HELPER_COUNT,
};

/* Where the world's per-CPU memory begins: WORLD_HALF bytes, as an offset. */
uint32_t world_percpu(void);

/* The unit's refs and env. 0 or -ENOMEM. */
int world_bind(struct gen_case *c);

/* What a run leaves. */
struct outcome {
	int err;
	uint64_t r0;
	uint8_t mem[2 * WORLD_HALF];
	uint8_t arena[WORLD_ARENA];
	struct map_contents maps;
};

/* Fresh memory, then the program. False: it could not be
 * loaded, and the report says why. */
bool world_run(const struct engine *e, const struct gen_case *c, struct report *r,
	       struct outcome *out);

/* The first difference as text, or "" when there is none. */
void outcome_diff(const struct outcome *a, const struct outcome *b, char *text, unsigned size);

#endif
