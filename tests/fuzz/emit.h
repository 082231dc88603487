/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the generator: the function that is being written, and how ops are appended to it.
 * gen.c: units, functions, blocks and control flow. items.c: what has no control flow.
 *
 * Invariants that make programs comparable. Every register in `regs` is defined wherever an item
 * begins. `base` holds the address of the middle of the world's memory, the same for all engines,
 * and is never written. Addresses that differ between engines (stack, functions, maps) are
 * overwritten within the item that makes them.
 */
#ifndef SKEP_TESTS_EMIT_H
#define SKEP_TESTS_EMIT_H

#include "base/vec.h"
#include "gen.h"
#include "rng.h"
#include "values.h"

struct sub {
	unsigned depth; /* most frames below and with this one */
	bool wanted;	/* something calls it */
	uint32_t first; /* op */
};

struct exit_jump {
	uint32_t op;
	unsigned level; /* of the block whose end is the target */
};

struct gen {
	struct rng rng; /* of the present item */
	const struct item_set *skip;
	struct gen_case *out;
	unsigned n_targets; /* of tail calls */
	bool failed;

	/* the unit */
	VEC(struct op) ops;
	VEC(uint8_t) pinned;
	struct sub subs[GEN_SUBS];
	unsigned n_subs;
	bool callee; /* is itself entered by tail calls */

	/* the function */
	unsigned sub;
	bool leaf;	   /* makes no calls */
	uint8_t base;	   /* register with the memory's address */
	uint16_t regs;	   /* registers in use, base among them */
	uint16_t reserved; /* those of them that must not be written: base, loop counters */
	int stack;	   /* bytes below r10 that are defined */
	unsigned level;	   /* nested blocks */
	unsigned loops;	   /* nested loops */
	VEC(struct exit_jump) exits;
};

enum { FN_MAIN, FN_SUB };

uint32_t emit(struct gen *g, struct op op);

/* An op that the shrinker must keep. */
uint32_t emit_pinned(struct gen *g, struct op op);

/* Makes the next op the target of the jump at `op`. */
void emit_land(struct gen *g, uint32_t op);

/* Registers in use that may be written; any in use. */
uint8_t pick_dst(struct gen *g);
uint8_t pick_src(struct gen *g);

/* Gives each register in `mask` that is in use and not base a value again. */
void emit_define(struct gen *g, uint16_t mask);

/* Some value into r, which is not base: a constant or a load. */
void emit_value(struct gen *g, uint8_t r);

/* Constant v into r, in any of the ways. */
void emit_const(struct gen *g, uint8_t r, uint64_t v);

/* One random item without control flow. */
struct item_kind {
	unsigned weight; /* how often it is made, relative to the others */
	void (*make)(struct gen *g);
};

/* Makes an item of one of the kinds. */
void item_any(struct gen *g, const struct item_kind *kinds, size_t n);

void item_plain(struct gen *g);

/* The first of two ops that belong together, and the second, on the register that it returned. */
uint8_t item_pair_first(struct gen *g);
void item_pair_second(struct gen *g, uint8_t r);

/* Short forms. */
static inline struct op op_imm(uint8_t code, uint8_t mode, uint8_t dst, int64_t imm)
{
	return (struct op){ .code = code, .mode = mode, .dst = dst, .imm = imm };
}

static inline struct op op_reg(uint8_t code, uint8_t mode, uint8_t dst, uint8_t src)
{
	return (struct op){ .code = code, .mode = mode | OP_REG, .dst = dst, .src = src };
}

static inline struct op op_load(uint8_t dst, uint8_t src, int32_t off, uint8_t mode)
{
	return (struct op){ .code = OP_LD, .mode = mode, .dst = dst, .src = src, .off = off };
}

static inline struct op op_store(uint8_t dst, int32_t off, uint8_t src, unsigned size)
{
	return (struct op){ .code = OP_ST,
			    .mode = op_mode_size(size) | OP_REG,
			    .dst = dst,
			    .src = src,
			    .off = off };
}

#endif
