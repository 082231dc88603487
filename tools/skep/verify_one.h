/* SPDX-License-Identifier: BSD-2-Clause */
/* One program of an object before the verifier. */
#ifndef SKEP_TOOL_VERIFY_ONE_H
#define SKEP_TOOL_VERIFY_ONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"

struct bpf_program;

enum verify_verdict {
	VERIFY_ACCEPTED,
	VERIFY_REJECTED,
	VERIFY_UNTRIED, /* it did not come before the verifier: a map cannot be made, ... */
};

struct verify_row {
	char *name;	  /* of the program, as in the object */
	const char *type; /* libbpf's name of it */
	enum verify_verdict verdict;
	uint32_t insns, states, peak; /* visited instructions, states kept, most at a time */
	uint64_t usec;
	struct report message; /* why not: the verifier's last line and our explanation */
	struct report log;
};

/* Loads the program with this name and no other one of the object. level: BPF_LOG_* of the log.
 * 0 and a row (verify_row_free), or -errno when the object cannot be opened. */
int verify_one(const char *path, const char *name, unsigned level, struct report *r,
	       struct verify_row *row);

void verify_row_free(struct verify_row *row);

#endif
