/* SPDX-License-Identifier: BSD-2-Clause */
/* An object as it was written before BTF: maps in a section called `maps`. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct legacy_map_def {
	unsigned int type, key_size, value_size, max_entries, map_flags;
};

struct legacy_map_def SEC("maps") counters = {
	.type = BPF_MAP_TYPE_ARRAY,
	.key_size = sizeof(__u32),
	.value_size = sizeof(__u64),
	.max_entries = 4,
};

SEC("xdp")
int count(struct xdp_md *ctx)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&counters, &zero);

	if (n)
		(*n)++;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
