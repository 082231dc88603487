/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the length of each packet, and counts by length in maps of several types. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct bits {
	unsigned int low : 4, high : 4, rest : 24;
};

enum size_class { SIZE_SMALL, SIZE_LARGE };

struct length {
	struct bits bits;
	enum size_class size;
	char name[8];
	_Bool odd;
	__s32 negative;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct length);
} lengths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4);
	__type(value, __u32);
} first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} by_length SEC(".maps");

const volatile __u32 most = 100;

SEC("socket")
int trace(struct __sk_buff *skb)
{
	struct length l = { .bits = { .low = skb->len, .high = skb->len / 17, .rest = 1 },
			    .size = skb->len > most ? SIZE_LARGE : SIZE_SMALL,
			    .name = "len",
			    .odd = skb->len & 1,
			    .negative = -(__s32)skb->len };
	__u32 len = skb->len;
	__u64 one = 1, *n;

	bpf_printk("length %u", len);
	bpf_map_update_elem(&lengths, &len, &l, BPF_ANY);
	bpf_map_push_elem(&first, &len, 0);
	n = bpf_map_lookup_elem(&by_length, &len);
	if (n)
		*n += 1;
	else
		bpf_map_update_elem(&by_length, &len, &one, BPF_ANY);
	return len > most ? 60 : 0;
}

char LICENSE[] SEC("license") = "GPL";
