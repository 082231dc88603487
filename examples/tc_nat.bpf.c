/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-to-one NAT for IPv4: a source address in `sources` and a destination address in
 * `destinations` is replaced, and the checksums of IP, TCP, UDP are corrected, not recomputed.
 *
 *	skep run tc_nat.bpf.o -i in.pcap -o out.pcap \
 *		--map 'sources 10.0.0.1 203.0.113.1' --map 'destinations 203.0.113.1 10.0.0.1'
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stddef.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct rewrites {
	__u64 sources, destinations, errors;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct in_addr);
	__type(value, struct in_addr);
} sources SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct in_addr);
	__type(value, struct in_addr);
} destinations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rewrites);
} rewritten SEC(".maps");

#define IP_OFF	       ETH_HLEN
#define IP_OFFSET_MASK 0x1fff

/* Where the transport header's checksum lies, or 0: none, or not to be touched. */
static __always_inline __u32 checksum_offset(struct __sk_buff *skb, const struct iphdr *ip)
{
	__u32 l4 = IP_OFF + ip->ihl * 4;
	__be16 sum;

	if (ip->frag_off & bpf_htons(IP_OFFSET_MASK))
		return 0;
	if (ip->protocol == IPPROTO_TCP)
		return l4 + offsetof(struct tcphdr, check);
	if (ip->protocol != IPPROTO_UDP)
		return 0;
	if (bpf_skb_load_bytes(skb, l4 + offsetof(struct udphdr, check), &sum, sizeof(sum)) || !sum)
		return 0;
	return l4 + offsetof(struct udphdr, check);
}

/* Replaces the address at `offset` of the IP header. 0, or a negative number when the packet is
 * too short, in which case it must not be passed on. */
static __always_inline int rewrite(struct __sk_buff *skb, const struct iphdr *ip, __u32 offset,
				   __be32 old, __be32 new)
{
	__u64 flags = BPF_F_PSEUDO_HDR | sizeof(new);
	__u32 l4_sum = checksum_offset(skb, ip);
	int err;

	if (ip->protocol == IPPROTO_UDP)
		flags |= BPF_F_MARK_MANGLED_0;
	if (l4_sum) {
		err = bpf_l4_csum_replace(skb, l4_sum, old, new, flags);
		if (err)
			return err;
	}
	err =
	    bpf_l3_csum_replace(skb, IP_OFF + offsetof(struct iphdr, check), old, new, sizeof(new));
	if (err)
		return err;
	return bpf_skb_store_bytes(skb, IP_OFF + offset, &new, sizeof(new), 0);
}

/* 1: rewritten, 0: no such address, < 0: error. */
static __always_inline int rewrite_by(struct __sk_buff *skb, void *map, const struct iphdr *ip,
				      __u32 offset, __be32 address)
{
	struct in_addr key = { address }, *to = bpf_map_lookup_elem(map, &key);
	int err;

	if (!to)
		return 0;
	err = rewrite(skb, ip, offset, address, to->s_addr);
	return err ? err : 1;
}

SEC("tc")
int nat(struct __sk_buff *skb)
{
	struct rewrites *count;
	struct iphdr ip;
	__u32 zero = 0;
	int src, dst;

	count = bpf_map_lookup_elem(&rewritten, &zero);
	if (!count || skb->protocol != bpf_htons(ETH_P_IP))
		return TC_ACT_OK;
	if (bpf_skb_load_bytes(skb, IP_OFF, &ip, sizeof(ip)) || ip.version != 4 || ip.ihl < 5)
		return TC_ACT_SHOT;
	src = rewrite_by(skb, &sources, &ip, offsetof(struct iphdr, saddr), ip.saddr);
	dst = rewrite_by(skb, &destinations, &ip, offsetof(struct iphdr, daddr), ip.daddr);
	if (src < 0 || dst < 0) {
		count->errors++;
		return TC_ACT_SHOT;
	}
	count->sources += src;
	count->destinations += dst;
	return TC_ACT_OK;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
