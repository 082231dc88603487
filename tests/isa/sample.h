/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every opcode with every class of field: what the round trips of tests/isa go through.
 */
#ifndef SKEP_TEST_ISA_SAMPLE_H
#define SKEP_TEST_ISA_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_insn;
struct unit;

enum { SAMPLE_BEFORE = 6, SAMPLE_INSNS = 14 };

/* Calls each(insns, ctx) with programs of SAMPLE_INSNS instructions, all `exit` but for the sample
 * at SAMPLE_BEFORE (one instruction, or two where the opcode is 0x18). Most are invalid.
 * Opcodes that do not exist at all come once. */
typedef void (*sample_fn)(const struct bpf_insn *insns, void *ctx);
void sample_each(sample_fn each, void *ctx);

/* u and v have the same ops and subprograms. */
bool sample_same(const struct unit *u, const struct unit *v);

/* unit_encode(u) gives exactly these instructions. */
bool sample_encodes_to(const struct unit *u, const struct bpf_insn *insns, uint32_t n);

/* All bytes of a file and a NUL; *n without it. NULL when it cannot be read. Freed with free(). */
char *sample_file(const char *path, unsigned long *n);

/* Whether a command can be run. */
bool sample_has_command(const char *name);

#endif
