// SPDX-License-Identifier: BSD-2-Clause
/* Timers: each packet starts one; what the callbacks counted is the verdict. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

struct element {
	__u32 fired;
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct element);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u64);
	__type(value, struct element);
} hash SEC(".maps");

__u64 keys; /* sum of the keys that callbacks saw */

static int array_fired(void *map, __u32 *key, struct element *e)
{
	e->fired++;
	keys += *key;
	return 0;
}

static int hash_fired(void *map, __u64 *key, struct element *e)
{
	e->fired++;
	keys += *key;
	return 0;
}

/* Starts the timer of array element 2; its count before. */
SEC("xdp")
int array_timer(struct xdp_md *xdp)
{
	__u32 key = 2;
	struct element *e = bpf_map_lookup_elem(&array, &key);

	if (!e)
		return -1;
	bpf_timer_init(&e->timer, &array, 1);
	bpf_timer_set_callback(&e->timer, array_fired);
	bpf_timer_start(&e->timer, 0, 0);
	return (int)(e->fired + keys * 100);
}

/* The same in a hash table, where the element is made first and removed again in every third run.
 */
SEC("xdp")
int hash_timer(struct xdp_md *xdp)
{
	static __u32 run;
	struct element fresh = { 0 }, *e;
	__u64 key = 7;

	if (++run % 3 == 0) {
		bpf_map_delete_elem(&hash, &key);
		return -1;
	}
	bpf_map_update_elem(&hash, &key, &fresh, BPF_NOEXIST);
	e = bpf_map_lookup_elem(&hash, &key);
	if (!e)
		return -2;
	if (bpf_timer_init(&e->timer, &hash, 1) == 0)
		bpf_timer_set_callback(&e->timer, hash_fired);
	bpf_timer_start(&e->timer, 0, 0);
	return (int)(e->fired + keys * 100);
}

/* Errors, packed as decimal digits of the verdict: two for each call. */
SEC("xdp")
int timer_errors(struct xdp_md *xdp)
{
	__u32 key = 3;
	struct element *e = bpf_map_lookup_elem(&array, &key);
	long v = 0;

	if (!e)
		return -1;
	v = v * 100 - bpf_timer_start(&e->timer, 0, 0);
	v = v * 100 - bpf_timer_init(&e->timer, &array, 5);
	v = v * 100 - bpf_timer_init(&e->timer, &array, 7);
	v = v * 100 - bpf_timer_init(&e->timer, &array, 1);
	return (int)v;
}

/* A running timer is cancelled (1), one that is not is not (0). */
SEC("xdp")
int timer_cancelled(struct xdp_md *xdp)
{
	__u32 key = 1;
	struct element *e = bpf_map_lookup_elem(&array, &key);
	long v = 0;

	if (!e)
		return -1;
	bpf_timer_init(&e->timer, &array, 1);
	bpf_timer_set_callback(&e->timer, array_fired);
	bpf_timer_start(&e->timer, 1000000000, 0);
	v = v * 10 + bpf_timer_cancel(&e->timer);
	v = v * 10 + bpf_timer_cancel(&e->timer);
	return (int)(v * 10 + e->fired);
}
