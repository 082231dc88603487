// SPDX-License-Identifier: BSD-2-Clause
/* Look-ups that are inlined, a program for each kind. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define MAP(name, kind, key_type)                                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##kind);                                                 \
		__type(key, key_type);                                                             \
		__type(value, __u64);                                                              \
		__uint(max_entries, 64);                                                           \
	} name SEC(".maps")

MAP(array, ARRAY, __u32);
MAP(percpu, PERCPU_ARRAY, __u32);
MAP(hash, HASH, __u32);
MAP(lru, LRU_HASH, __u64);
MAP(percpu_hash, PERCPU_HASH, __u32);

#define COUNT(program, map, key_type, key_value)                                                   \
	SEC("xdp")                                                                                 \
	int program(struct xdp_md *ctx)                                                            \
	{                                                                                          \
		key_type key = key_value;                                                          \
		__u64 *value = bpf_map_lookup_elem(&map, &key);                                    \
                                                                                                   \
		if (!value)                                                                        \
			return XDP_PASS;                                                           \
		*value += 1;                                                                       \
		return XDP_DROP;                                                                   \
	}

COUNT(by_cpu, array, __u32, bpf_get_smp_processor_id())
COUNT(by_queue, percpu, __u32, ctx->rx_queue_index)
COUNT(at_three, percpu, __u32, 3)
COUNT(by_hash, hash, __u32, ctx->rx_queue_index)
COUNT(by_lru, lru, __u64, ctx->rx_queue_index)
COUNT(by_percpu_hash, percpu_hash, __u32, ctx->rx_queue_index)

char _license[] SEC("license") = "GPL";
