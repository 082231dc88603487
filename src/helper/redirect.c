/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that say where a packet goes. They record it (helper/packet.h); nothing is sent. */
#include <linux/pkt_cls.h>

#include "helper/impl.h"
#include "map/map.h"

static void redirect_dev(uint32_t ifindex, uint64_t flags)
{
	struct packet_redirect *r = packet_redirect();

	*r = (struct packet_redirect){
		.target = PACKET_DEV, .ifindex = ifindex, .flags = flags, .clones = r->clones
	};
}

HELPER_FN(redirect, r1, r2, r3, r4, r5)
{
	if (r2 & ~(uint64_t)BPF_F_INGRESS)
		return TC_ACT_SHOT;
	redirect_dev((uint32_t)r1, r2);
	return TC_ACT_REDIRECT;
}

HELPER_FN(redirect_peer, r1, r2, r3, r4, r5)
{
	if (r2)
		return TC_ACT_SHOT;
	redirect_dev((uint32_t)r1, 0);
	return TC_ACT_REDIRECT;
}

HELPER_FN(redirect_neigh, r1, r2, r3, r4, r5)
{
	uint32_t n = (uint32_t)r3;

	if ((n && n < sizeof(struct bpf_redir_neigh)) || r4)
		return TC_ACT_SHOT;
	redirect_dev((uint32_t)r1, 0);
	return TC_ACT_REDIRECT;
}

HELPER_FN(xdp_redirect, r1, r2, r3, r4, r5)
{
	if (r2)
		return XDP_ABORTED;
	redirect_dev((uint32_t)r1, 0);
	return XDP_REDIRECT;
}

/* The map says whether the key leads somewhere; the low bits of flags are what else to return. */
HELPER_FN(redirect_map, r1, r2, r3, r4, r5)
{
	struct map *m = ptr_of(r1);
	struct packet_redirect *r = packet_redirect();
	uint64_t verdict = XDP_ABORTED;

	if (m->ops->redirect)
		verdict = (uint64_t)m->ops->redirect(m, r2, r3);
	if (verdict == XDP_REDIRECT)
		*r = (struct packet_redirect){ .target = PACKET_MAP,
					       .map_id = m->desc.id,
					       .map_type = m->desc.type,
					       .key = r2,
					       .flags = r3,
					       .clones = r->clones };
	return verdict;
}

/* The copy goes to the loopback, the one device there is, and ends there. */
HELPER_FN(clone_redirect, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	if (r3 & ~(uint64_t)BPF_F_INGRESS)
		return helper_err(-EINVAL);
	if (ctx->skb.gso_size)
		return helper_err(-EBADMSG);
	if ((uint32_t)r2 != PACKET_LO)
		return helper_err(-EINVAL);
	skb_refresh(ctx);
	if (ctx->mac >= ctx->net || !skb_len(ctx))
		return helper_err(-ERANGE);
	packet_redirect()->clones++;
	return 0;
}
