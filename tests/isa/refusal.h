/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that the decoder refuses, and with which words. */
#ifndef SKEP_TEST_ISA_REFUSAL_H
#define SKEP_TEST_ISA_REFUSAL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

struct refusal {
	const char *what;
	struct bpf_insn insns[5];
	uint32_t n;
	bool otherwise; /* the kernel meets another fault first, or has other words */
};

extern const struct refusal refusals[];
extern const unsigned n_refusals;

#endif
