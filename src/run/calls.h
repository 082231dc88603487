/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether everything that a program calls is there. */
#ifndef SKEP_RUN_CALLS_H
#define SKEP_RUN_CALLS_H

struct report;
struct unit;

/* The verifier knows helpers that skep has none of yet, and an unverified program may call
 * anything. 0, or -EINVAL with a message for the first call that has nothing to go to. */
int calls_check(const struct unit *u, struct report *log);

#endif
