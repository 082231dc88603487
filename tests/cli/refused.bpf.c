// SPDX-License-Identifier: BSD-2-Clause
/* Programs that the verifier refuses, one that it takes, and one whose map cannot be made. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct counts {
	__u64 packets, bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct counts);
	__uint(max_entries, 16);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* There is no such map in skep yet. */
struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 16);
} sockets SEC(".maps");

SEC("xdp")
int accepted(struct xdp_md *ctx)
{
	__u32 key = 1;
	struct counts *c = bpf_map_lookup_elem(&counts, &key);

	if (c)
		c->packets++;
	return XDP_PASS;
}

SEC("xdp")
int no_null_check(struct xdp_md *ctx)
{
	__u32 key = ctx->ingress_ifindex;
	struct counts *c = bpf_map_lookup_elem(&counts, &key);

	c->packets++;
	return XDP_PASS;
}

SEC("xdp")
int no_bounds_check(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data;

	return data[12];
}

SEC("tc")
int leak(struct __sk_buff *skb)
{
	__u64 *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);

	if (!record)
		return 0;
	*record = skb->len;
	if (skb->len > 100)
		return 1;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

SEC("sk_skb/stream_verdict")
int redirect(struct __sk_buff *skb)
{
	return bpf_sk_redirect_map(skb, &sockets, 0, 0);
}
