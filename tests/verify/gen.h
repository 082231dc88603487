/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs for the verifier, most of them valid: what registers and stack slots hold is
 * followed while they are made, and now and then ignored.
 */
#ifndef SKEP_TESTS_VERIFY_GEN_H
#define SKEP_TESTS_VERIFY_GEN_H

#include <linux/bpf.h>
#include <stdint.h>

enum { GEN_INSNS = 1200, GEN_VALUE = 48, GEN_KEYS = 6, GEN_ENTRIES = 4, GEN_RING = 4096 };

/* LD_IMM64 with BPF_PSEUDO_MAP_FD has one of these; whoever loads the program puts in what he has.
 */
enum gen_map { GEN_ARRAY, GEN_HASH, GEN_PERCPU, GEN_RINGBUF, GEN_PROGS, GEN_MAPS };

struct gen_map_row {
	uint32_t type, key_size, value_size, max_entries;
};

extern const struct gen_map_row gen_maps[GEN_MAPS];

struct gen_prog {
	uint64_t seed;
	uint32_t type; /* BPF_PROG_TYPE_* */
	uint32_t n;
	struct bpf_insn insns[GEN_INSNS];
};

/* What not every loader takes: callbacks (the kernel wants BTF for them), may_goto (whose loops
 * kernels walk in different ways), tail calls. */
enum { GEN_CALLBACKS = 1, GEN_MAY_GOTO = 2, GEN_TAIL_CALLS = 4, GEN_ALL = 7 };

/* The program of this seed. `with`: bits as above. */
void gen_make(uint64_t seed, unsigned with, struct gen_prog *out);

#endif
