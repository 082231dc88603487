/* SPDX-License-Identifier: BSD-2-Clause */
/* Which helpers a program may call: by its type and licence, until the verifier says it. */
#ifndef SKEP_RUN_CHECK_H
#define SKEP_RUN_CHECK_H

#include "run/prog.h"

/* 0, or -EINVAL with the kernel's message for the first call that is not allowed. */
int check_calls(const struct unit *u, const struct prog_spec *spec, struct report *log);

#endif
