/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `skep bench` runs: each program does one operation many times over, and returns how often
 * it worked. XDP programs, for their test runs cost least. The packet begins with a struct job.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef __u32 u32;
typedef __u64 u64;

enum { BATCH = 5000, SOME = 250, CPUS = 512, ENTRIES = 1024 };

/* Element number i of a run is (first + i * step) & mask. */
struct job {
	u32 first, step, mask;
};

struct key {
	u32 w[10];
};

struct counter {
	u64 n;
} __attribute__((aligned(64)));

#define MAP(name, map_type, key_bytes, flags)                                                      \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_##map_type);                                             \
		__uint(max_entries, ENTRIES);                                                      \
		__uint(key_size, key_bytes);                                                       \
		__uint(value_size, 8);                                                             \
		__uint(map_flags, flags);                                                          \
	} name SEC(".maps");

static __always_inline int job_of(struct xdp_md *ctx, struct job *job)
{
	const struct job *in = (const void *)(long)ctx->data;

	if ((const void *)(in + 1) > (const void *)(long)ctx->data_end)
		return 0;
	*job = *in;
	return 1;
}

/* One program: `body` for each of `times` elements, whose number is in word `at` of the key. */
#define PROGRAM(name, times, at, body)                                                             \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		struct key key = { { 32 } };                                                       \
		struct job job;                                                                    \
		u64 one = 1, n = 0;                                                                \
                                                                                                   \
		if (!job_of(ctx, &job))                                                            \
			return 0;                                                                  \
		for (u32 i = 0; i < times; i++) {                                                  \
			key.w[at] = job.first & job.mask;                                          \
			job.first += job.step;                                                     \
			body;                                                                      \
		}                                                                                  \
		return (int)(n + one - 1);                                                         \
	}

#define LOOKUP(map)                                                                                \
	{                                                                                          \
		u64 *v = bpf_map_lookup_elem(&map, &key);                                          \
                                                                                                   \
		if (v)                                                                             \
			n += *v;                                                                   \
	}

#define READS(map, at) PROGRAM(map##_lookup, SOME, at, LOOKUP(map))
#define REPLACES(map, at)                                                                          \
	PROGRAM(map##_replace, SOME, at, n += !bpf_map_update_elem(&map, &key, &one, BPF_ANY))
#define CHANGES(map, at)                                                                           \
	PROGRAM(map##_update, SOME, at, n += !bpf_map_update_elem(&map, &key, &one, BPF_NOEXIST))  \
	PROGRAM(map##_delete, SOME, at, n += !bpf_map_delete_elem(&map, &key))

#define ARRAY(name, type) MAP(name, type, 4, 0) READS(name, 0) REPLACES(name, 0)
#define TABLE(name, type, key_bytes, flags, at)                                                    \
	MAP(name, type, key_bytes, flags) READS(name, at) REPLACES(name, at) CHANGES(name, at)
#define LIST(name, type)                                                                           \
	MAP(name, type, 0, 0)                                                                      \
	PROGRAM(name##_update, SOME, 0, n += !bpf_map_push_elem(&name, &one, 0))                   \
	PROGRAM(name##_lookup, SOME, 0, n += !bpf_map_peek_elem(&name, &one))                      \
	PROGRAM(name##_delete, SOME, 0, n += !bpf_map_pop_elem(&name, &one))

ARRAY(array, ARRAY)
ARRAY(percpu_array, PERCPU_ARRAY)
TABLE(hash, HASH, 4, 0, 0)
TABLE(hash8, HASH, 8, 0, 0)
TABLE(hash13, HASH, 13, 0, 0)
TABLE(hash16, HASH, 16, 0, 0)
TABLE(hash40, HASH, 40, 0, 0)
TABLE(hash_nopre, HASH, 4, BPF_F_NO_PREALLOC, 0)
TABLE(percpu_hash, PERCPU_HASH, 4, 0, 0)
TABLE(lru_hash, LRU_HASH, 4, 0, 0)
TABLE(lru_own, LRU_HASH, 4, BPF_F_NO_COMMON_LRU, 0)
TABLE(lru_percpu_hash, LRU_PERCPU_HASH, 4, 0, 0)
TABLE(lpm, LPM_TRIE, 8, BPF_F_NO_PREALLOC, 1)
LIST(queue, QUEUE)
LIST(stack, STACK)

/* New elements in a map that is full. */
PROGRAM(lru_hash_evict, SOME, 0, n += !bpf_map_update_elem(&lru_hash, &key, &one, BPF_ANY))
PROGRAM(lru_own_evict, SOME, 0, n += !bpf_map_update_elem(&lru_own, &key, &one, BPF_ANY))

/* system.md P8 */
struct counter counters[CPUS];

MAP(one_array, PERCPU_ARRAY, 4, 0)
MAP(one_hash, PERCPU_HASH, 4, 0)

SEC("xdp") int glob_arr_inc(struct xdp_md *ctx)
{
	for (u32 i = 0; i < BATCH; i++)
		counters[bpf_get_smp_processor_id() & (CPUS - 1)].n += 1;
	return BATCH;
}

SEC("xdp") int arr_inc(struct xdp_md *ctx)
{
	u32 key = 0;

	for (u32 i = 0; i < BATCH; i++) {
		u64 *v = bpf_map_lookup_elem(&one_array, &key);

		if (v)
			*v += 1;
	}
	return BATCH;
}

SEC("xdp") int hash_inc(struct xdp_md *ctx)
{
	u32 key = 0;

	for (u32 i = 0; i < BATCH; i++) {
		u64 *v = bpf_map_lookup_elem(&one_hash, &key);

		if (v)
			*v += 1;
	}
	return BATCH;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
