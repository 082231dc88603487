// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that carry out a script: five words of __sk_buff.cb, or of the packet's first bytes for
 * XDP. Each word is one helper call with arguments made from its bits; results and what the context
 * shows afterwards are folded into one number. The same script is run by the kernel and by skep.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/if_ether.h>

#ifndef BPF_F_IPV6
#define BPF_F_IPV6 (1ULL << 7)
#endif

char _license[] SEC("license") = "GPL";

#define always_inline static inline __attribute__((always_inline))

/* A word of the script. */
always_inline __u32 bits(__u32 w, int from, int n)
{
	return w >> from & ((1u << n) - 1);
}

always_inline __u32 fold(__u32 h, __u64 v)
{
	h = (h ^ (__u32)v) * 0x01000193;
	return (h ^ (__u32)(v >> 32)) * 0x01000193;
}

always_inline __u32 fold_bytes(__u32 h, const __u8 *p, int n)
{
	for (int i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x01000193;
	return h;
}

always_inline __u32 fold_skb(__u32 h, struct __sk_buff *skb)
{
	h = fold(h, skb->len);
	h = fold(h, skb->protocol);
	h = fold(h, skb->pkt_type);
	h = fold(h, skb->vlan_present);
	h = fold(h, skb->vlan_tci);
	h = fold(h, skb->vlan_proto);
	h = fold(h, skb->priority);
	h = fold(h, skb->ifindex);
	return fold(h, skb->ingress_ifindex);
}

/* Directly readable bytes. */
always_inline __u32 fold_direct(__u32 h, struct __sk_buff *skb)
{
	const __u8 *p = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;

	if (p + 40 > end)
		return fold(h, 1);
	return fold_bytes(h, p, 40);
}

always_inline __u32 do_load(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u8 b[16] = { 1 };

	if (bits(w, 4, 1))
		h = fold(h, bpf_skb_load_bytes(skb, bits(w, 5, 12), b, 16));
	else
		h = fold(h, bpf_skb_load_bytes(skb, bits(w, 5, 12), b, 7));
	return fold_bytes(h, b, 16);
}

always_inline __u32 do_load_relative(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u8 b[12] = { 1 };

	h = fold(h, bpf_skb_load_bytes_relative(skb, bits(w, 4, 8), b, 12, bits(w, 12, 2)));
	return fold_bytes(h, b, 12);
}

always_inline __u32 do_store(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u64 v = w * 0x9e3779b97f4a7c15ull;
	__u64 flags = bits(w, 4, 3);

	if (bits(w, 7, 1))
		return fold(h, bpf_skb_store_bytes(skb, bits(w, 8, 9), &v, 8, flags));
	return fold(h, bpf_skb_store_bytes(skb, bits(w, 8, 9), &v, 5, flags));
}

always_inline __u32 do_l3(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u64 from = bits(w, 4, 1) ? w * 7 : 0;

	return fold(h, bpf_l3_csum_replace(skb, bits(w, 5, 7), from, w * 31, bits(w, 12, 3)));
}

always_inline __u32 do_l4(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u64 from = bits(w, 4, 1) ? w * 7 : 0;
	__u64 flags = bits(w, 12, 3) | bits(w, 15, 4) << 4;

	if (flags & BPF_F_IPV6 && !bits(w, 19, 1))
		flags &= ~BPF_F_IPV6;
	return fold(h, bpf_l4_csum_replace(skb, bits(w, 5, 7), from, w * 31, flags));
}

always_inline __u32 do_vlan_push(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u16 proto = bits(w, 4, 1) ? ETH_P_8021Q : bits(w, 5, 1) ? ETH_P_8021AD : 0x1234;

	return fold(h, bpf_skb_vlan_push(skb, bpf_htons(proto), (__u16)(w >> 8)));
}

always_inline __u32 do_proto(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u16 proto = bits(w, 4, 1) ? ETH_P_IP : bits(w, 5, 2) ? ETH_P_IPV6 : ETH_P_ARP;

	return fold(h, bpf_skb_change_proto(skb, bpf_htons(proto), bits(w, 7, 5) == 31));
}

always_inline __u32 do_room(__u32 h, struct __sk_buff *skb, __u32 w)
{
	int by = (int)bits(w, 4, 7) - 50;
	__u32 mode = bits(w, 11, 2);
	__u64 flags = bits(w, 13, 9);

	if (bits(w, 22, 2))
		flags &= 0x1f; /* most of the others do not go together */
	if (bits(w, 24, 3) == 0)
		by *= 40;
	flags |= (__u64)bits(w, 27, 5) << 56;
	/* BPF_ADJ_ROOM_NET moves a whole network header even where the packet is shorter: what then
	 * comes to light is not the same in any two runs of the kernel. */
	if (mode == BPF_ADJ_ROOM_NET && skb->len < 120)
		mode = BPF_ADJ_ROOM_MAC;
	return fold(h, bpf_skb_adjust_room(skb, by, mode, flags));
}

always_inline __u32 do_tail(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u32 n = bits(w, 4, 2) ? skb->len + bits(w, 6, 7) - 64 : bits(w, 6, 16);

	return fold(h, bpf_skb_change_tail(skb, n, bits(w, 22, 6) == 63));
}

always_inline __u32 do_head(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u32 n = bits(w, 4, 3) ? bits(w, 7, 7) : bits(w, 7, 16);

	return fold(h, bpf_skb_change_head(skb, n, bits(w, 24, 6) == 63));
}

always_inline __u32 do_pull(__u32 h, struct __sk_buff *skb, __u32 w)
{
	h = fold(h, bpf_skb_pull_data(skb, bits(w, 4, 10)));
	return fold_direct(h, skb);
}

always_inline __u32 do_csum(__u32 h, struct __sk_buff *skb, __u32 w)
{
	if (bits(w, 4, 1))
		return fold(h, bpf_csum_level(skb, bits(w, 5, 3)));
	return fold(h, bpf_csum_update(skb, bits(w, 5, 16)) < 0);
}

always_inline __u32 do_tunnel(__u32 h, struct __sk_buff *skb, __u32 w)
{
	__u8 opt[12] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct bpf_tunnel_key k;

	__builtin_memset(&k, 0, sizeof(k)); /* an initialiser leaves the rest of unions alone */
	k.tunnel_id = w;
	k.remote_ipv4 = w * 3;
	k.local_ipv4 = w * 5;
	k.tunnel_tos = 7;
	k.tunnel_ttl = 64;
	k.tunnel_label = bits(w, 4, 4) == 15;
	if (bits(w, 8, 1))
		h = fold(h, bpf_skb_set_tunnel_key(skb, &k, sizeof(k), bits(w, 9, 6)));
	if (bits(w, 15, 1))
		h = fold(h, bpf_skb_set_tunnel_opt(skb, opt, 8));
	h = fold(h, bpf_skb_get_tunnel_key(skb, &k, sizeof(k), bits(w, 16, 5)));
	h = fold_bytes(h, (const __u8 *)&k, sizeof(k));
	h = fold(h, bpf_skb_get_tunnel_opt(skb, opt, 12));
	return fold_bytes(h, opt, 12);
}

always_inline __u32 do_misc(__u32 h, struct __sk_buff *skb, __u32 w)
{
	switch (bits(w, 4, 4)) {
	case 0:
		return fold(h, bpf_skb_ecn_set_ce(skb));
	case 1:
		return fold(h, bpf_skb_change_type(skb, bits(w, 8, 3)));
	case 2:
		bpf_set_hash(skb, w);
		return fold(h, bpf_get_hash_recalc(skb));
	case 3:
		bpf_set_hash_invalid(skb);
		return fold(h, skb->hash);
	case 4:
		h = fold(h, bpf_skb_set_tstamp(skb, bits(w, 8, 8), bits(w, 16, 2)));
		return fold(h, skb->tstamp);
	case 5:
		h = fold(h, bpf_get_route_realm(skb));
		return fold(h, bpf_get_cgroup_classid(skb));
	case 6:
		return fold(h, bpf_redirect(bits(w, 8, 2), bits(w, 10, 2)));
	case 7:
		return fold(
		    h, bpf_clone_redirect(skb, bits(w, 8, 2) == 3 ? 77777 : bits(w, 8, 2) * 77777,
					  bits(w, 10, 2) == 3 ? 2 : 0));
	case 8:
		skb->priority = w;
		return fold(h, skb->tc_index);
	case 9: {
		__u32 mtu = bits(w, 8, 17);

		h = fold(h, bpf_check_mtu(skb, bits(w, 25, 2) ? 0 : 77777, &mtu,
					  (int)bits(w, 27, 5), 0));
		return fold(h, mtu);
	}
	case 10: {
		__u32 v[4] = { w, w * 3, w * 5, w * 7 };
		__s64 d = bpf_csum_diff(v, bits(w, 8, 1) ? 8 : 0, v + 2, 8, w);

		d = (d & 0xffff) + (d >> 16 & 0xffff);
		return fold(h, (d & 0xffff) + (d >> 16));
	}
	case 11:
		return fold(h, bpf_redirect_peer(1, bits(w, 8, 1)));
	}
	return fold_direct(h, skb);
}

always_inline __u32 step(__u32 h, struct __sk_buff *skb, __u32 w)
{
	switch (bits(w, 0, 4)) {
	case 0:
		return do_load(h, skb, w);
	case 1:
		return do_load_relative(h, skb, w);
	case 2:
	case 3:
		return do_store(h, skb, w);
	case 4:
		return do_l3(h, skb, w);
	case 5:
		return do_l4(h, skb, w);
	case 6:
		return do_vlan_push(h, skb, w);
	case 7:
		return fold(h, bpf_skb_vlan_pop(skb));
	case 8:
		return do_proto(h, skb, w);
	case 9:
	case 10:
		return do_room(h, skb, w);
	case 11:
		return do_tail(h, skb, w);
	case 12:
		return do_head(h, skb, w);
	case 13:
		return bits(w, 4, 1) ? do_pull(h, skb, w) : do_csum(h, skb, w);
	case 14:
		return do_tunnel(h, skb, w);
	}
	return do_misc(h, skb, w);
}

/* The script. The context is only read at constant offsets. */
#define SCRIPT(skb) { skb->cb[0], skb->cb[1], skb->cb[2], skb->cb[3], skb->cb[4] }

SEC("tc")
int script_tc(struct __sk_buff *skb)
{
	__u32 h = 0x811c9dc5, w[5] = SCRIPT(skb);

	for (int i = 0; i < 5; i++) {
		h = step(h, skb, w[i]);
		h = fold_skb(h, skb);
	}
	skb->mark = h;
	return (int)(h & 0xff);
}

always_inline __u32 step_lwt(__u32 h, struct __sk_buff *skb, __u32 w)
{
	switch (bits(w, 0, 4)) {
	case 0:
		return do_load(h, skb, w);
	case 1:
		return do_store(h, skb, w);
	case 2:
		return do_l3(h, skb, w);
	case 3:
		return do_l4(h, skb, w);
	case 4:
		return do_tail(h, skb, w);
	case 5:
		return do_head(h, skb, w);
	case 6:
		return do_pull(h, skb, w);
	case 7:
		return do_csum(h, skb, w);
	case 8:
		return do_tunnel(h, skb, w);
	}
	return fold_direct(h, skb);
}

SEC("lwt_xmit")
int script_lwt(struct __sk_buff *skb)
{
	__u32 h = 0x811c9dc5, w[5] = SCRIPT(skb);

	for (int i = 0; i < 5; i++) {
		h = step_lwt(h, skb, w[i]);
		h = fold(h, skb->len);
		h = fold(h, skb->protocol);
	}
	skb->mark = h;
	return (int)(h & 0xff);
}

SEC("socket")
int script_socket(struct __sk_buff *skb)
{
	__u32 h = 0x811c9dc5, w[5] = SCRIPT(skb);

	for (int i = 0; i < 5; i++) {
		h = bits(w[i], 0, 1) ? do_load(h, skb, w[i]) : do_load_relative(h, skb, w[i]);
		h = fold(h, skb->len);
		h = fold(h, skb->protocol);
		h = fold(h, skb->pkt_type);
	}
	return (int)h;
}

SEC("cgroup_skb/egress")
int script_cgroup(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	__u32 h = 0x811c9dc5, w[5] = SCRIPT(skb);

	for (int i = 0; i < 5; i++)
		h = do_load_relative(h, skb, w[i]);
	h = fold(h, skb->family);
	h = fold(h, skb->remote_ip4);
	h = fold(h, skb->local_ip4);
	h = fold(h, skb->remote_port);
	h = fold(h, skb->local_port);
	h = fold(h, bpf_skb_ecn_set_ce(skb));
	h = fold(h, bpf_get_socket_uid(skb));
	if (!sk)
		return 1;
	sk = bpf_sk_fullsock(sk);
	if (!sk)
		return 2;
	h = fold(h, sk->family);
	h = fold(h, sk->type);
	h = fold(h, sk->protocol);
	h = fold(h, sk->state);
	h = fold(h, sk->bound_dev_if);
	h = fold(h, sk->src_ip4);
	h = fold(h, sk->rx_queue_mapping);
	skb->mark = h;
	return (int)(h & 1);
}

always_inline __u32 step_xdp(__u32 h, struct xdp_md *xdp, __u32 w)
{
	int by = (int)bits(w, 3, 9) - 256;
	__u8 b[16] = { 1 };
	__u32 mtu = bits(w, 12, 18);

	if (bits(w, 31, 1))
		by >>= 3;
	switch (bits(w, 0, 3)) {
	case 0:
		return fold(h, bpf_xdp_adjust_head(xdp, by));
	case 1:
		return fold(h, bpf_xdp_adjust_tail(xdp, bits(w, 30, 1) ? by * 16 : by));
	case 2:
		return fold(h, bpf_xdp_adjust_meta(xdp, bits(w, 30, 1) ? by : by & ~3));
	case 3:
		h = fold(h, bpf_xdp_load_bytes(xdp, bits(w, 3, 14), b, 16));
		return fold_bytes(h, b, 16);
	case 4:
		return fold(h, bpf_xdp_store_bytes(xdp, bits(w, 3, 14), &w, 4));
	case 5:
		return fold(h, bpf_redirect(bits(w, 3, 2), bits(w, 5, 1)));
	case 6:
		h = fold(h, bpf_check_mtu(xdp, bits(w, 3, 1) ? 0 : 77777, &mtu, by, 0));
		return fold(h, mtu);
	}
	return fold(h, bpf_xdp_get_buff_len(xdp));
}

always_inline __u32 fold_xdp(__u32 h, struct xdp_md *xdp)
{
	const __u8 *p = (void *)(long)xdp->data, *end = (void *)(long)xdp->data_end;
	const __u8 *meta = (void *)(long)xdp->data_meta;

	h = fold(h, bpf_xdp_get_buff_len(xdp));
	h = fold(h, xdp->ingress_ifindex);
	h = fold(h, xdp->rx_queue_index);
	if (meta + 4 <= p)
		h = fold_bytes(h, meta, 4);
	if (p + 14 > end)
		return h;
	return fold_bytes(h, p, 14);
}

always_inline int script_of(struct xdp_md *xdp)
{
	__u32 h = 0x811c9dc5, w[5] = { 0 };

	if (bpf_xdp_load_bytes(xdp, 14, w, sizeof(w)))
		return 1;
	for (int i = 0; i < 5; i++) {
		h = step_xdp(h, xdp, w[i]);
		h = fold_xdp(h, xdp);
	}
	return (int)h;
}

SEC("xdp")
int script_xdp(struct xdp_md *xdp)
{
	return script_of(xdp);
}

SEC("xdp.frags")
int script_frags(struct xdp_md *xdp)
{
	return script_of(xdp);
}
