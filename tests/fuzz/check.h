/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One generated program on two engines.
 */
#ifndef SKEP_TESTS_CHECK_H
#define SKEP_TESTS_CHECK_H

#include "engine.h"
#include "gen.h"

enum verdict {
	CHECK_SAME,
	CHECK_DIFFERENT,
	CHECK_LONG,	   /* the reference did not end within its limit: nothing is compared */
	CHECK_FAILED,	   /* could not be decoded, compiled or loaded */
	CHECK_UNSUPPORTED, /* the engine says -EOPNOTSUPP */
};

/* What is running, for whoever reports a crash. */
enum phase { PHASE_MAKE, PHASE_REFERENCE, PHASE_OTHER };
extern volatile enum phase *check_phase;

struct check {
	struct engine reference, other;
	char text[512]; /* the first difference, or what failed */
};

/* Encoding and decoding gives the same program; both engines give the same. Where other.target is
 * set, its code is made and not run. */
enum verdict check_case(struct check *check, const struct gen_case *c);

#endif
