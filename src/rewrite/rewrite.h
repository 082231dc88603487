/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a verified unit to the one that is compiled and shown as xlated: the rewrites of pass.def,
 * in their order. Each makes a new unit; the result can still be encoded as struct bpf_insn.
 */
#ifndef SKEP_REWRITE_REWRITE_H
#define SKEP_REWRITE_REWRITE_H

#include "isa/unit.h"

struct report;

struct rewrite_opts {
	unsigned scratch; /* scratch registers that the target has: BPF_AX, BPF_BX */
};

/* A fresh unit, also when nothing changed. 0 or -errno with a message. */
int rewrite(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
	    struct unit **out);

#endif
