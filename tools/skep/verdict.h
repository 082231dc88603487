/* SPDX-License-Identifier: BSD-2-Clause */
/* Program types that take packets, and what their return values mean. Rows: verdict.def. */
#ifndef SKEP_TOOL_VERDICT_H
#define SKEP_TOOL_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct verdict {
	uint32_t type; /* BPF_PROG_TYPE_* */
	int32_t value;
	const char *name;
	bool passed, redirects;
	bool rest; /* stands for all values without a row */
};

/* "xdp", or NULL when programs of this type take no packets. */
const char *verdict_type_name(uint32_t type);

/* The row of a return value; its type must have a name. */
const struct verdict *verdict_find(uint32_t type, uint32_t value);

/* All rows, and how many; a row's index is what counters are kept by. */
extern const struct verdict verdicts[];
extern const unsigned n_verdicts;

#endif
