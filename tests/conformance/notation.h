/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uBPF's assembler notation (`mov32 %r0, 0`, `ldxdw %r1, [%r1+8]`, `jeq %r0, 0x0, L1`), as far as
 * the public conformance data uses it. Only for tests: skep itself reads LLVM's and the kernel's.
 */
#ifndef SKEP_TESTS_NOTATION_H
#define SKEP_TESTS_NOTATION_H

#include <linux/bpf.h>

#include "base/vec.h"

struct report;

struct insns {
	VEC(struct bpf_insn) v;
};

/* Appends the instructions of `text`, one a line, to *out. 0 or -errno with a message that names
 * the line. */
int notation_parse(const char *text, struct report *r, struct insns *out);

#endif
