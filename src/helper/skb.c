/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket buffers: making one of a packet, and what all its helpers need. */
#include "helper/skb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include "helper/hash.h"
#include "helper/sum.h"

enum { IP4_HDR = 20, IP6_HDR = 40, TCP_CLOSE = 7, SKB_ROOM = 64, BEHIND = 256 };

bool skb_type_is_l2(uint32_t prog_type)
{
	return prog_type == BPF_PROG_TYPE_SCHED_CLS || prog_type == BPF_PROG_TYPE_SCHED_ACT;
}

static uint32_t addr_low(const uint8_t *p)
{
	return (uint32_t)(uintptr_t)p;
}

void skb_refresh(struct skb_ctx *ctx)
{
	ctx->skb.data = addr_low(ctx->data);
	ctx->skb.data_meta = ctx->skb.data;
	ctx->skb.data_end = addr_low(ctx->tail);
	ctx->skb.len = skb_len(ctx);
}

/* The Ethernet type, or what stands for the older frame formats. */
static uint16_t eth_proto(const uint8_t *eth)
{
	uint16_t type;

	memcpy(&type, eth + 12, sizeof(type));
	if (ntohs(type) >= ETH_P_802_3_MIN)
		return type;
	return htons(eth[14] == 0xff && eth[15] == 0xff ? ETH_P_802_3 : ETH_P_802_2);
}

/* Whom the destination address means. The loopback's own address is all zeroes; it has no
 * broadcast address. */
static uint32_t eth_pkt_type(const uint8_t *eth)
{
	static const uint8_t own[6];

	if (memcmp(eth, own, 6) == 0)
		return PACKET_HOST;
	return eth[0] & 1 ? PACKET_MULTICAST : PACKET_OTHERHOST;
}

static void sock_ip4(struct skb_ctx *ctx)
{
	struct bpf_sock *sk = &ctx->sock;

	sk->family = ctx->skb.family = AF_INET;
	memcpy(&ctx->skb.local_ip4, ctx->net + 12, 4);
	memcpy(&ctx->skb.remote_ip4, ctx->net + 16, 4);
	sk->src_ip4 = ctx->skb.local_ip4;
	sk->dst_ip4 = ctx->skb.remote_ip4;
}

static void sock_ip6(struct skb_ctx *ctx)
{
	struct bpf_sock *sk = &ctx->sock;

	sk->family = ctx->skb.family = AF_INET6;
	memcpy(ctx->skb.local_ip6, ctx->net + 8, 16);
	memcpy(ctx->skb.remote_ip6, ctx->net + 24, 16);
	memcpy(sk->src_ip6, ctx->skb.local_ip6, 16);
	memcpy(sk->dst_ip6, ctx->skb.remote_ip6, 16);
}

/* A closed socket without protocol whose addresses are the packet's, as PROG_TEST_RUN attaches.
 * -EINVAL when the IP header is not all there. */
static int sock_init(struct skb_ctx *ctx)
{
	size_t n = (size_t)(ctx->tail - ctx->net);

	ctx->sock = (struct bpf_sock){ .state = TCP_CLOSE, .rx_queue_mapping = -1 };
	ctx->skb.sk = &ctx->sock;
	switch (ntohs(skb_proto(ctx))) {
	case ETH_P_IP:
		if (n < IP4_HDR)
			return -EINVAL;
		sock_ip4(ctx);
		return 0;
	case ETH_P_IPV6:
		if (n < IP6_HDR)
			return -EINVAL;
		sock_ip6(ctx);
		return 0;
	}
	return 0;
}

int skb_init(struct skb_ctx *ctx, const struct packet_buf *b, const void *bytes, uint32_t size,
	     uint32_t prog_type)
{
	uint8_t *eth = b->base + SKB_HEADROOM;
	int err;

	if (size < PACKET_ETH || size > PACKET_MAX)
		return -EINVAL;
	*ctx = (struct skb_ctx){ .base = b->base, .limit = b->base + PACKET_BUF };
	memcpy(eth, bytes, size);
	/* What lies behind the packet can be seen: eth_proto looks at two bytes of payload, and
	 * skb_adjust_room moves whole headers even where the packet is shorter. */
	memset(eth + size, 0, BEHIND);
	ctx->mac = eth;
	ctx->net = eth + PACKET_ETH;
	ctx->tail = eth + size;
	ctx->room = eth - SKB_ROOM;
	ctx->skb.protocol = eth_proto(eth);
	ctx->skb.pkt_type = eth_pkt_type(eth);
	ctx->skb.ifindex = PACKET_LO;
	err = sock_init(ctx);
	if (err)
		return err;
	ctx->data = skb_type_is_l2(prog_type) ? eth : ctx->net;
	skb_refresh(ctx);
	ctx->skb.wire_len = ctx->skb.len;
	return 0;
}

void skb_finish(struct skb_ctx *ctx, uint32_t prog_type)
{
	if (skb_type_is_l2(prog_type) || skb_room(ctx, PACKET_ETH, 0) != 0)
		return;
	ctx->data -= PACKET_ETH;
	memset(ctx->data, 0, PACKET_ETH);
	skb_refresh(ctx);
}

static void skb_move(struct skb_ctx *ctx, ptrdiff_t by)
{
	memmove(ctx->data + by, ctx->data, skb_len(ctx));
	ctx->data += by;
	ctx->tail += by;
	ctx->mac += by;
	ctx->net += by;
	ctx->room += by;
	ctx->trans = ctx->trans ? ctx->trans + by : NULL;
}

/* When the kernel's buffer has too little room in front, it gets a new one with a multiple of 64
 * bytes more, and the position of headers is moved along: of a transport header that is not set
 * (the greatest 16-bit number) too, which then counts as set, one byte before the old buffer. What
 * skb_change_tail allows depends on it. */
static void room_grow(struct skb_ctx *ctx, uint32_t front)
{
	uint32_t have = (uint32_t)(ctx->data - ctx->room);

	if (front <= have)
		return;
	if (!ctx->trans)
		ctx->trans = ctx->room - 1;
	ctx->room -= (front - have + SKB_ROOM - 1) / SKB_ROOM * SKB_ROOM;
}

int skb_room(struct skb_ctx *ctx, uint32_t front, uint32_t back)
{
	uint64_t size = (uint64_t)(ctx->limit - ctx->base);

	room_grow(ctx, front);
	if (ctx->data - ctx->base >= front && ctx->limit - ctx->tail >= back)
		return 0;
	if ((uint64_t)front + back + skb_len(ctx) > size)
		return -ENOMEM;
	if (front <= SKB_HEADROOM && SKB_HEADROOM + skb_len(ctx) + (uint64_t)back <= size)
		front = SKB_HEADROOM;
	skb_move(ctx, ctx->base + front - ctx->data);
	return 0;
}

void skb_sum_pull(struct skb_ctx *ctx, const void *p, uint32_t n, uint32_t off)
{
	if (ctx->summed == SKB_SUM_COMPLETE)
		ctx->sum = sum_sub(ctx->sum, sum_shift(sum_bytes(p, n, 0), off));
}

void skb_sum_push(struct skb_ctx *ctx, const void *p, uint32_t n, uint32_t off)
{
	if (ctx->summed == SKB_SUM_COMPLETE)
		ctx->sum = sum_add(ctx->sum, sum_shift(sum_bytes(p, n, 0), off));
}

/* What a flow is, in one block to be hashed. */
struct flow {
	uint8_t addr[32];
	uint32_t ports;
	uint16_t proto; /* Ethernet type */
	uint8_t l4;
	uint8_t pad;
};

static bool flow_has_ports(uint8_t l4)
{
	return l4 == IPPROTO_TCP || l4 == IPPROTO_UDP || l4 == IPPROTO_SCTP ||
	       l4 == IPPROTO_UDPLITE || l4 == IPPROTO_DCCP;
}

/* Length of the IP header whose addresses and protocol went to f, 0: no whole header. */
static uint32_t flow_ip(const uint8_t *net, size_t n, struct flow *f)
{
	if (f->proto == htons(ETH_P_IP) && n >= IP4_HDR) {
		bool later_fragment = ((net[6] & 0x1f) | net[7]) != 0;

		memcpy(f->addr, net + 12, 8);
		f->l4 = net[9];
		return later_fragment ? 0 : (net[0] & 15u) * 4;
	}
	if (f->proto == htons(ETH_P_IPV6) && n >= IP6_HDR) {
		memcpy(f->addr, net + 8, 32);
		f->l4 = net[6];
		return IP6_HDR;
	}
	return 0;
}

uint32_t skb_flow_hash(const struct skb_ctx *ctx)
{
	struct flow f = { .proto = skb_proto(ctx) };
	size_t n = ctx->tail > ctx->net ? (size_t)(ctx->tail - ctx->net) : 0;
	uint32_t ip = flow_ip(ctx->net, n, &f);
	uint32_t h;

	if (ip && flow_has_ports(f.l4) && n >= ip + 4)
		memcpy(&f.ports, ctx->net + ip, 4);
	h = (uint32_t)hash_bytes(&f, sizeof(f), (const uint64_t[2]){ 0x736b6570, 0x666c6f77 });
	return h ? h : 1;
}

/* Offsets below 0 count from the network header or the Ethernet header, as in classic BPF. */
static const uint8_t *abs_start(const struct skb_ctx *ctx, int32_t offset)
{
	if (offset >= 0)
		return ctx->data + offset;
	if (offset >= -0x100000) /* SKF_NET_OFF */
		return ctx->net + (offset + 0x100000);
	return ctx->mac + (offset + 0x200000); /* SKF_LL_OFF */
}

uint64_t skb_load_abs(BPF_PARAMS(uint64_t ctx_addr, int64_t offset, uint64_t size))
{
	const struct skb_ctx *ctx = (const struct skb_ctx *)(uintptr_t)ctx_addr;
	const uint8_t *lowest = ctx->mac < ctx->data ? ctx->mac : ctx->data;
	const uint8_t *p;
	uint64_t v = 0;

	if (offset < -0x200000 || offset > INT32_MAX)
		return UINT64_MAX;
	p = abs_start(ctx, (int32_t)offset);
	if (p < lowest || p > ctx->tail || size > (uint64_t)(ctx->tail - p))
		return UINT64_MAX;
	for (uint64_t i = 0; i < size; i++)
		v = v << 8 | p[i];
	return v;
}
