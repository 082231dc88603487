/* SPDX-License-Identifier: BSD-2-Clause */
/* Native code as text: arm64's by the back end's own rows, x86-64's by LLVM's C API, which is
 * loaded when it is needed. */
#ifndef SKEP_TOOL_NATIVE_H
#define SKEP_TOOL_NATIVE_H

#include <stdint.h>

struct code;
struct report;
struct target;
struct unit;

/* Where code lies that is only shown, when nothing says otherwise. */
enum { NATIVE_BASE = 0x40000000 };

enum {
	NATIVE_OPS = 1 << 0,   /* each BPF operation, with its source line, before what it became */
	NATIVE_BYTES = 1 << 1, /* offset and bytes before each instruction */
};

/* A program that is text as it is compiled for t (NULL: for one that has no traits): with the
 * rewrites that need no verifier. 0 and a fresh unit, or -errno with a message. */
int native_rewrite(const struct unit *u, const struct target *t, struct report *r,
		   struct unit **out);

/* The code's bytes as they are at `base`; fresh memory (mem_free). */
int native_link(const struct code *c, uint64_t base, struct report *r, uint8_t **out);

/* Adds the code of u as text, an instruction a line. 0, or -errno with a message that says what is
 * missing: -ENOENT or -ENOSYS when there is no disassembler. */
int native_text(const struct unit *u, const struct code *c, uint64_t base, unsigned parts,
		struct report *out, struct report *r);

#endif
