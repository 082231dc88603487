/* SPDX-License-Identifier: BSD-2-Clause */
/* The verifier between what PROG_LOAD gives and what the rewrites take. */
#ifndef SKEP_RUN_VERIFIED_H
#define SKEP_RUN_VERIFIED_H

#include "run/prog.h"

/* Verifies u, the program p as loaded: on success p is marked as verified, and u carries what was
 * found out (facts, stack). The log is written as spec.log_level wants it. 0 or the kernel's
 * -errno with its message. */
int prog_verify(struct prog *p, const struct prog_spec *spec, struct unit *u, struct report *log);

#endif
