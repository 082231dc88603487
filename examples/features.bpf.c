/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features of BPF C in one object: variables in .data, .bss and .rodata, static and global
 * subprograms, a callback run by bpf_loop, tail calls through an array filled by the loader.
 *
 *	skep run features.bpf.o -p classify -i capture.pcap --set limit=32
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum handler { HANDLE_IPV4, HANDLE_IPV6, HANDLE_OTHER, HANDLERS };

const volatile __u32 limit = 64; /* .rodata: bytes of each packet that go into its hash */
const volatile char greeting[] = "hello from .rodata";

__u32 seed = 2166136261u;	 /* .data */
__u64 handled_as[HANDLERS];	 /* .bss: packets by handler */
__u64 hash_of_all;		 /* .bss */
__u64 tail_calls_missed;	 /* .bss */
static volatile __u64 odd = 100; /* .data, static */

int handle_ipv4(struct xdp_md *ctx);
int handle_ipv6(struct xdp_md *ctx);
int handle_other(struct xdp_md *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, HANDLERS + 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} handlers SEC(".maps") = {
	.values = {
		[HANDLE_IPV4] = (void *)&handle_ipv4,
		[HANDLE_IPV6] = (void *)&handle_ipv6,
		[HANDLE_OTHER] = (void *)&handle_other,
	},
};

struct hash_state {
	struct xdp_md *ctx;
	__u32 hash;
};

/* Callback of bpf_loop: byte i into the hash; 1 ends the loop at the end of the packet. */
static long hash_byte(__u32 i, struct hash_state *state)
{
	void *data = (void *)(long)state->ctx->data, *end = (void *)(long)state->ctx->data_end;
	__u8 *byte = data + (i & 0xfff);

	if ((void *)(byte + 1) > end)
		return 1;
	state->hash = (state->hash ^ *byte) * 16777619u;
	return 0;
}

/* A static subprogram. */
static __noinline __u32 hash_packet(struct xdp_md *ctx)
{
	struct hash_state state = { ctx, seed };

	bpf_loop(limit, hash_byte, &state, 0);
	return state.hash;
}

/* A global subprogram: verified on its own, its argument can be anything. */
__noinline int mix(__u32 hash)
{
	odd += hash & 1;
	return hash ^ hash >> 15;
}

static __always_inline int handled(enum handler h, int verdict)
{
	__sync_fetch_and_add(&handled_as[h], 1);
	return verdict;
}

SEC("xdp")
int handle_ipv4(struct xdp_md *ctx)
{
	return handled(HANDLE_IPV4, XDP_PASS);
}

SEC("xdp")
int handle_ipv6(struct xdp_md *ctx)
{
	return handled(HANDLE_IPV6, XDP_TX);
}

SEC("xdp")
int handle_other(struct xdp_md *ctx)
{
	return handled(HANDLE_OTHER, XDP_DROP);
}

SEC("xdp")
int classify(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	enum handler h = HANDLERS; /* an empty slot: the tail call fails */

	hash_of_all += mix(hash_packet(ctx));
	if ((void *)(eth + 1) <= end) {
		if (eth->h_proto == bpf_htons(ETH_P_IP))
			h = HANDLE_IPV4;
		else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
			h = HANDLE_IPV6;
		else if (eth->h_proto != bpf_htons(ETH_P_ARP))
			h = HANDLE_OTHER;
	}
	bpf_tail_call(ctx, &handlers, h);
	tail_calls_missed++;
	return XDP_ABORTED;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
