/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier: what may run. A unit is const here; what is found out about it becomes facts, and
 * what is refused becomes a message in the kernel's words.
 */
#ifndef SKEP_VERIFY_VERIFY_H
#define SKEP_VERIFY_VERIFY_H

#include "isa/unit.h"

struct report;

enum { VERIFY_FRAMES = 8 }; /* most frames in a chain of calls */

/* Control flow, which unit_decode cannot see: jumps stay in their subprogram, a subprogram ends
 * with exit or goto, calls and callbacks enter at the start of a subprogram, every op can be
 * reached, and no chain of calls is deeper than VERIFY_FRAMES (so none is recursive). Loops are
 * allowed, as they are for a privileged user. 0, -EINVAL with a message, or -ENOMEM. */
int verify_structure(const struct unit *u, struct report *r);

#endif
