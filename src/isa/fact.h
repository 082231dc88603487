/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the verifier knows of an op and later stages may rely on: what holds on every path through
 * it. A unit that was verified has one row for each op (unit.facts). Rewrites and passes carry the
 * rows along; ops that they make anew get fact_unknown(), which promises nothing.
 */
#ifndef SKEP_ISA_FACT_H
#define SKEP_ISA_FACT_H

#include <stdbool.h>
#include <stdint.h>

struct map_desc;

enum { FACT_NUMBER_SRC = 1, FACT_NUMBER_DST };

struct fact {
	const struct map_desc *map; /* helper call: the one map it is called with, or NULL */
	uint64_t key;		    /* with key_known: the constant key of a look-up */
	uint32_t sub;		    /* helper call with callback: 1 + its subprogram, 0: unknown */
	uint8_t seen;		    /* control reaches it */
	uint8_t jumps, falls;	    /* conditional jump: some path jumps, some goes on */
	uint8_t key_known;
	uint8_t loop_flags; /* bpf_loop: some path passes flags, so it cannot be inlined */
	uint8_t upper_used; /* result of a 32-bit op: a reader needs the upper half to be zero */
	uint8_t accessed;   /* load, store: ptr_kind is set */
	uint8_t ptr_kind;   /* load, store: enum kind of the address, when always the same */
	uint8_t ctx;	    /* load, store of the context */
	uint8_t address;    /* call of the engine's: r0 is an address, or 0 */
	/* addition, subtraction in 64 bits of an address and a number in registers: which of the
	 * two is the number (FACT_NUMBER_*, 0: neither), its range; whether that says nothing or
	 * the roles change; whether a number that varies meets the address of a map value */
	uint8_t number, number_varies, number_value;
	int32_t number_min, number_max;
	uint8_t may_fault; /* load through a pointer that may be invalid */
	uint8_t map_seen, map_varies, key_seen, sub_seen; /* the verifier's own while it runs */
};

/* The row of an op of which nothing is known but that it may be reached. */
static inline struct fact fact_unknown(void)
{
	return (struct fact){ .seen = 1, .jumps = 1, .falls = 1, .loop_flags = 1, .upper_used = 1 };
}

#endif
