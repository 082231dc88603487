/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random BPF programs that end, touch only memory that is theirs (world.h) and never read what is
 * not defined, so that every engine must agree on their result and on the memory they leave.
 */
#ifndef SKEP_TESTS_GEN_H
#define SKEP_TESTS_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "isa/unit.h"

enum {
	GEN_UNITS = 4,	/* the program, and what it may tail-call */
	GEN_SUBS = 9,	/* most functions of a unit */
	GEN_FRAMES = 8, /* deepest chain of calls */
	GEN_REFS = 6,	/* unit.refs: the tail call map, a map value, a variable, maps.h's maps */
	GEN_REF_MAPS = 3,
};

/* Names of the items (instructions, branches, loops, calls) of a program: see gen_case_new. */
struct item_set {
	VEC(uint64_t) v;
};

struct gen_case {
	uint64_t seed;
	struct unit *unit[GEN_UNITS]; /* refs and env are not set */
	uint8_t *pinned[GEN_UNITS];   /* for each op: the program is only sound with it */
	unsigned n_units;
	bool long_run;	       /* runs for millions of ops */
	struct item_set items; /* all that were made */
};

/* The program of this seed, without the items in `skip` (NULL: with all) and what they contain.
 * 0 or -ENOMEM. */
int gen_case_new(uint64_t seed, const struct item_set *skip, struct gen_case *out);
void gen_case_free(struct gen_case *c);

#endif
