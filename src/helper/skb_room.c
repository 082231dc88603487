/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that change a socket buffer's length, headers and protocol. */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>

#include "helper/impl.h"

enum { IP4_HDR = 20, IP6_HDR = 40, VLAN_TAG = 4 };

/* Newer than the oldest header that skep builds with. */
#define F_DECAP_L3_IPV4 (1ull << 7) /* BPF_F_ADJ_ROOM_DECAP_L3_IPV4 */
#define F_DECAP_L3_IPV6 (1ull << 8) /* BPF_F_ADJ_ROOM_DECAP_L3_IPV6 */
#define F_DECAP_L3	(F_DECAP_L3_IPV4 | F_DECAP_L3_IPV6)
#define F_ENCAP_L3	(uint64_t)(BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 | BPF_F_ADJ_ROOM_ENCAP_L3_IPV6)
#define F_ENCAP_L4	(uint64_t)(BPF_F_ADJ_ROOM_ENCAP_L4_GRE | BPF_F_ADJ_ROOM_ENCAP_L4_UDP)
#define F_ADJ_ROOM                                                                                 \
	(BPF_F_ADJ_ROOM_FIXED_GSO | F_ENCAP_L3 | F_ENCAP_L4 | BPF_F_ADJ_ROOM_ENCAP_L2_ETH |        \
	 BPF_F_ADJ_ROOM_ENCAP_L2(BPF_ADJ_ROOM_ENCAP_L2_MASK) | F_DECAP_L3 |                        \
	 BPF_F_ADJ_ROOM_NO_CSUM_RESET)

/* Every helper here ends with this: addresses and length may have changed. */
static uint64_t skb_done(struct skb_ctx *ctx, int err)
{
	skb_refresh(ctx);
	return helper_err(err);
}

static uint32_t mac_len(const struct skb_ctx *ctx)
{
	return (uint32_t)(ctx->net - ctx->mac);
}

/* Puts n zero bytes at off; what is before them moves to the front, headers too. */
static int net_push(struct skb_ctx *ctx, uint32_t off, uint32_t n)
{
	bool trans_same = ctx->trans == ctx->net;
	int err = skb_room(ctx, n, 0);

	if (err)
		return err;
	ctx->data -= n;
	memmove(ctx->data, ctx->data + n, off);
	memset(ctx->data + off, 0, n);
	ctx->mac -= n;
	ctx->net -= n;
	if (trans_same)
		ctx->trans = ctx->net;
	return 0;
}

/* Takes n bytes at off away. */
static int net_pop(struct skb_ctx *ctx, uint32_t off, uint32_t n)
{
	bool trans_same = ctx->trans == ctx->net;

	if (off + n > skb_len(ctx))
		return -ENOMEM;
	skb_sum_pull(ctx, ctx->data + off, n, 0);
	memmove(ctx->data + n, ctx->data, off);
	ctx->data += n;
	ctx->mac += n;
	ctx->net += n;
	if (trans_same)
		ctx->trans = ctx->net;
	return 0;
}

static int vlan_insert(struct skb_ctx *ctx, uint16_t proto, uint16_t tci)
{
	int err = skb_room(ctx, VLAN_TAG, 0);

	if (err)
		return err;
	tci = htons(tci);
	ctx->data -= VLAN_TAG;
	memmove(ctx->data, ctx->data + VLAN_TAG, 2 * ETH_ALEN);
	memcpy(ctx->data + 12, &proto, 2);
	memcpy(ctx->data + 14, &tci, 2);
	ctx->mac -= VLAN_TAG;
	ctx->net -= VLAN_TAG;
	ctx->skb.protocol = proto;
	skb_sum_push(ctx, ctx->data + 12, VLAN_TAG, 0);
	return 0;
}

static void vlan_set(struct skb_ctx *ctx, uint16_t proto, uint16_t tci)
{
	ctx->skb.vlan_present = 1;
	ctx->skb.vlan_proto = proto;
	ctx->skb.vlan_tci = tci;
}

static void vlan_clear(struct skb_ctx *ctx)
{
	ctx->skb.vlan_present = ctx->skb.vlan_proto = ctx->skb.vlan_tci = 0;
}

static bool proto_is_vlan(uint16_t proto)
{
	return proto == htons(ETH_P_8021Q) || proto == htons(ETH_P_8021AD);
}

/* The new tag is kept beside the packet; the one that was there goes into the packet. */
HELPER_FN(skb_vlan_push, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	uint16_t proto = proto_is_vlan((uint16_t)r2) ? (uint16_t)r2 : htons(ETH_P_8021Q);
	int err = 0;

	if (ctx->skb.vlan_present)
		err = vlan_insert(ctx, (uint16_t)ctx->skb.vlan_proto, (uint16_t)ctx->skb.vlan_tci);
	if (!err)
		vlan_set(ctx, proto, (uint16_t)r3);
	ctx->mac_len = (uint16_t)mac_len(ctx);
	return skb_done(ctx, err);
}

/* The protocol of what follows a VLAN tag at p: its Ethernet type, or an old frame format. */
static uint16_t vlan_inner(const uint8_t *p)
{
	uint16_t type;

	memcpy(&type, p, 2);
	if (ntohs(type) >= ETH_P_802_3_MIN)
		return type;
	return htons(p[2] == 0xff && p[3] == 0xff ? ETH_P_802_3 : ETH_P_802_2);
}

static int vlan_remove(struct skb_ctx *ctx, uint16_t *tci)
{
	if (ctx->data != ctx->mac)
		return -EINVAL;
	if (skb_len(ctx) < PACKET_ETH + VLAN_TAG)
		return -ENOMEM;
	skb_sum_pull(ctx, ctx->data + 12, VLAN_TAG, 0);
	memcpy(tci, ctx->data + 14, 2);
	*tci = ntohs(*tci);
	ctx->skb.protocol = vlan_inner(ctx->data + 16);
	memmove(ctx->data + VLAN_TAG, ctx->data, 2 * ETH_ALEN);
	ctx->data += VLAN_TAG;
	ctx->mac += VLAN_TAG;
	if (ctx->net < ctx->data + PACKET_ETH)
		ctx->net = ctx->data + PACKET_ETH;
	ctx->mac_len = (uint16_t)mac_len(ctx);
	return 0;
}

/* Takes the outer tag off; a tag that comes to light in the packet is kept beside it. */
static int vlan_pop(struct skb_ctx *ctx)
{
	uint16_t proto, tci;
	int err = 0;

	if (ctx->skb.vlan_present)
		vlan_clear(ctx);
	else if (proto_is_vlan(skb_proto(ctx)))
		err = vlan_remove(ctx, &tci);
	else
		return 0;
	proto = skb_proto(ctx);
	if (err || !proto_is_vlan(proto))
		return err;
	err = vlan_remove(ctx, &tci);
	if (!err)
		vlan_set(ctx, proto, tci);
	return err;
}

HELPER_FN(skb_vlan_pop, r1, r2, r3, r4, r5)
{
	return skb_done(skb_of(r1), vlan_pop(skb_of(r1)));
}

static int change_proto(struct skb_ctx *ctx, uint16_t to)
{
	uint16_t from = skb_proto(ctx);
	int err = -ENOTSUPP;

	if (from == htons(ETH_P_IP) && to == htons(ETH_P_IPV6))
		err = net_push(ctx, mac_len(ctx), IP6_HDR - IP4_HDR);
	else if (from == htons(ETH_P_IPV6) && to == htons(ETH_P_IP))
		err = net_pop(ctx, mac_len(ctx), IP6_HDR - IP4_HDR);
	if (err)
		return err;
	ctx->skb.protocol = to;
	ctx->skb.hash = 0;
	ctx->hashed = false;
	return 0;
}

HELPER_FN(skb_change_proto, r1, r2, r3, r4, r5)
{
	if (r3)
		return helper_err(-EINVAL);
	return skb_done(skb_of(r1), change_proto(skb_of(r1), (uint16_t)r2));
}

HELPER_FN(skb_change_type, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	if (ctx->skb.pkt_type > PACKET_OTHERHOST || (uint32_t)r2 > PACKET_OTHERHOST)
		return helper_err(-EINVAL);
	ctx->skb.pkt_type = (uint32_t)r2;
	return 0;
}

/* Shortest length that keeps the headers that are known. */
static uint32_t len_min(const struct skb_ctx *ctx)
{
	const uint8_t *last = ctx->trans && ctx->trans > ctx->data ? ctx->trans : ctx->net;

	return last > ctx->data ? (uint32_t)(last - ctx->data) : 0;
}

static int change_tail(struct skb_ctx *ctx, uint32_t n, uint64_t flags)
{
	uint32_t old = skb_len(ctx);
	int err = 0;

	if (flags || n > SKB_LEN_MAX || n < len_min(ctx))
		return -EINVAL;
	if (ctx->encap)
		return -ENOTSUPP;
	if (n > old) {
		err = skb_room(ctx, 0, n - old);
		if (!err)
			memset(ctx->tail, 0, n - old);
	}
	if (err)
		return err;
	ctx->tail = ctx->data + n;
	if (n != old && ctx->summed == SKB_SUM_COMPLETE)
		ctx->summed = SKB_SUM_NONE;
	if (ctx->skb.gso_size)
		ctx->skb.gso_size = ctx->skb.gso_segs = 0;
	return 0;
}

HELPER_FN(skb_change_tail, r1, r2, r3, r4, r5)
{
	return skb_done(skb_of(r1), change_tail(skb_of(r1), (uint32_t)r2, r3));
}

static int change_head(struct skb_ctx *ctx, uint32_t n, uint64_t flags)
{
	uint64_t len = (uint64_t)skb_len(ctx) + n;
	int err;

	if (flags || (!ctx->skb.gso_size && len > SKB_LEN_MAX) || len > UINT32_MAX)
		return -EINVAL;
	err = skb_room(ctx, n, 0);
	if (err)
		return err;
	ctx->data -= n;
	memset(ctx->data, 0, n);
	ctx->mac = ctx->data;
	ctx->mac_len = (uint16_t)mac_len(ctx);
	return 0;
}

HELPER_FN(skb_change_head, r1, r2, r3, r4, r5)
{
	return skb_done(skb_of(r1), change_head(skb_of(r1), (uint32_t)r2, r3));
}

/* May a header of these flags be put in front? */
static int encap_check(const struct skb_ctx *ctx, uint32_t n, uint64_t flags)
{
	uint32_t inner_mac = (uint8_t)(flags >> BPF_ADJ_ROOM_ENCAP_L2_SHIFT);

	if ((flags & F_ENCAP_L3) == F_ENCAP_L3 || (flags & F_ENCAP_L4) == F_ENCAP_L4)
		return -EINVAL;
	if (flags & BPF_F_ADJ_ROOM_ENCAP_L2_ETH && inner_mac < PACKET_ETH)
		return -EINVAL;
	if (ctx->encap)
		return -EALREADY;
	return inner_mac > n ? -EINVAL : 0;
}

/* Header positions and protocol after the outer header came in front of the old network header. */
static void encap_set(struct skb_ctx *ctx, uint32_t mac, uint64_t flags)
{
	bool v6 = flags & BPF_F_ADJ_ROOM_ENCAP_L3_IPV6;

	ctx->encap = true;
	ctx->net = ctx->data + mac;
	if (flags & F_ENCAP_L4)
		ctx->trans = ctx->net + (v6 ? IP6_HDR : IP4_HDR);
	ctx->skb.protocol = htons(v6 ? ETH_P_IPV6 : ETH_P_IP);
}

static int room_grow(struct skb_ctx *ctx, uint32_t off, uint32_t n, uint64_t flags)
{
	uint32_t mac = mac_len(ctx);
	int err = 0;

	if (ctx->skb.gso_size)
		return -ENOTSUPP;
	if (flags & F_ENCAP_L3)
		err = encap_check(ctx, n, flags);
	if (!err)
		err = net_push(ctx, off, n);
	if (!err && flags & F_ENCAP_L3)
		encap_set(ctx, mac, flags);
	return err;
}

static int room_shrink(struct skb_ctx *ctx, uint32_t off, uint32_t n, uint64_t flags)
{
	int err;

	if (flags &
	    ~(uint64_t)(BPF_F_ADJ_ROOM_FIXED_GSO | F_DECAP_L3 | BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		return -EINVAL;
	if (ctx->skb.gso_size)
		return -ENOTSUPP;
	err = net_pop(ctx, off, n);
	if (err)
		return err;
	if (flags & F_DECAP_L3_IPV6)
		ctx->skb.protocol = htons(ETH_P_IPV6);
	else if (flags & F_DECAP_L3_IPV4)
		ctx->skb.protocol = htons(ETH_P_IP);
	return 0;
}

/* How long the network part must stay; 0: flags that do not go together. */
static uint32_t room_net_min(uint32_t base, bool shrink, uint64_t flags)
{
	if (!(flags & F_DECAP_L3))
		return base;
	if (!shrink || (flags & F_DECAP_L3) == F_DECAP_L3)
		return 0;
	return flags & F_DECAP_L3_IPV4 ? IP4_HDR : IP6_HDR;
}

static int adjust_room(struct skb_ctx *ctx, int32_t by, uint32_t mode, uint64_t flags)
{
	uint16_t proto = skb_proto(ctx);
	uint32_t base = proto == htons(ETH_P_IP) ? IP4_HDR : IP6_HDR;
	uint32_t off = mac_len(ctx) + (mode == BPF_ADJ_ROOM_NET ? base : 0);
	uint32_t n = by < 0 ? -(uint32_t)by : (uint32_t)by;
	uint32_t cur, min;

	if (flags & ~F_ADJ_ROOM)
		return -EINVAL;
	if (n > 0xfff)
		return -EFAULT;
	if ((proto != htons(ETH_P_IP) && proto != htons(ETH_P_IPV6)) || mode > BPF_ADJ_ROOM_MAC)
		return -ENOTSUPP;
	min = room_net_min(base, by < 0, flags);
	if (!min)
		return -EINVAL;
	cur = (uint32_t)(ctx->tail - ctx->net);
	if (by < 0)
		return n >= cur || cur - n < min ? -ENOTSUPP : room_shrink(ctx, off, n, flags);
	if (skb_len(ctx) + n > SKB_LEN_MAX && !ctx->skb.gso_size)
		return -ENOTSUPP;
	return room_grow(ctx, off, n, flags);
}

HELPER_FN(skb_adjust_room, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	int err = adjust_room(ctx, (int32_t)r2, (uint32_t)r3, r4);

	if (!err && !(r4 & BPF_F_ADJ_ROOM_NO_CSUM_RESET))
		skb_sum_reset(ctx);
	return skb_done(ctx, err);
}
