/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a verified unit to the one that is compiled and shown as xlated: the rewrites of pass.def,
 * in their order. Each makes a new unit; the result can still be encoded as struct bpf_insn.
 */
#ifndef SKEP_REWRITE_REWRITE_H
#define SKEP_REWRITE_REWRITE_H

#include <stdbool.h>

#include "isa/trait.h"
#include "isa/unit.h"

struct report;

/* REWRITE_<name> for each row. */
enum rewrite_id {
#define PASS(name, what) REWRITE_##name,
#include "rewrite/pass.def"
	REWRITES
};

struct rewrite_opts {
	unsigned scratch;   /* scratch registers that the target has: BPF_AX, BPF_BX */
	uint32_t traits;    /* TRAIT_* of what runs the result */
	uint32_t prog_type; /* BPF_PROG_TYPE_* */
	bool jit;      /* it is compiled; false: the interpreter runs it, and keeps its calls */
	bool hardened; /* maps are not to be read out of bounds even speculatively */
	uint64_t off;  /* rewrites that are left out: bits 1 << REWRITE_<name> */
	unsigned stop; /* 1 + the last rewrite that is done; 0: all are */
};

/* Whether this rewrite is among those to be done. */
static inline bool rewrite_does(const struct rewrite_opts *opts, unsigned id)
{
	return !(opts->off >> id & 1) && (!opts->stop || id < opts->stop);
}

/* Adds the rewrite called `name` to *off. -EINVAL with a message that lists those there are. */
int rewrite_turn_off(const char *name, struct report *r, uint64_t *off);

/* Sets *stop so that the rewrite called `name` is the last one. -EINVAL as above. */
int rewrite_stop_after(const char *name, struct report *r, unsigned *stop);

/* Name of a row and what it does; NULL from REWRITES on. */
const char *rewrite_name(unsigned id);
const char *rewrite_what(unsigned id);

/* Whether the rewritten unit, which has its facts still, reads what lies behind the UAPI's
 * structure of its context. */
bool rewrite_reads_behind(const struct unit *u, uint32_t prog_type);

/* A fresh unit, also when nothing changed. Without facts (unit.h) only what needs none is done.
 * 0 or -errno with a message. */
int rewrite(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
	    struct unit **out);

#endif
