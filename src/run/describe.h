/* SPDX-License-Identifier: BSD-2-Clause */
/* What func_info, line_info and their BTF say of a program, as its unit carries it. */
#ifndef SKEP_RUN_DESCRIBE_H
#define SKEP_RUN_DESCRIBE_H

#include "run/prog.h"

/* Gives u, decoded from p's instructions, the source lines and names of subprograms of p's rows.
 * Texts belong to p's BTF. 0 or -ENOMEM. */
int describe_unit(const struct prog *p, struct unit *u);

#endif
