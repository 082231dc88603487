/* SPDX-License-Identifier: BSD-2-Clause */
/* Native code as text: arm64's by the back end's own rows, x86-64's by LLVM's C API, which is
 * loaded when it is needed. */
#ifndef SKEP_TOOL_NATIVE_H
#define SKEP_TOOL_NATIVE_H

#include <stdint.h>

struct code;
struct report;
struct unit;

/* Where code lies that is only shown, when nothing says otherwise. */
enum { NATIVE_BASE = 0x40000000 };

enum {
	NATIVE_OPS = 1 << 0,   /* each BPF operation, with its source line, before what it became */
	NATIVE_BYTES = 1 << 1, /* offset and bytes before each instruction */
};

/* The code's bytes as they are at `base`; fresh memory (mem_free). */
int native_link(const struct code *c, uint64_t base, struct report *r, uint8_t **out);

/* Adds the code of u as text, an instruction a line. 0, or -errno with a message that says what is
 * missing. */
int native_text(const struct unit *u, const struct code *c, uint64_t base, unsigned parts,
		struct report *out, struct report *r);

#endif
