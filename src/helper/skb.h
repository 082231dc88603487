/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of programs that see a socket buffer, and its packet: one linear block, as in the
 * kernel's PROG_TEST_RUN. Fields that the program sees live in struct __sk_buff alone; what it
 * does not see lies behind it.
 */
#ifndef SKEP_HELPER_SKB_H
#define SKEP_HELPER_SKB_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "isa/abi.h"
#include "isa/ctx.h"
#include "helper/packet.h"

enum {
	SKB_HEADROOM = 32 << 10,   /* where a packet starts in its buffer */
	SKB_LEN_MAX = 16384 - 320, /* how far helpers let a packet grow */
	SKB_TUN_OPTS_MAX = 255,
};

/* State of the packet's checksum. */
enum skb_summed { SKB_SUM_NONE, SKB_SUM_UNNECESSARY, SKB_SUM_COMPLETE };

/* Tunnel metadata that skb_set_tunnel_key and _opt set for the way out. */
struct skb_tunnel {
	bool set, opts_set;
	uint8_t n_opts;
	struct bpf_tunnel_key key;
	uint64_t flags;
	uint8_t opts[SKB_TUN_OPTS_MAX];
};

struct skb_ctx {
	struct __sk_buff skb;	    /* what the program sees */
	uint8_t *data, *tail;	    /* also the packet's metadata begin at data: it has none */
	struct bpf_sock sock;	    /* the socket that skb.sk points to */
	uint8_t *base, *limit;	    /* the buffer */
	uint8_t *mac, *net, *trans; /* headers; trans NULL: not set */
	uint16_t mac_len;	    /* 0 until a helper sets it, then net - mac at that time */
	uint8_t *room;		    /* where the kernel's buffer would begin: see skb_room */
	uint32_t sum;		    /* with SKB_SUM_COMPLETE: sum from the network header on */
	uint8_t summed;		    /* enum skb_summed */
	uint8_t sum_level;
	bool encap;  /* adjust_room put a tunnel header in front */
	bool hashed; /* skb.hash is valid */
	struct skb_tunnel tunnel;
};

_Static_assert(offsetof(struct skb_ctx, data) == CTX_SKB_DATA &&
		   offsetof(struct skb_ctx, tail) == CTX_SKB_END,
	       "isa/ctx.h says where addresses are");

/* Do programs of this type see the Ethernet header? */
bool skb_type_is_l2(uint32_t prog_type);

/* Copies an Ethernet packet to b and sets ctx up as for a packet that arrived at the loopback.
 * 0; -EINVAL when it is shorter than its Ethernet and IP header, or longer than PACKET_MAX. */
int skb_init(struct skb_ctx *ctx, const struct packet_buf *b, const void *bytes, uint32_t size,
	     uint32_t prog_type);

/* Puts an empty Ethernet header back for types that do not see it. After that, data..tail is the
 * packet as it leaves. */
void skb_finish(struct skb_ctx *ctx, uint32_t prog_type);

static inline uint32_t skb_len(const struct skb_ctx *ctx)
{
	return (uint32_t)(ctx->tail - ctx->data);
}

/* Makes what the program sees of addresses and length true again after the packet moved. */
void skb_refresh(struct skb_ctx *ctx);

/* Makes sure that `front` bytes before data and `back` behind tail are there, moving the packet
 * in its buffer when needed. 0 or -ENOMEM. */
int skb_room(struct skb_ctx *ctx, uint32_t front, uint32_t back);

/* The checksum state follows `n` bytes at `p` leaving or joining the summed data; off: their
 * distance from its start. */
void skb_sum_pull(struct skb_ctx *ctx, const void *p, uint32_t n, uint32_t off);
void skb_sum_push(struct skb_ctx *ctx, const void *p, uint32_t n, uint32_t off);

/* Forgets that the device checked checksums. */
static inline void skb_sum_reset(struct skb_ctx *ctx)
{
	if (ctx->summed != SKB_SUM_UNNECESSARY)
		return;
	ctx->summed = SKB_SUM_NONE;
	ctx->sum_level = 0;
}

/* The packet's protocol as it stands in skb.protocol (network byte order). */
static inline uint16_t skb_proto(const struct skb_ctx *ctx)
{
	return (uint16_t)ctx->skb.protocol;
}

/* Deterministic hash of the flow (addresses, protocol, ports) that starts at ctx->net; never 0. */
uint32_t skb_flow_hash(const struct skb_ctx *ctx);

/* env.load_abs (isa/abi.h). */
uint64_t skb_load_abs(BPF_PARAMS(uint64_t ctx, int64_t offset, uint64_t size));

#endif
