/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the generator. */
#ifndef SKEP_TESTS_VERIFY_GEN_IMPL_H
#define SKEP_TESTS_VERIFY_GEN_IMPL_H

#include <stdbool.h>

#include "gen.h"

/* What the generator believes of a register or slot. */
enum what {
	NOTHING,
	NUMBER,
	CTX,
	VALUE_PTR,
	PACKET,
	RECORD,
	FAR_STACK, /* the stack of a caller: SLOTS * 8 bytes from there on are good */
	LOCKED,	   /* a number that counts a loop's rounds: to be read only */
};

enum { NO_REG = 10, SLOTS = 8, SUBS = 5, CALLS = 3 };

struct known {
	enum what has[11], slot[SLOTS];
};

struct sub {
	uint32_t call[CALLS]; /* instructions that name it */
	unsigned n_calls, level;
	enum what arg[6];
	bool callback;
};

struct gen {
	uint64_t rng;
	struct gen_prog *out;
	uint32_t start,
	    room; /* first instruction of the running function, and how many it may have */
	enum what has[11];
	enum what slot[SLOTS]; /* -8, -16, ... */
	unsigned depth, loops, sub_level, n_subs;
	unsigned with;
	struct sub sub[SUBS];
};

uint32_t rnd(struct gen *g, uint32_t n);
uint32_t put(struct gen *g, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm);
bool full(const struct gen *g);
/* The jump at `at` goes to the next instruction. */
void jump_here(struct gen *g, uint32_t at);
int32_t constant(struct gen *g);
/* A register that holds such a thing, NO_REG when there is none. */
unsigned pick(struct gen *g, enum what w);
/* One that may become such a thing. */
unsigned target(struct gen *g, enum what w);
/* One that holds a number; makes it if need be. */
unsigned number(struct gen *g);
void clobber(struct gen *g);
void call(struct gen *g, int32_t helper);
void load_map(struct gen *g, unsigned r, enum gen_map m);
void leave(struct gen *g);
void block(struct gen *g, uint32_t n);
/* A conditional jump on dst, whose target is not set. */
uint32_t compare(struct gen *g, unsigned dst);
void known_save(const struct gen *g, struct known *k);
void known_load(struct gen *g, const struct known *k);
void known_meet(struct gen *g, const struct known *k);

void item_alu(struct gen *g);
void item_move(struct gen *g);
void item_stack(struct gen *g);
void item_spill(struct gen *g);
void item_linked(struct gen *g);
void item_endian(struct gen *g);
void item_stack_var(struct gen *g);
void item_value(struct gen *g);
void item_packet(struct gen *g);
void item_ctx(struct gen *g);
void item_random(struct gen *g);
void item_update(struct gen *g);
void item_ring(struct gen *g);
void item_atomic(struct gen *g);
void item_call(struct gen *g);
void item_callback(struct gen *g);
void item_skb(struct gen *g);
void item_tail(struct gen *g);
void item_sub_ptr(struct gen *g);

#endif
