/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a loaded program on packets, a batch at a time, and takes the time. */
#ifndef SKEP_TOOL_ENGINE_H
#define SKEP_TOOL_ENGINE_H

#include <stdint.h>

#include "skep/capture.h"

#include "run/packet_run.h"

struct obj;

enum { BATCH = 64 }; /* packets */

/* One packet before and after its run. */
struct shot {
	struct capture_head head;
	uint8_t *in; /* engine's memory */
	struct packet_run run;
	struct packet_result result;
	int err; /* 0, or -errno: the program did not run on this packet */
};

struct engine {
	struct obj *prog;
	struct shot shots[BATCH];
	unsigned n; /* filled ones */
	uint8_t *memory;
};

/* prog_fd: of a program that takes packets, loaded into skep. 0 or -errno. */
int engine_open(struct engine *e, int prog_fd);
void engine_close(struct engine *e);

/* Copies a packet into the batch, which must not be full. */
void engine_add(struct engine *e, const struct capture_head *head, const uint8_t *bytes);

/* Runs the program on the batch, in order. *ns: the time of the runs alone; *ran: how many of the
 * packets it took. Then the batch holds the results until engine_clear. */
void engine_run(struct engine *e, uint64_t *ns, unsigned *ran);

/* The packet as the program left it: with the VLAN tag that a socket buffer keeps beside it, with
 * its Ethernet header when the program did not see that, and as long as a socket filter wants it.
 * Copies it to out (ENGINE_OUT_MAX bytes); its length. */
enum { ENGINE_OUT_MAX = PACKET_BUF + 4 };
uint32_t engine_packet(const struct shot *s, uint8_t *out);

static inline void engine_clear(struct engine *e)
{
	e->n = 0;
}

#endif
