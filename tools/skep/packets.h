/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture through a program: verdicts, times, and the packets that were passed. */
#ifndef SKEP_TOOL_PACKETS_H
#define SKEP_TOOL_PACKETS_H

#include <stdint.h>

#include "base/vec.h"
#include "skep/redirects.h"

struct events;
struct report;

struct packets_job {
	int prog_fd;
	uint32_t prog_type;
	const char *in, *out; /* paths; out may be NULL */
	uint64_t repeat;
	struct events *events; /* emptied after each batch */
	const char *warning;   /* said before the first packet runs; may be NULL */
};

enum { VERDICTS_MAX = 128 };

struct packets_result {
	uint64_t packets, bytes;			      /* that the program ran on */
	uint64_t count[VERDICTS_MAX], bytes_of[VERDICTS_MAX]; /* by row of verdict.def */
	uint64_t not_run;	/* packets that no program of the type can take */
	int not_run_err;	/* why the first of them was not */
	uint64_t first_not_run; /* its number */
	uint64_t written;
	struct redirects redirects;
	uint64_t ns;	     /* time of all runs */
	VEC(double) samples; /* mean ns of a packet in a batch, for each or 2^20 of them */
};

/* Runs the job. 0 or -errno with a message; the output is there whole or not at all. */
int packets_run(const struct packets_job *job, struct report *r, struct packets_result *out);
void packets_free(struct packets_result *p);

/* The q-quantile (0 to 1) of the samples, which are sorted by packets_run; 0 without samples. */
double packets_quantile(const struct packets_result *p, double q);

#endif
