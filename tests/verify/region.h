/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where things lie while a program runs: the memory that it may touch, by kind.
 */
#ifndef SKEP_TESTS_VERIFY_REGION_H
#define SKEP_TESTS_VERIFY_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/interp.h"
#include "isa/fact.h"
#include "verify/state.h"

enum { PLACES_REGIONS = 256 };

struct region {
	uint64_t addr;
	uint32_t size;
	uint8_t kind; /* KIND_MAP_VALUE, KIND_MAP_KEY, KIND_MEM (a ring buffer's record) */
	const struct map_desc *map;
};

struct places {
	uint32_t prog_type;
	uint64_t ctx, ctx_size;
	const void *packet; /* struct xdp_ctx or skb_ctx */
	uint32_t n;
	struct region region[PLACES_REGIONS];
	/* Frames of the run, the outermost first. */
	struct {
		uint64_t *r;
		uint8_t *stack;
		const struct op *call; /* of a helper that runs, or ran last */
		uint64_t args[5];      /* of it */
	} frame[INTERP_FRAMES + 1];
	uint32_t depth; /* of the running frame */
};

struct packet_span {
	uint64_t meta, data, end;
};
struct packet_span places_packet(const struct places *p);

void places_add(struct places *p, uint8_t kind, uint64_t addr, uint32_t size,
		const struct map_desc *map);
void places_remove(struct places *p, uint64_t addr);

/* The kind of memory that [addr, addr + size) lies in as a whole, KIND_NONE: none. */
enum kind places_find(const struct places *p, uint64_t addr, uint64_t size);

/* NULL, or what is wrong with what op `at` is about to do: memory that it, or the helper that it
 * calls, touches, and what the facts say of the call. */
const char *places_op(const struct places *p, const struct interp_at *at, const struct fact *f);

/* A helper is about to be called. */
void places_call(struct places *p, const struct interp_at *at);

/* What calls have made, now that `at` is next: values that a look-up found, records, what a
 * callback is given. */
void places_after(struct places *p, const struct interp_at *at);

#endif
