// SPDX-License-Identifier: BSD-2-Clause
/*
 * As script.bpf.c: helpers that do not change the packet. The script is five words of an XDP
 * packet, the text what comes behind them.
 */
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/ip.h>
#include <linux/tcp.h>

char _license[] SEC("license") = "GPL";

#define always_inline static inline __attribute__((always_inline))

struct counter {
	struct bpf_spin_lock lock;
	__u32 n;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct counter);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} percpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8192);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(max_entries, 4);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 5);
	__type(value, __u32);
} queue SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} devices SEC(".maps");

char block[64]; /* memory for dynptrs */
__u64 sum;

always_inline __u32 bits(__u32 w, int from, int n)
{
	return w >> from & ((1u << n) - 1);
}

always_inline __u32 fold(__u32 h, __u64 v)
{
	h = (h ^ (__u32)v) * 0x01000193;
	return (h ^ (__u32)(v >> 32)) * 0x01000193;
}

always_inline __u32 fold_bytes(__u32 h, const char *p, int n)
{
	for (int i = 0; i < n; i++)
		h = (h ^ (__u8)p[i]) * 0x01000193;
	return h;
}

/* Text that is often a number. */
static const char digits[32] = "0123456789 -0x0123456789abcdefX+";

always_inline void text_make(char *text, const __u8 *bytes)
{
	for (int i = 0; i < 24; i++)
		text[i] = digits[bytes[i] & 31];
	if (bytes[0] & 32)
		for (int i = 2; i < 24; i++)
			text[i] = digits[bytes[i] & 7];
}

always_inline __u32 do_number(__u32 h, const char *text, __u32 w)
{
	static const __u8 bases[16] = { 0, 8, 10, 16, 0, 10, 16, 2, 10, 10, 0, 8, 16, 3, 32, 10 };
	__u64 flags = bases[bits(w, 4, 4)];
	unsigned long u = 1;
	long s = 1;
	long used;

	if (bits(w, 8, 1)) {
		used = bpf_strtol(text, bits(w, 9, 1) ? 20 : 7, flags, &s);
		return fold(fold(h, used), used < 0 ? 0 : s);
	}
	used = bpf_strtoul(text, bits(w, 9, 1) ? 20 : 5, flags, &u);
	return fold(fold(h, used), used < 0 ? 0 : u);
}

always_inline __u32 do_format(__u32 h, char *text, __u32 w)
{
	__u64 big = w * 0x9e3779b97f4a7c15ull;
	char out[64] = { 0 };
	__u64 n = 0;

	text[23] = 0;
	switch (bits(w, 4, 4)) {
	case 0:
		n = BPF_SNPRINTF(out, 64, "%d %i %u", w, w, w);
		break;
	case 1:
		n = BPF_SNPRINTF(out, 64, "%lld|%llx|%lu", big, big, big);
		break;
	case 2:
		n = BPF_SNPRINTF(out, 64, "%08x%+d% d%-12dz", w, w, w, w);
		break;
	case 3:
		n = BPF_SNPRINTF(out, 20, "%s and %s", text, text);
		break;
	case 4:
		n = BPF_SNPRINTF(out, 64, "%pI4 %pi4", text, text);
		break;
	case 5:
		n = BPF_SNPRINTF(out, 64, "%pI6", text);
		break;
	case 6:
		n = BPF_SNPRINTF(out, 64, "%pi6", text);
		break;
	case 7:
		n = BPF_SNPRINTF(out, 64, "100%% of %c%c", 'a' + bits(w, 8, 4), 'z');
		break;
	case 8:
		n = BPF_SNPRINTF(out, 64, "%X %10s.", w, text);
		break;
	case 9:
		n = BPF_SNPRINTF(out, 10, "%-40d", w);
		break;
	case 10:
		n = BPF_SNPRINTF(out, 64, "no arguments");
		break;
	case 11:
		n = BPF_SNPRINTF(out, 64, "%s", 8);
		break;
	case 12:
		n = bpf_trace_printk("%d %s\n", 7, w, text, 0);
		break;
	case 13:
		n = bpf_trace_printk("%d %d %d %d", 12, w, w, w);
		break;
	case 14:
		n = bpf_trace_printk("%lq", 4, w);
		break;
	case 15:
		n = bpf_trace_printk("%d", 2, w);
		break;
	}
	return fold(fold_bytes(h, out, 64), n);
}

always_inline __u32 do_compare(__u32 h, const char *text, __u32 w)
{
	long r = bits(w, 4, 1) ? bpf_strncmp(text, 8, "0123") : bpf_strncmp(text, 3, "012345");

	return fold(h, r > 0 ? 1 : r < 0 ? 2 : 0);
}

always_inline __u32 do_dynptr(__u32 h, const char *text, __u32 w)
{
	struct bpf_dynptr d;
	char b[8] = { 0 };
	char *p;

	h = fold(h, bpf_dynptr_from_mem(block, 64, bits(w, 4, 4) == 15, &d));
	h = fold(h, bpf_dynptr_write(&d, bits(w, 8, 7), (void *)text, 8, bits(w, 15, 4) == 15));
	h = fold(h, bpf_dynptr_read(b, 8, &d, bits(w, 19, 7), bits(w, 26, 4) == 15));
	h = fold_bytes(h, b, 8);
	p = bpf_dynptr_data(&d, bits(w, 12, 6), 4);
	return p ? fold_bytes(h, p, 4) : h;
}

always_inline __u32 do_ring(__u32 h, const char *text, __u32 w)
{
	struct bpf_dynptr d;
	__u64 *p;

	switch (bits(w, 4, 3)) {
	case 0:
	case 1:
		h = fold(h, bpf_ringbuf_output(&ring, (void *)text, 20, bits(w, 7, 3)));
		break;
	case 2:
	case 3:
		p = bpf_ringbuf_reserve(&ring, 72, 0);
		h = fold(h, !p);
		if (p && bits(w, 8, 1))
			bpf_ringbuf_submit(p, 0);
		else if (p)
			bpf_ringbuf_discard(p, 0);
		break;
	case 4:
		h = fold(
		    h, bpf_ringbuf_reserve_dynptr(&ring, bits(w, 8, 14), bits(w, 22, 3) == 7, &d));
		h = fold(h, bpf_dynptr_write(&d, bits(w, 24, 7), (void *)text, 8, 0));
		if (bits(w, 7, 1))
			bpf_ringbuf_submit_dynptr(&d, 0);
		else
			bpf_ringbuf_discard_dynptr(&d, 0);
		break;
	}
	return fold(h, bpf_ringbuf_query(&ring, bits(w, 8, 3)));
}

static long add_one(__u32 i, void *arg)
{
	__u32 *stop = arg;

	sum += i;
	return i == *stop;
}

static long add_value(void *map, const void *key, struct counter *value, void *arg)
{
	sum += value->n + *(const __u32 *)key;
	return value->n == *(__u32 *)arg;
}

always_inline __u32 do_loop(__u32 h, __u32 w)
{
	__u32 stop = bits(w, 4, 5);

	sum = w;
	if (bits(w, 9, 1))
		h = fold(h,
			 bpf_for_each_map_elem(&counters, add_value, &stop, bits(w, 10, 4) == 15));
	else
		h = fold(h, bpf_loop(bits(w, 10, 3) == 7 ? 9000000 : bits(w, 13, 6), add_one, &stop,
				     bits(w, 20, 4) == 15));
	return fold(h, sum);
}

always_inline __u32 do_map(__u32 h, struct xdp_md *xdp, const char *text, __u32 w)
{
	__u32 key = bits(w, 8, 4), v = w;
	struct counter *c;
	__u64 *p;

	switch (bits(w, 4, 4)) {
	case 0:
	case 1:
		c = bpf_map_lookup_elem(&counters, &key);
		if (!c)
			return fold(h, 0);
		bpf_spin_lock(&c->lock);
		v = c->n += 3;
		bpf_spin_unlock(&c->lock);
		return fold(h, v);
	case 2:
		p = bpf_map_lookup_percpu_elem(&percpu, &key, bits(w, 12, 2) ? 0 : 100000);
		return fold(h, !p);
	case 3:
		return fold(h, bpf_map_push_elem(&queue, &v, bits(w, 12, 2)));
	case 4:
		h = fold(h, bpf_map_pop_elem(&queue, &v));
		return fold(h, v);
	case 5:
		h = fold(h, bpf_map_peek_elem(&queue, &v));
		return fold(h, v);
	case 6:
		return fold(h, bpf_map_delete_elem(&counters, &key));
	case 7:
		return fold(h, bpf_perf_event_output(xdp, &events,
						     bits(w, 12, 1) ? bits(w, 13, 3)
								    : (__u64)bits(w, 13, 12) << 32 |
									  bits(w, 25, 2),
						     (void *)text, 8));
	}
	return fold(h, bpf_redirect_map(&devices, key, bits(w, 12, 5)));
}

always_inline __u32 do_net(__u32 h, struct xdp_md *xdp, __u32 w)
{
	struct bpf_fib_lookup fib = { 0 };
	struct bpf_sock_tuple tuple = { 0 };
	struct bpf_sock *sk;

	switch (bits(w, 4, 2)) {
	case 0:
		fib.family = bits(w, 6, 1) ? 2 : bits(w, 7, 1) ? 10 : 7;
		fib.ifindex = bits(w, 8, 2) ? 1 : 77777;
		fib.ipv6_src[0] = bpf_htonl(bits(w, 10, 1) ? 0xfe800000 : 0x20010000);
		fib.ipv6_dst[0] = bpf_htonl(bits(w, 11, 1) ? 0xff020000 : 0x20010000);
		return fold(
		    h, bpf_fib_lookup(xdp, &fib, bits(w, 12, 2) ? sizeof(fib) : 8, bits(w, 14, 8)));
	case 1:
		tuple.ipv4.daddr = w;
		sk = bpf_sk_lookup_tcp(xdp, &tuple, sizeof(tuple.ipv4), -1, bits(w, 8, 2) == 3);
		h = fold(h, !sk);
		if (sk)
			bpf_sk_release(sk);
		return h;
	}
	return fold(h, bpf_jiffies64() == 0);
}

/* A cookie is accepted; one that is off by something is not. */
always_inline __u32 do_cookie(__u32 h, __u32 w)
{
	struct {
		struct tcphdr tcp;
		__u8 opt[8];
	} syn = { .opt = { 2, 4, bits(w, 8, 3), 200 } };
	struct iphdr ip = { .version = 4, .ihl = 5, .saddr = w, .daddr = ~w };
	__s64 cookie;

	syn.tcp.source = w;
	syn.tcp.seq = bpf_htonl(w * 3);
	syn.tcp.doff = bits(w, 4, 2) == 3 ? 5 : 7;
	syn.tcp.syn = 1;
	cookie = bpf_tcp_raw_gen_syncookie_ipv4(&ip, &syn.tcp, sizeof(syn));
	h = fold(h, cookie < 0 ? cookie : cookie >> 32);
	if (cookie < 0)
		return h;
	syn.tcp.seq = bpf_htonl(w * 3 + 1);
	syn.tcp.ack_seq = bpf_htonl((__u32)cookie + 1 + (bits(w, 11, 1) ? 1u << 27 : 0));
	return fold(h, bpf_tcp_raw_check_syncookie_ipv4(&ip, &syn.tcp));
}

always_inline __u32 step(__u32 h, struct xdp_md *xdp, char *text, __u32 w)
{
	switch (bits(w, 0, 4)) {
	case 0:
	case 1:
	case 2:
		return do_number(h, text, w);
	case 3:
	case 4:
	case 5:
		return do_format(h, text, w);
	case 6:
		return do_compare(h, text, w);
	case 7:
		return do_dynptr(h, text, w);
	case 8:
	case 9:
		return do_ring(h, text, w);
	case 10:
		return do_loop(h, w);
	case 11:
		return do_net(h, xdp, w);
	case 12:
		return do_cookie(h, w);
	}
	return do_map(h, xdp, text, w);
}

SEC("xdp")
int script_calls(struct xdp_md *xdp)
{
	__u32 h = 0x811c9dc5, w[2] = { 0 };
	__u8 bytes[24] = { 0 };
	char text[24];

	if (bpf_xdp_load_bytes(xdp, 14, w, sizeof(w)) ||
	    bpf_xdp_load_bytes(xdp, 22, bytes, sizeof(bytes)))
		return 1;
	text_make(text, bytes);
	for (int i = 0; i < 2; i++)
		h = step(h, xdp, text, w[i]);
	return (int)h;
}
