/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a loaded program on packets, a batch at a time, and takes the time. */
#ifndef SKEP_TOOL_ENGINE_H
#define SKEP_TOOL_ENGINE_H

#include <stdint.h>

#include "skep/capture.h"

enum { BATCH = 64 }; /* packets */

/* One packet before and after its run. */
struct shot {
	struct capture_head head;
	uint8_t *in, *out; /* engine's memory */
	uint32_t n_out;
	uint32_t verdict;
	int err; /* 0, or -errno: the program did not run on this packet */
};

struct engine {
	int prog_fd;
	struct shot shots[BATCH];
	unsigned n; /* filled ones */
	uint8_t *memory;
};

int engine_open(struct engine *e, int prog_fd);
void engine_close(struct engine *e);

/* Copies a packet into the batch, which must not be full. -EMSGSIZE: longer than any packet. */
int engine_add(struct engine *e, const struct capture_head *head, const uint8_t *bytes);

/* Runs the program on the batch, in order. *ns: the time of the runs alone; *ran: how many of the
 * packets it took. Then the batch holds the results until engine_clear. */
void engine_run(struct engine *e, uint64_t *ns, unsigned *ran);

static inline void engine_clear(struct engine *e)
{
	e->n = 0;
}

#endif
