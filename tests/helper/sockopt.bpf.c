// SPDX-License-Identifier: BSD-2-Clause
/* Carries out calls of bpf_setsockopt and bpf_getsockopt that user space writes into a map. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef barrier_var
#define barrier_var(v) asm volatile("" : "+r"(v))
#endif

char _license[] SEC("license") = "GPL";

struct call {
	__s32 level, number, size, set;
	__s32 result;
	__u8 value[20];
};

enum { CALLS = 64 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALLS);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

static __attribute__((noinline)) int calls_run(struct bpf_sock_addr *ctx)
{
	for (__u32 i = 0; i < CALLS; i++) {
		__u32 key = i;
		struct call *c = bpf_map_lookup_elem(&calls, &key);
		__u32 n;

		if (!c || !c->size)
			continue;
		n = c->size;
		if (n < 1)
			continue;
		barrier_var(n); /* clang would make one comparison of these two */
		if (n > sizeof(c->value))
			continue;
		if (c->set)
			c->result = bpf_setsockopt(ctx, c->level, c->number, c->value, n);
		else
			c->result = bpf_getsockopt(ctx, c->level, c->number, c->value, n);
	}
	return 1;
}

SEC("cgroup/connect4")
int on_connect4(struct bpf_sock_addr *ctx)
{
	return calls_run(ctx);
}

SEC("cgroup/connect6")
int on_connect6(struct bpf_sock_addr *ctx)
{
	return calls_run(ctx);
}
