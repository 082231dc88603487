/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flow counter: packets and bytes of each 5-tuple, and what kinds of packets there were. Passes
 * what it understands and what is not IP; drops what is truncated or malformed.
 *
 *	skep run xdp_flow.bpf.o -i capture.pcap
 */
#include "parse.h"

/* Exactly one of the two address pairs is used, as family says; the other is zero. */
struct flow_key {
	enum family family;
	__u16 vlan;
	__u8 proto, pad;
	struct in_addr src4, dst4;
	struct in6_addr src6, dst6;
	__be16 src_port, dst_port;
};

struct counter {
	__u64 packets, bytes;
};

struct stats {
	struct counter ipv4, ipv6, vlan, fragment, not_ip, truncated, malformed;
	struct counter no_room; /* the table of flows is full */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct flow_key);
	__type(value, struct counter);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stats);
} stats SEC(".maps");

static __always_inline void count(struct counter *c, __u64 bytes)
{
	c->packets++;
	c->bytes += bytes;
}

static __always_inline bool count_flow(const struct parsed *p, __u64 bytes)
{
	struct counter first = { 1, bytes }, *c;
	struct flow_key key = {
		.family = p->family,
		.vlan = p->vlan,
		.proto = p->proto,
		.src4 = p->src4,
		.dst4 = p->dst4,
		.src6 = p->src6,
		.dst6 = p->dst6,
		.src_port = p->src_port,
		.dst_port = p->dst_port,
	};

	c = bpf_map_lookup_elem(&flows, &key);
	if (!c)
		return !bpf_map_update_elem(&flows, &key, &first, BPF_NOEXIST);
	__sync_fetch_and_add(&c->packets, 1);
	__sync_fetch_and_add(&c->bytes, bytes);
	return true;
}

SEC("xdp")
int flow_count(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 bytes = end - data;
	struct parsed p = {};
	struct stats *s;
	__u32 zero = 0;

	s = bpf_map_lookup_elem(&stats, &zero);
	if (!s)
		return XDP_ABORTED;
	switch (parse_packet(data, end, &p)) {
	case TRUNCATED:
		count(&s->truncated, bytes);
		return XDP_DROP;
	case MALFORMED:
		count(&s->malformed, bytes);
		return XDP_DROP;
	case NOT_IP:
		count(&s->not_ip, bytes);
		return XDP_PASS;
	case PARSED:
		break;
	}
	count(p.family == FAMILY_IPV4 ? &s->ipv4 : &s->ipv6, bytes);
	if (p.vlan)
		count(&s->vlan, bytes);
	if (p.fragment)
		count(&s->fragment, bytes);
	if (!count_flow(&p, bytes))
		count(&s->no_room, bytes);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
