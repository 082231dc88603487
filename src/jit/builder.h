/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct builder: the code of one unit while it is emitted. Straight code goes into `bytes`;
 * branches are kept apart, since their sizes are only known once all is emitted (relax.c).
 * A position is therefore a place: straight bytes and branches before it.
 *
 * The first error sticks and everything emitted after it is ignored, so that emitters return
 * nothing and jit_compile asks once.
 */
#ifndef SKEP_JIT_BUILDER_H
#define SKEP_JIT_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "jit/jit.h"

struct frame;
struct target;

struct place {
	uint32_t raw;	   /* straight bytes before it */
	uint32_t branches; /* branches before it */
};

/* What depends on a distance within the code. `kind`, `cond` and `reg` are the target's own. */
struct branch {
	uint32_t raw;	/* straight bytes before it */
	uint32_t label; /* where it goes */
	uint8_t kind, cond, reg, bit;
	uint8_t size; /* bytes; only grows while branches are laid out */
};

/* What depends on where the code will lie; `kind` is the target's. */
struct code_fixup {
	uint32_t offset; /* byte offset of the instruction */
	uint8_t kind;
	uint64_t address; /* what it refers to */
};

/* Private stacks: at `off` of each slot's memory the offset of the one in use (0 outside of runs),
 * then `n` areas of `size` bytes, each with a guard on both ends. */
struct private_stack {
	uint32_t off, size;
};
enum { PRIVATE_AREAS = 5, PRIVATE_HEAD = 16, PRIVATE_GUARD = 16, PRIVATE_MIN = 64 };

struct builder {
	const struct target *target;
	const struct unit *unit;
	const struct jit_opts *opts;
	uint64_t features;	   /* of the CPU, target's bits */
	uint64_t near_lo, near_hi; /* the code will lie in [lo, hi) */
	bool dump;		   /* to be shown, never run: unknown addresses are made up */
	bool tails;		   /* the unit has tail calls: their count is kept */
	bool throws, callbacks;	   /* it throws, it has callbacks */
	bool privates;		   /* some frames are private: code.h's areas */
	bool sign;		   /* return addresses are signed (arm64) */
	uint64_t blind;		   /* state of the random numbers that blind constants */
	uint64_t arena;		   /* the unit's, or a made up one for a dump */
	struct private_stack private;
	int64_t percpu_tp, cpu_tp, tail_tp; /* distances of percpu_self, percpu_cpu and of the count
					     * of tail calls from the thread pointer */
	uint32_t op;			    /* the one being lowered, for messages */
	const struct frame *frame;	    /* the subprogram being lowered */
	int err;
	char message[160];
	VEC(uint8_t) bytes;
	VEC(struct branch) branches;
	VEC(struct place) labels; /* raw is UINT32_MAX until bound; the first are the ops' */
	uint8_t *is_target;	  /* for each op: something jumps to it */
	struct {
		size_t n, cap;
		struct place_fault {
			struct place at, resume;
			uint8_t reg;
		} *at;
	} faults;
	struct {
		size_t n, cap;
		struct place_fixup {
			struct place at;
			uint8_t kind;
			uint64_t address;
		} *at;
	} fixups;
};

/* Room for what a unit of n ops usually becomes, so that little is moved while it grows. */
void builder_expect(struct builder *b, uint32_t n);

void builder_free(struct builder *b);

/* Records the first error. */
void builder_fail(struct builder *b, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void builder_grow(struct builder *b, size_t n);

/* Appends n bytes of straight code. */
static inline void builder_put(struct builder *b, const uint8_t *p, size_t n)
{
	if (b->bytes.n + n > b->bytes.cap)
		builder_grow(b, n);
	if (b->err)
		return;
	for (size_t i = 0; i < n; i++)
		b->bytes.at[b->bytes.n + i] = p[i];
	b->bytes.n += n;
}

/* The current position. */
static inline struct place builder_here(const struct builder *b)
{
	return (struct place){ (uint32_t)b->bytes.n, (uint32_t)b->branches.n };
}

/* The first of n fresh, unbound labels. */
uint32_t builder_labels(struct builder *b, uint32_t n);
void builder_bind(struct builder *b, uint32_t label);

/* A branch at the current position; its label may be bound later. br->raw and size are set here. */
void builder_branch(struct builder *b, struct branch br);

/* The instruction that begins at `at` needs the fix-up. */
void builder_fixup(struct builder *b, struct place at, uint8_t kind, uint64_t address);

/* The instruction at `at` may fault; then reg becomes zero (0xff: none) and it goes on at resume.
 * To be called in order of `at`. */
void builder_fault(struct builder *b, struct place at, struct place resume, uint8_t reg);

/* Whether `address` is less than `reach` bytes away from wherever the code will lie. */
bool builder_near(const struct builder *b, uint64_t address, uint64_t reach);

/* Lays the branches out and makes the code; -errno (also b->err) when that fails. */
int relax(struct builder *b, struct code *out);

#endif
