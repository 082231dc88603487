/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program run on packets, one after the other, in one buffer. PROG_TEST_RUN stands on it, and
 * whoever runs many packets. One thread at a time.
 */
#ifndef SKEP_RUN_PACKET_RUN_H
#define SKEP_RUN_PACKET_RUN_H

#include "helper/packet.h"
#include "helper/skb.h"
#include "helper/xdp.h"
#include "run/prog.h"

struct packet_run {
	struct prog *prog; /* not owned */
	struct packet_buf buf;
	union {
		struct xdp_ctx xdp;
		struct skb_ctx skb;
	} ctx;
	uint32_t verdict;		 /* of the last run: r0's low half */
	struct packet_redirect redirect; /* that it asked for */
};

struct packet_result {
	uint32_t verdict;
	uint32_t
	    n; /* bytes of the packet afterwards: XDP without metadata, others with L2 header */
	bool changed;			 /* bytes or length differ from what went in */
	struct packet_redirect redirect; /* where to, when the verdict says redirect */
};

/* Do programs of this type run on packets? */
bool packet_run_takes(uint32_t prog_type);

/* 0, -EOPNOTSUPP when the program's type takes no packets, -ENOMEM. */
int packet_run_open(struct packet_run *r, struct prog *p);

void packet_run_close(struct packet_run *r);

/* Runs the program once on a copy of an Ethernet packet that arrives on the loopback. 0, or -EINVAL
 * for packets that PROG_TEST_RUN refuses: shorter than their Ethernet and (for all but XDP) IP
 * header, or too long; -EBUSY in a signal handler that finds no slot (run/slot.h). out->verdict is
 * r0's low half. */
int packet_run_once(struct packet_run *r, const void *bytes, uint32_t n, struct packet_result *out);

/* The same in steps, for whoever runs many packets and takes the time. packet_run_set copies a
 * packet and makes its context; packet_run_batch runs those that were set, in order, on this
 * thread's slot, *ns being the time of nothing else, or gives -EBUSY; packet_run_get says what came
 * out of one. */
int packet_run_set(struct packet_run *r, const void *bytes, uint32_t n);
int packet_run_batch(struct packet_run *const *runs, uint32_t n, uint64_t *ns);
void packet_run_get(struct packet_run *r, const void *bytes, uint32_t n, struct packet_result *out);

/* Copies the packet that the last run left, at most n bytes. For socket buffers a VLAN tag that is
 * kept beside the packet is not part of it (ctx.skb.skb.vlan_tci). */
void packet_run_copy(const struct packet_run *r, void *out, uint32_t n);

/* prog_run on what the UAPI calls this type's context, and nothing behind it. The 32-bit addresses
 * of packets in it are taken as they are. */
uint64_t packet_run_uapi(struct prog *p, void *ctx);

/* In steps, for PROG_TEST_RUN: contexts set up in r->ctx by the caller; any number of runs, during
 * which the thread keeps its slot; total time in *ns, the last verdict in r->verdict. Timers that
 * are due fire between. 0 or -EBUSY. */
int packet_run_repeat(struct packet_run *r, uint32_t repeat, uint64_t *ns);

#endif
