/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference interpreter: what every JIT and optimisation is compared with. It runs any unit
 * that unit_decode accepts, internal forms included. Slow and plain on purpose.
 */
#ifndef SKEP_INTERP_INTERP_H
#define SKEP_INTERP_INTERP_H

#include <stdint.h>

#include "isa/unit.h"

struct interp_opts {
	uint64_t max_ops; /* stop with -ELOOP after that many ops; 0: no limit */
};

/* Runs u from op 0 with r1-r5 = args; *r0 is the result. Tail calls and callbacks included.
 * 0, -ELOOP (limit), -E2BIG (more than 8 frames), -EOPNOTSUPP (a call that env lacks). */
int interp_run(const struct unit *u, const uint64_t args[5], const struct interp_opts *opts,
	       uint64_t *r0);

#endif
