/* SPDX-License-Identifier: BSD-2-Clause */
/* Native code as text, by LLVM's C API, which is loaded when it is needed. */
#ifndef SKEP_TOOL_NATIVE_H
#define SKEP_TOOL_NATIVE_H

struct code;
struct report;
struct unit;

/* Prints the code of u for target ("x86_64", "arm64") to stdout, each BPF operation before what
 * became of it. 0, or -errno with a message that says what is missing. */
int native_print(const struct unit *u, const struct code *c, const char *target, struct report *r);

#endif
