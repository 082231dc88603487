/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers of lightweight tunnels. Segment routing is a stand-in: no packet has a segment header. */
#include <linux/if_ether.h>

#include "helper/impl.h"

enum {
	IP4_HDR = 20,
	IP6_HDR = 40,
	LWT_HEADROOM_MAX = 256,
	SEG6_END_X = 2,
	SEG6_END_T = 3,
	SEG6_END_DT6 = 7,
};

/* The IP version of an outer header of n bytes, or -EINVAL. */
static int outer_version(const uint8_t *hdr, uint32_t n)
{
	if (n < IP4_HDR || n > LWT_HEADROOM_MAX)
		return -EINVAL;
	if (hdr[0] >> 4 == 4)
		return n < (hdr[0] & 15u) * 4 ? -EINVAL : 4;
	return hdr[0] >> 4 == 6 && n >= IP6_HDR ? 6 : -EINVAL;
}

static void ip4_fill_check(uint8_t *ip)
{
	uint16_t check;

	memcpy(&check, ip + 10, 2);
	if (check)
		return;
	check = sum_fold(sum_bytes(ip, (ip[0] & 15u) * 4, 0));
	memcpy(ip + 10, &check, 2);
}

static int push_ip(struct skb_ctx *ctx, const uint8_t *hdr, uint32_t n)
{
	int version = outer_version(hdr, n);
	int err = version < 0 ? version : skb_room(ctx, n + PACKET_ETH, 0);

	if (err)
		return err;
	ctx->data -= n;
	memmove(ctx->data, hdr, n);
	skb_sum_push(ctx, ctx->data, n, 0);
	ctx->net = ctx->data;
	ctx->encap = true;
	ctx->skb.protocol = htons(version == 4 ? ETH_P_IP : ETH_P_IPV6);
	if (version == 4)
		ip4_fill_check(ctx->data);
	return 0;
}

HELPER_FN(lwt_push_encap, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	int err;

	if ((uint32_t)r2 != BPF_LWT_ENCAP_IP)
		return helper_err(-EINVAL);
	err = push_ip(ctx, ptr_of(r3), (uint32_t)r4);
	if (!err)
		helper_set_hash_invalid(BPF_ARGS(r1, 0, 0, 0, 0));
	skb_refresh(ctx);
	return helper_err(err);
}

HELPER_FN(lwt_seg6_store_bytes, r1, r2, r3, r4, r5)
{
	return helper_err(-EINVAL);
}

HELPER_FN(lwt_seg6_adjust_srh, r1, r2, r3, r4, r5)
{
	return helper_err(-EINVAL);
}

HELPER_FN(lwt_seg6_action, r1, r2, r3, r4, r5)
{
	switch ((uint32_t)r2) {
	case SEG6_END_X:
	case SEG6_END_T:
	case SEG6_END_DT6:
		return helper_err(-EBADMSG);
	}
	return helper_err(-EINVAL);
}
