/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers for what belongs to a socket buffer besides its bytes: hash, time, tunnel, class. */
#include <linux/if_ether.h>

#include "helper/impl.h"

HELPER_FN(get_hash_recalc, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	if (!ctx->hashed)
		helper_set_hash(BPF_ARGS(r1, skb_flow_hash(ctx), 0, 0, 0));
	return ctx->skb.hash;
}

HELPER_FN(set_hash, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	ctx->skb.hash = (uint32_t)r2;
	ctx->hashed = true;
	return 0;
}

HELPER_FN(set_hash_invalid, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	ctx->skb.hash = 0;
	ctx->hashed = false;
	return 0;
}

enum { CLOCK_TYPE_REALTIME, CLOCK_TYPE_MONOTONIC, CLOCK_TYPE_TAI };

HELPER_FN(skb_set_tstamp, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	uint32_t type = (uint32_t)r3;

	if (skb_proto(ctx) != htons(ETH_P_IP) && skb_proto(ctx) != htons(ETH_P_IPV6))
		return helper_err(-EOPNOTSUPP);
	if (type > CLOCK_TYPE_TAI || (type != CLOCK_TYPE_REALTIME && !r2))
		return helper_err(-EINVAL);
	ctx->skb.tstamp = r2;
	ctx->skb.tstamp_type = (uint8_t)type;
	return 0;
}

/* The protocol behind all VLAN tags; 0 when there are too many or they are cut off. The tags are
 * looked for where the kernel does: behind an Ethernet header at data, even in programs that do not
 * see one, or at the end of the link header once a helper set its length. */
static uint16_t proto_inner(const struct skb_ctx *ctx)
{
	uint16_t proto = skb_proto(ctx);
	const uint8_t *p = ctx->data + (ctx->mac_len ? ctx->mac_len - 4 : PACKET_ETH);

	for (unsigned depth = 0; proto == htons(ETH_P_8021Q) || proto == htons(ETH_P_8021AD);
	     depth++, p += 4) {
		if (depth == 7 || p < ctx->data || p + 4 > ctx->tail)
			return 0;
		memcpy(&proto, p + 2, 2);
	}
	return proto;
}

enum { ECN_CE = 3 };

/* 1 when the header carries the mark afterwards. The checksum changes by what the byte changes. */
static int ecn_set_ip4(uint8_t *ip)
{
	uint16_t check, from, to;

	if (!(ip[1] & ECN_CE))
		return 0;
	memcpy(&from, ip, 2);
	ip[1] |= ECN_CE;
	memcpy(&to, ip, 2);
	if (from == to)
		return 1;
	memcpy(&check, ip + 10, 2);
	/* sum16_add and not sum_replace2: the kernel's result where the field becomes 0 or 0xffff
	 */
	check = sum16_add(check, htons((uint16_t)(ntohs(from) - ntohs(to) - 1)));
	memcpy(ip + 10, &check, 2);
	return 1;
}

static int ecn_set_ip6(struct skb_ctx *ctx, uint8_t *ip)
{
	uint32_t from, to;

	if (!(ip[1] >> 4 & ECN_CE))
		return 0;
	memcpy(&from, ip, 4);
	ip[1] |= ECN_CE << 4;
	memcpy(&to, ip, 4);
	if (ctx->summed == SKB_SUM_COMPLETE)
		ctx->sum = sum_add(sum_sub(ctx->sum, from), to);
	return 1;
}

HELPER_FN(skb_ecn_set_ce, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	uint16_t proto = proto_inner(ctx);

	if (proto == htons(ETH_P_IP) && ctx->net + 20 <= ctx->tail)
		return (uint64_t)ecn_set_ip4(ctx->net);
	if (proto == htons(ETH_P_IPV6) && ctx->net + 40 <= ctx->tail)
		return (uint64_t)ecn_set_ip6(ctx, ctx->net);
	return 0;
}

#define KEY_OFF(member) offsetof(struct bpf_tunnel_key, member)

/* Shorter structures of older programs. */
static bool tunnel_size_ok(uint32_t n)
{
	return n == sizeof(struct bpf_tunnel_key) || n == KEY_OFF(local_ipv6[0]) ||
	       n == KEY_OFF(tunnel_label) || n == KEY_OFF(tunnel_ext) ||
	       n == KEY_OFF(remote_ipv6[1]);
}

/* Tunnel flags as they stand in a header (network byte order). */
static uint16_t tunnel_flags(uint64_t set, bool opts)
{
	enum { CSUM = 1, KEY = 4, SEQ = 8, DONT_FRAGMENT = 0x100, NOCACHE = 0x2000 };
	enum { OPTS = 0xd800 /* of any kind of tunnel that has options */ };
	unsigned f = NOCACHE | (opts ? OPTS : 0);

	f |= set & BPF_F_ZERO_CSUM_TX ? 0 : CSUM;
	f |= set & BPF_F_DONT_FRAGMENT ? DONT_FRAGMENT : 0;
	f |= set & BPF_F_SEQ_NUMBER ? SEQ : 0;
	f |= set & (1ull << 4) /* BPF_F_NO_TUNNEL_KEY */ ? 0 : KEY;
	return htons((uint16_t)f);
}

/* What skb_set_tunnel_key stored, seen from the other end: its destination is our source. */
static struct bpf_tunnel_key tunnel_seen(const struct skb_tunnel *t, uint64_t flags)
{
	struct bpf_tunnel_key k = t->key;

	memcpy(k.remote_ipv6, t->key.local_ipv6, sizeof(k.remote_ipv6));
	memcpy(k.local_ipv6, t->key.remote_ipv6, sizeof(k.local_ipv6));
	if (!(flags & BPF_F_TUNINFO_IPV6)) {
		memset(&k.remote_ipv6[1], 0, 12);
		memset(&k.local_ipv6[1], 0, 12);
		k.tunnel_label = 0;
	}
	k.tunnel_flags = 0;
	if (flags & (1ull << 4)) /* BPF_F_TUNINFO_FLAGS */
		k.tunnel_flags = tunnel_flags(t->flags, t->opts_set);
	return k;
}

static int tunnel_get_check(const struct skb_tunnel *t, uint32_t n, uint64_t flags)
{
	bool v6 = t->flags & BPF_F_TUNINFO_IPV6;

	if (!t->set || flags & ~(uint64_t)(BPF_F_TUNINFO_IPV6 | 1ull << 4))
		return -EINVAL;
	if (v6 != !!(flags & BPF_F_TUNINFO_IPV6))
		return -EPROTO;
	return !tunnel_size_ok(n) || (n == KEY_OFF(remote_ipv6[1]) && v6) ? -EINVAL : 0;
}

HELPER_FN(skb_get_tunnel_key, r1, r2, r3, r4, r5)
{
	const struct skb_tunnel *t = &skb_of(r1)->tunnel;
	uint32_t n = (uint32_t)r3;
	int err = tunnel_get_check(t, n, r4);
	struct bpf_tunnel_key k;

	if (err) {
		memset(ptr_of(r2), 0, n);
		return helper_err(err);
	}
	k = tunnel_seen(t, r4);
	memcpy(ptr_of(r2), &k, n);
	return 0;
}

HELPER_FN(skb_set_tunnel_key, r1, r2, r3, r4, r5)
{
	const uint64_t all = BPF_F_TUNINFO_IPV6 | BPF_F_ZERO_CSUM_TX | BPF_F_DONT_FRAGMENT |
			     BPF_F_SEQ_NUMBER | 1ull << 4;
	struct skb_tunnel *t = &skb_of(r1)->tunnel;
	struct bpf_tunnel_key k = { 0 };

	if (r4 & ~all || !tunnel_size_ok((uint32_t)r3))
		return helper_err(-EINVAL);
	memcpy(&k, ptr_of(r2), (uint32_t)r3);
	if ((!(r4 & BPF_F_TUNINFO_IPV6) && k.tunnel_label) || k.tunnel_ext)
		return helper_err(-EINVAL);
	*t = (struct skb_tunnel){ .set = true, .key = k, .flags = r4 };
	t->key.tunnel_label &= 0xfffff;
	return 0;
}

HELPER_FN(skb_get_tunnel_opt, r1, r2, r3, r4, r5)
{
	const struct skb_tunnel *t = &skb_of(r1)->tunnel;
	uint32_t n = (uint32_t)r3;

	memset(ptr_of(r2), 0, n);
	if (!t->set || !t->opts_set)
		return helper_err(-ENOENT);
	if (n < t->n_opts)
		return helper_err(-ENOMEM);
	memcpy(ptr_of(r2), t->opts, t->n_opts);
	return t->n_opts;
}

HELPER_FN(skb_set_tunnel_opt, r1, r2, r3, r4, r5)
{
	struct skb_tunnel *t = &skb_of(r1)->tunnel;
	uint32_t n = (uint32_t)r3;

	if (!t->set || n & 3)
		return helper_err(-EINVAL);
	if (n > SKB_TUN_OPTS_MAX)
		return helper_err(-ENOMEM);
	memcpy(t->opts, ptr_of(r2), n);
	t->n_opts = (uint8_t)n;
	t->opts_set = true;
	return 0;
}

/* No packet was ever decrypted. */
HELPER_FN(skb_get_xfrm_state, r1, r2, r3, r4, r5)
{
	memset(ptr_of(r3), 0, (uint32_t)r4);
	return helper_err(-EINVAL);
}

/* No packet has a route. */
HELPER_FN(get_route_realm, r1, r2, r3, r4, r5)
{
	return 0;
}
