/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet parsing for the examples: Ethernet, up to two VLAN tags, IPv4 with options, IPv6 with
 * extension headers, and the ports of TCP and UDP (type and code of ICMP).
 */
#ifndef EXAMPLES_PARSE_H
#define EXAMPLES_PARSE_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define VLAN_TAGS_MAX	 2
#define IPV6_EXTS_MAX	 6
#define IP_FRAGMENT_MASK 0x3fff /* more fragments, or an offset */
#define IP_OFFSET_MASK	 0x1fff
#define EXT_FRAGMENT	 44 /* IPPROTO_FRAGMENT */

enum family { FAMILY_NONE, FAMILY_IPV4 = 4, FAMILY_IPV6 = 6 };

/* What was learned of a packet. Ports in network order, 0 where there are none. */
struct parsed {
	enum family family;
	struct in_addr src4, dst4;
	struct in6_addr src6, dst6;
	__be16 src_port, dst_port;
	__u16 vlan; /* id of the outermost tag, 0: none */
	__u8 proto;
	__u8 tcp_flags;
	bool fragment, later_fragment;
};

enum outcome {
	PARSED,
	NOT_IP,	   /* ARP, LLDP, ...: left alone */
	TRUNCATED, /* ends inside a header */
	MALFORMED, /* a header contradicts itself */
};

struct cursor {
	void *at, *end;
};

struct icmp_start {
	__u8 type, code;
	__be16 checksum;
	__be32 rest;
};

struct vlan_tag {
	__be16 tci, proto;
};

struct ext_header {
	__u8 next, len;	 /* len in units of 8 bytes, without the first 8 */
	__be16 fragment; /* fragment header: offset and flags */
};

static __always_inline enum outcome parse_ports(struct cursor *c, struct parsed *p)
{
	struct tcphdr *tcp;
	struct udphdr *udp;
	struct icmp_start *icmp;

	if (p->later_fragment)
		return PARSED;
	switch (p->proto) {
	case IPPROTO_TCP:
		tcp = c->at;
		if ((void *)(tcp + 1) > c->end)
			return TRUNCATED;
		if (tcp->doff < 5)
			return MALFORMED;
		p->src_port = tcp->source;
		p->dst_port = tcp->dest;
		p->tcp_flags = ((__u8 *)tcp)[13];
		return PARSED;
	case IPPROTO_UDP:
		udp = c->at;
		if ((void *)(udp + 1) > c->end)
			return TRUNCATED;
		if (bpf_ntohs(udp->len) < sizeof(*udp))
			return MALFORMED;
		p->src_port = udp->source;
		p->dst_port = udp->dest;
		return PARSED;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		icmp = c->at;
		if ((void *)(icmp + 1) > c->end)
			return TRUNCATED;
		p->dst_port = bpf_htons(icmp->type << 8 | icmp->code);
		return PARSED;
	}
	return PARSED;
}

static __always_inline enum outcome parse_ipv4(struct cursor *c, struct parsed *p)
{
	struct iphdr *ip = c->at;
	__u32 len;

	if ((void *)(ip + 1) > c->end)
		return TRUNCATED;
	len = ip->ihl * 4;
	if (ip->version != 4 || len < sizeof(*ip) || bpf_ntohs(ip->tot_len) < len)
		return MALFORMED;
	p->family = FAMILY_IPV4;
	p->proto = ip->protocol;
	p->src4.s_addr = ip->saddr;
	p->dst4.s_addr = ip->daddr;
	p->fragment = ip->frag_off & bpf_htons(IP_FRAGMENT_MASK);
	p->later_fragment = ip->frag_off & bpf_htons(IP_OFFSET_MASK);
	c->at += len;
	if (c->at > c->end)
		return TRUNCATED;
	return parse_ports(c, p);
}

static __always_inline bool is_extension(__u8 next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == EXT_FRAGMENT ||
	       next == IPPROTO_DSTOPTS;
}

static __always_inline enum outcome parse_ipv6(struct cursor *c, struct parsed *p)
{
	struct ipv6hdr *ip = c->at;
	struct ext_header *ext;
	__u8 next;

	if ((void *)(ip + 1) > c->end)
		return TRUNCATED;
	if (ip->version != 6)
		return MALFORMED;
	p->family = FAMILY_IPV6;
	__builtin_memcpy(&p->src6, &ip->saddr, sizeof(p->src6));
	__builtin_memcpy(&p->dst6, &ip->daddr, sizeof(p->dst6));
	next = ip->nexthdr;
	c->at = ip + 1;
	for (int i = 0; i < IPV6_EXTS_MAX && is_extension(next); i++) {
		ext = c->at;
		if ((void *)ext + 8 > c->end)
			return TRUNCATED;
		if (next == EXT_FRAGMENT) {
			p->fragment = true;
			p->later_fragment = ext->fragment & bpf_htons(0xfff8);
			c->at += 8;
		} else {
			c->at += (ext->len + 1) * 8;
		}
		next = ext->next;
		if (p->later_fragment)
			break;
	}
	p->proto = next;
	if (c->at > c->end)
		return TRUNCATED;
	return is_extension(next) && !p->later_fragment ? MALFORMED : parse_ports(c, p);
}

/* Fills *p, which the caller has zeroed, from the packet between data and end. */
static __always_inline enum outcome parse_packet(void *data, void *end, struct parsed *p)
{
	struct ethhdr *eth = data;
	struct cursor c = { eth + 1, end };
	struct vlan_tag *tag;
	__be16 proto;

	if ((void *)(eth + 1) > end)
		return TRUNCATED;
	proto = eth->h_proto;
	for (int i = 0; i < VLAN_TAGS_MAX; i++) {
		if (proto != bpf_htons(ETH_P_8021Q) && proto != bpf_htons(ETH_P_8021AD))
			break;
		tag = c.at;
		if ((void *)(tag + 1) > end)
			return TRUNCATED;
		if (i == 0)
			p->vlan = bpf_ntohs(tag->tci) & 0xfff;
		proto = tag->proto;
		c.at = tag + 1;
	}
	if (proto == bpf_htons(ETH_P_IP))
		return parse_ipv4(&c, p);
	if (proto == bpf_htons(ETH_P_IPV6))
		return parse_ipv6(&c, p);
	return NOT_IP;
}

#endif
