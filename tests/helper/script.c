// SPDX-License-Identifier: BSD-2-Clause
/*
 * script OBJECT PROGRAM COUNT SEED: runs a program of script.bpf.c COUNT times with random packets,
 * scripts, contexts and attributes and prints what comes out, one line each. Built twice, with the
 * system's libbpf (the kernel runs it) and with skep's: the outputs are to be the same.
 * Exit status: 0; 77 when bpf(2) is not allowed here; else 1.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 77, OUT_MAX = 128 << 10, IN_MAX = 96 << 10 };

static uint64_t state;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % below);
}

static bool one_in(uint32_t n)
{
	return rnd(n) == 0;
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Ethernet, none to two VLAN tags, IPv4, IPv6 or something else; the rest is random. */
static void packet_make(uint8_t *p, uint32_t n)
{
	static const uint16_t types[] = { 0x0800, 0x86dd, 0x0800, 0x86dd, 0x0806, 0x1234, 0x0100 };
	uint16_t type = types[rnd(7)];
	uint32_t at = 12;

	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)rnd(256);
	if (one_in(3))
		memset(p, one_in(2) ? 0 : 255, 6);
	for (uint32_t tags = one_in(3) ? 1 + rnd(2) : 0; tags && at + 6 < n; tags--, at += 4)
		put16(p + at, one_in(3) ? 0x88a8 : 0x8100);
	if (at + 4 > n)
		return;
	put16(p + at, type);
	if (one_in(4))
		p[at + 2] = p[at + 3] = 0xff;
	else
		p[at + 2] = type == 0x86dd ? 0x60 : 0x45;
}

static uint32_t length_make(bool xdp, bool frags)
{
	if (one_in(40))
		return rnd(20);
	if (frags && one_in(2))
		return 3000 + rnd(one_in(8) ? 80000 : 12000);
	return one_in(12) ? 3500 + rnd(300) : 14 + rnd(xdp ? 400 : 200);
}

static void skb_ctx_make(struct __sk_buff *c, uint32_t len)
{
	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < 5; i++)
		c->cb[i] = rnd(UINT32_MAX);
	c->mark = rnd(1000);
	c->priority = rnd(1000);
	c->tstamp = rnd(5);
	c->ingress_ifindex = one_in(5);
	c->ifindex = one_in(30) ? 77777 : rnd(2);
	c->wire_len = one_in(8) ? len + rnd(100) : 0;
	c->gso_size = one_in(12) ? rnd(1000) : 0;
	c->gso_segs = one_in(12) ? rnd(70000) : 0;
	c->hwtstamp = rnd(3);
	if (one_in(40))
		((uint8_t *)c)[rnd(sizeof(*c))] ^= 1;
}

static void xdp_ctx_make(struct xdp_md *c, uint32_t len)
{
	memset(c, 0, sizeof(*c));
	c->data = one_in(2) ? rnd(16) * 4 : 0;
	c->data_end = len < 3520 ? len : 3520;
	c->ingress_ifindex = rnd(2);
	if (one_in(30))
		((uint8_t *)c)[rnd(sizeof(*c))] ^= 1;
}

/* Not every bit of these is the same in any two runs. */
static void print_ctx(const struct bpf_test_run_opts *o, int err)
{
	const uint8_t *p = o->ctx_out;

	if (err || !p)
		return;
	printf(" ctx %u ", o->ctx_size_out);
	for (uint32_t i = 0; i < o->ctx_size_out; i++)
		printf("%02x", p[i]);
}

static uint64_t sum_of(const uint8_t *p, uint32_t n)
{
	uint64_t h = 14695981039346656037u;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 1099511628211u;
	return h;
}

static void print_data(const struct bpf_test_run_opts *o, uint32_t room)
{
	const uint8_t *p = o->data_out;
	uint32_t n = o->data_size_out < room ? o->data_size_out : room;

	printf(" data %u %016llx ", o->data_size_out, (unsigned long long)sum_of(p, n));
	for (uint32_t i = 0; i < n && i < 64; i++)
		printf("%02x", p[i]);
}

/* With BPF_F_TEST_SKB_CHECKSUM_COMPLETE. Kernels (6.18 for one) crash with it when the program cuts
 * the packet off before its network header, so such words of the script become others. */
static void checksum_ask(struct bpf_test_run_opts *o, struct __sk_buff *c)
{
	enum { CHANGE_TAIL = 11, ADJUST_ROOM = 10 };

	o->flags = 1 << 2;
	for (unsigned i = 0; i < 5; i++)
		if ((c->cb[i] & 15) == CHANGE_TAIL)
			c->cb[i] = (c->cb[i] & ~15u) | ADJUST_ROOM;
}

static void run_once(int fd, unsigned i, const char *name)
{
	bool frags = strcmp(name, "script_frags") == 0;
	bool xdp = frags || strcmp(name, "script_xdp") == 0 || strcmp(name, "script_calls") == 0;
	bool tc = strcmp(name, "script_tc") == 0;
	static uint8_t in[IN_MAX], out[OUT_MAX], ctx_in[256], ctx_out[256];
	uint32_t n, size;
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = in, .data_out = out, .data_size_out = OUT_MAX);
	int err;

	size = xdp ? 24 : 192;
	n = o.data_size_in = length_make(xdp, frags);
	o.repeat = one_in(8) ? 2 : 1;
	memset(out, 0xee, sizeof(out));
	memset(ctx_in, 0, sizeof(ctx_in));
	packet_make(in, n);
	if (xdp)
		xdp_ctx_make((struct xdp_md *)ctx_in, n);
	else
		skb_ctx_make((struct __sk_buff *)ctx_in, xdp ? n : n > 14 ? n : 14);
	if (one_in(20))
		o.data_size_out = 1 + rnd(200);
	if (!xdp || one_in(2)) {
		o.ctx_in = ctx_in;
		o.ctx_size_in = one_in(20) ? rnd(256) : size;
		o.ctx_out = ctx_out;
		o.ctx_size_out = one_in(30) ? 1 + rnd(size) : sizeof(ctx_out);
	}
	if (tc && one_in(4))
		checksum_ask(&o, (struct __sk_buff *)ctx_in);
	if (one_in(50))
		o.flags |= 1;
	if (!xdp && one_in(50))
		o.cpu = 1;
	err = bpf_prog_test_run_opts(fd, &o);
	printf("%u n %u: %d", i, n, err);
	if (!err || err == -ENOSPC) {
		printf(" ret %08x", o.retval);
		print_data(&o, err ? o.data_size_out : OUT_MAX);
	}
	print_ctx(&o, err);
	putchar('\n');
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static int load(const char *path, const char *name, struct bpf_object **out)
{
	struct bpf_object *o = bpf_object__open(path);
	struct bpf_program *p;
	int err;

	if (!o)
		return -errno;
	bpf_object__for_each_program(p, o)
	    bpf_program__set_autoload(p, strcmp(bpf_program__name(p), name) == 0);
	err = bpf_object__load(o);
	*out = o;
	return err ? err : bpf_program__fd(bpf_object__find_program_by_name(o, name));
}

int main(int argc, char **argv)
{
	struct bpf_object *o = NULL;
	int fd;

	if (argc != 5)
		return 1;
	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	fd = load(argv[1], argv[2], &o);
	if (fd < 0)
		return fd == -EPERM ? SKIP : 1;
	state = strtoull(argv[4], NULL, 0) * 0x9e3779b97f4a7c15u + 1;
	for (unsigned i = 0; i < (unsigned)atoi(argv[3]); i++)
		run_once(fd, i, argv[2]);
	bpf_object__close(o);
	return 0;
}
