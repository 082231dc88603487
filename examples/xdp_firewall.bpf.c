/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A firewall: drops what comes from a denied network, what is malformed, and TCP segments that
 * belong to no known connection and open none. Each drop is written to a ring buffer. The deny
 * lists are the user's:
 *
 *	skep run xdp_firewall.bpf.o -i capture.pcap --type drops=drop \
 *		--map 'deny4 24,198.51.100.0 0' --map 'deny6 48,2001:db8:bad:: 0'
 */
#include "parse.h"

struct net4 {
	__u32 prefix_len; /* bits */
	struct in_addr addr;
};

struct net6 {
	__u32 prefix_len; /* bits */
	struct in6_addr addr;
};

struct rule {
	__u64 hits;
};

/* A connection, the same for both directions: the lower (address, port) pair comes first. */
struct conn_key {
	struct in6_addr low, high; /* IPv4 as ::ffff:a.b.c.d */
	__be16 low_port, high_port;
	__u32 proto;
};

struct conn {
	__u64 packets, bytes;
	__u32 tcp_flags; /* all that were seen */
	__u32 pad;
};

enum reason { DENIED = 1, BROKEN, NO_CONNECTION };

struct drop {
	enum reason reason;
	__u32 bytes;
	struct in6_addr src, dst;
	__be16 src_port, dst_port;
	__u32 proto;
};

#define TCP_FIN 1
#define TCP_SYN 2
#define TCP_RST 4

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct net4);
	__type(value, struct rule);
} deny4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct net6);
	__type(value, struct rule);
} deny6 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct conn_key);
	__type(value, struct conn);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} drops SEC(".maps");

static __always_inline struct in6_addr mapped(struct in_addr a)
{
	struct in6_addr r = {};

	r.in6_u.u6_addr32[2] = bpf_htonl(0xffff);
	r.in6_u.u6_addr32[3] = a.s_addr;
	return r;
}

/* < 0, 0, > 0 as memcmp would give, over the four words. */
static __always_inline int addr_compare(const struct in6_addr *a, const struct in6_addr *b)
{
	for (int i = 0; i < 4; i++) {
		__u32 x = bpf_ntohl(a->in6_u.u6_addr32[i]), y = bpf_ntohl(b->in6_u.u6_addr32[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static __always_inline void addresses(const struct parsed *p, struct in6_addr *src,
				      struct in6_addr *dst)
{
	*src = p->family == FAMILY_IPV4 ? mapped(p->src4) : p->src6;
	*dst = p->family == FAMILY_IPV4 ? mapped(p->dst4) : p->dst6;
}

static __always_inline struct conn_key conn_key_of(const struct parsed *p)
{
	struct in6_addr src, dst;
	struct conn_key key = {};
	int order;

	addresses(p, &src, &dst);
	order = addr_compare(&src, &dst);
	if (order < 0 || (order == 0 && bpf_ntohs(p->src_port) <= bpf_ntohs(p->dst_port))) {
		key.low = src;
		key.high = dst;
		key.low_port = p->src_port;
		key.high_port = p->dst_port;
	} else {
		key.low = dst;
		key.high = src;
		key.low_port = p->dst_port;
		key.high_port = p->src_port;
	}
	key.proto = p->proto;
	return key;
}

static __always_inline bool denied(const struct parsed *p)
{
	struct net4 net4 = { 32, p->src4 };
	struct net6 net6 = { 128, p->src6 };
	struct rule *rule;

	if (p->family == FAMILY_IPV4)
		rule = bpf_map_lookup_elem(&deny4, &net4);
	else
		rule = bpf_map_lookup_elem(&deny6, &net6);
	if (!rule)
		return false;
	__sync_fetch_and_add(&rule->hits, 1);
	return true;
}

/* Notes the packet in its connection; false when it is TCP and there is none to belong to. */
static __always_inline bool connected(const struct parsed *p, __u64 bytes)
{
	struct conn_key key = conn_key_of(p);
	struct conn fresh = { 1, bytes, p->tcp_flags, 0 }, *conn;

	conn = bpf_map_lookup_elem(&connections, &key);
	if (!conn) {
		if (p->proto == IPPROTO_TCP && !p->later_fragment && !(p->tcp_flags & TCP_SYN))
			return false;
		bpf_map_update_elem(&connections, &key, &fresh, BPF_ANY);
		return true;
	}
	__sync_fetch_and_add(&conn->packets, 1);
	__sync_fetch_and_add(&conn->bytes, bytes);
	conn->tcp_flags |= p->tcp_flags;
	if (p->tcp_flags & TCP_RST)
		bpf_map_delete_elem(&connections, &key);
	return true;
}

/* A subprogram, so that the object's BTF has struct drop: what --type names. */
static __noinline int describe(struct drop *d, enum reason reason, const struct parsed *p,
			       __u32 bytes)
{
	d->reason = reason;
	d->bytes = bytes;
	addresses(p, &d->src, &d->dst);
	d->src_port = p->src_port;
	d->dst_port = p->dst_port;
	d->proto = p->proto;
	return 0;
}

static __always_inline int drop(enum reason reason, const struct parsed *p, __u64 bytes)
{
	struct drop *d = bpf_ringbuf_reserve(&drops, sizeof(*d), 0);

	if (!d)
		return XDP_DROP;
	describe(d, reason, p, bytes);
	bpf_ringbuf_submit(d, 0);
	return XDP_DROP;
}

SEC("xdp")
int firewall(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 bytes = end - data;
	struct parsed p = {};

	switch (parse_packet(data, end, &p)) {
	case NOT_IP:
		return XDP_PASS;
	case TRUNCATED:
	case MALFORMED:
		return drop(BROKEN, &p, bytes);
	case PARSED:
		break;
	}
	if (denied(&p))
		return drop(DENIED, &p, bytes);
	if (!connected(&p, bytes))
		return drop(NO_CONNECTION, &p, bytes);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
