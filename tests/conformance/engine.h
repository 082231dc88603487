/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can run a unit, by one interface: the tests compare these.
 */
#ifndef SKEP_TESTS_ENGINE_H
#define SKEP_TESTS_ENGINE_H

#include <stdint.h>

#include "isa/unit.h"
#include "jit/jit.h"

struct report;

struct engine {
	const char *name;
	bool native; /* compiled by jit/, else interpreted */
	struct jit_opts jit;
	const char *target; /* of jit/; NULL: the host's, the only one that can be run */
	uint64_t max_ops;   /* interpreter only; 0: no limit */
};

/* "interp", "jit", "jit-blind". False: there is none of that name. */
bool engine_find(const char *name, struct engine *out);

/* A unit made ready to run; the unit stays the caller's. Zeroed: nothing is loaded. */
struct loaded {
	const struct engine *engine;
	struct callee callee; /* for slots of a tail_array */
	struct image *image;
};

/* Makes code and drops it: for any target. 0 or -errno with a message. */
int engine_compile(const struct engine *e, const struct unit *u, struct report *r);

/* 0 or -errno with a message. */
int engine_load(const struct engine *e, const struct unit *u, struct report *r, struct loaded *out);

/* 0, interp_run's errors, or -EPROTO: native code did not keep the registers that it must keep, or
 * wrote beyond its private stack. */
int engine_run(const struct loaded *p, const uint64_t args[5], uint64_t *r0);
void engine_unload(struct loaded *p);

#endif
