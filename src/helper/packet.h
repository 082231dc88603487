/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet memory, and where a program sent its packet.
 *
 * A verified program reads the packet's addresses with all their bits (isa/ctx.h), so that packets
 * may lie anywhere. One that was not verified reads the 32-bit fields data, data_end and data_meta
 * of the contexts: its packets lie in the low 4 GiB of the address space, where these fields hold
 * real addresses. Buffers are recycled; any thread may take and give.
 */
#ifndef SKEP_HELPER_PACKET_H
#define SKEP_HELPER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACKET_BUF = 128 << 10, /* bytes of a buffer, page-aligned */
	PACKET_MAX = 65535,	/* longest packet that a context takes */
};

struct packet_buf {
	uint8_t *base; /* PACKET_BUF bytes; contents undefined */
};

/* `low`: below 4 GiB. 0 or -ENOMEM. */
int packet_buf_get(struct packet_buf *b, bool low);

/* An empty b (base NULL) is allowed. */
void packet_buf_put(struct packet_buf *b);

enum packet_target {
	PACKET_NONE,
	PACKET_DEV, /* redirect, redirect_neigh, redirect_peer: ifindex */
	PACKET_MAP, /* redirect_map: map and key */
};

/* The last redirect that the program running on this thread asked for. It counts when the program
 * then returns XDP_REDIRECT or TC_ACT_REDIRECT. */
struct packet_redirect {
	uint8_t target; /* enum packet_target */
	uint32_t ifindex;
	uint32_t map_id, map_type;
	uint64_t key, flags;
	uint32_t clones; /* successful clone_redirect calls of this run */
};

/* Of this thread. Set by helpers, cleared by packet_redirect_clear before a run. */
struct packet_redirect *packet_redirect(void);

static inline void packet_redirect_clear(void)
{
	*packet_redirect() = (struct packet_redirect){ 0 };
}

/* skep has one network device, as a fresh network namespace has: the loopback, which is also the
 * device that packets of PROG_TEST_RUN come from. */
enum { PACKET_LO = 1, PACKET_LO_MTU = 65536, PACKET_ETH = 14 };

#endif
