/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rewrites that put ops in place of helper calls. Arguments are in r1-r5 as for the call, and the
 * result goes to r0. The registers for what is between are BPF_AX and BPF_BX, so that constants
 * which the program loads between a call and the test of its result can be loaded before the
 * replacement's own jump, which then can go where the test leads.
 */
#ifndef SKEP_REWRITE_INLINE_H
#define SKEP_REWRITE_INLINE_H

#include "isa/direct.h"
#include "rewrite/content.h"
#include "rewrite/pass.h"

/* A call in hand. */
struct inline_call {
	struct edit *e;
	const struct rewrite_opts *opts;
	struct fact fact;
	const struct contents *now;	 /* what is known before the call */
	const struct map_direct *direct; /* of the one map that it is called with, or NULL */
	int64_t helper;			 /* its number */
	uint32_t at;			 /* the call */
	uint32_t behind;		 /* the op that control goes on with */
	bool ignored;			 /* nobody reads the result */
	uint32_t movable; /* ops right behind the call that may come before the first jump */
};

/* One rewrite. */
struct inline_row {
	uint32_t traits;  /* TRAIT_* that it needs */
	unsigned scratch; /* how many of BPF_AX, BPF_BX it needs */
	uint32_t helper[6];
	/* Puts the replacement of a call of one of the helpers. False, with nothing put: the call
	 * stays. */
	bool (*put)(struct inline_call *c);
};

/* Offers calls to the row, when a JIT runs the result and has what it needs. */
int inline_calls(const struct inline_row *row, const struct unit *u,
		 const struct rewrite_opts *opts, struct report *r, struct unit **out);

static inline void put_imm(const struct inline_call *c, uint8_t code, uint8_t mode, uint8_t dst,
			   int64_t imm)
{
	edit_put(c->e, (struct op){ .code = code, .mode = mode, .dst = dst, .imm = imm });
}

static inline void put_reg(const struct inline_call *c, uint8_t code, uint8_t mode, uint8_t dst,
			   uint8_t src)
{
	edit_put(c->e, (struct op){ .code = code, .mode = mode | OP_REG, .dst = dst, .src = src });
}

/* dst = *(size *)(src + off) */
static inline void put_load(const struct inline_call *c, unsigned size, uint8_t dst, uint8_t src,
			    int32_t off)
{
	edit_put(
	    c->e,
	    (struct op){
		.code = OP_LD, .mode = op_mode_size(size), .dst = dst, .src = src, .off = off });
}

/* if dst OP imm goto the op behind the call */
void put_leave_if(struct inline_call *c, uint8_t code, uint8_t mode, uint8_t dst, int64_t imm);

/* dst: a per-CPU offset becomes the address in the running slot. */
static inline void put_percpu(const struct inline_call *c, uint8_t dst, uint8_t src)
{
	edit_put(c->e, (struct op){ .code = OP_PERCPU, .dst = dst, .src = src });
}

/* r0 = the 32-bit field at `off` of the running slot's head. */
static inline void put_slot_field(const struct inline_call *c, uint32_t off)
{
	put_imm(c, OP_MOV, 0, 0, off);
	put_percpu(c, 0, 0);
	put_load(c, 4, 0, 0, 0);
}

/* dst = a number that may need 64 bits. */
void put_constant(const struct inline_call *c, uint8_t dst, uint64_t value);

/* r0 = fn(r1, ... r5) */
void put_call_direct(const struct inline_call *c, const struct direct_fn *fn);

/* AX = the 32-bit key at r2; control leaves with r0 = 0 when it is no index of the map. */
void put_index(struct inline_call *c);

/* AX *= the stride of the map's values. */
void put_scale(const struct inline_call *c);

/* r0 = base of the area of the slot whose number is in `slot`, its upper half zero; control leaves
 * with r0 = 0 when there is no such slot. */
void put_slot_base(struct inline_call *c, uint8_t slot);

/* r0 = the address of byte `off` of the map's values. */
void put_value(const struct inline_call *c, uint64_t off);

/* r0 = the hash map's element with the key at r2, marked as looked up; control leaves with r0 = 0
 * when there is none. */
void put_element(struct inline_call *c);

/* The key at r2 is known and an index of the map. */
bool known_index(const struct inline_call *c, uint64_t *index);

/* What is known of argument n as a number; false: nothing. */
bool known_argument(const struct inline_call *c, unsigned n, uint64_t *value);

#endif
