// SPDX-License-Identifier: BSD-2-Clause
/* Packet buffers, checksums, and helpers called on packets that are made here. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/impl.h"
#include "helper/trace.h"

/* Ethernet, IPv4 without options, UDP, 12 bytes. */
static const uint8_t udp4[] = {
	2,    0,   0,	0,   0,	  1,   2,   0,	 0,   0,   0,	2,   8, 0,	  /* Ethernet */
	0x45, 0,   0,	40,  0,	  1,   0,   0,	 64,  17,  0,	0,		  /* IPv4 */
	10,   0,   0,	1,   10,  0,   0,   2,	 0,   53,  0,	54,  0, 20, 0, 0, /* UDP */
	'h',  'e', 'l', 'l', 'o', ' ', 'w', 'o', 'r', 'l', 'd', '!',
};

enum { IP = 14, UDP = 34, IP_CHECK = IP + 10, UDP_CHECK = UDP + 6 };

/* The checksum as RFC 1071 describes it: 16-bit words, carried around, complemented. */
static uint16_t plain_sum(const uint8_t *p, size_t n, uint32_t start)
{
	for (size_t i = 0; i < n; i++)
		start += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return (uint16_t)~start;
}

static uint32_t pseudo(const uint8_t *ip)
{
	uint32_t s = 17 + 20; /* protocol, length */

	for (unsigned i = 12; i < 20; i += 2)
		s += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	return s;
}

static bool sums_right(const uint8_t *eth)
{
	return plain_sum(eth + IP, 20, 0) == 0 && plain_sum(eth + UDP, 20, pseudo(eth + IP)) == 0;
}

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void sums_fill(uint8_t *eth)
{
	put16(eth + IP_CHECK, 0);
	put16(eth + UDP_CHECK, 0);
	put16(eth + IP_CHECK, plain_sum(eth + IP, 20, 0));
	put16(eth + UDP_CHECK, plain_sum(eth + UDP, 20, pseudo(eth + IP)));
}

static struct packet_buf buf;

static uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

/* A TC context on a copy of udp4 with right checksums. */
static struct skb_ctx skb_make(void)
{
	uint8_t bytes[sizeof(udp4)];
	struct skb_ctx ctx;

	memcpy(bytes, udp4, sizeof(udp4));
	sums_fill(bytes);
	assert_int_equal(skb_init(&ctx, &buf, bytes, sizeof(bytes), BPF_PROG_TYPE_SCHED_CLS), 0);
	assert_true(sums_right(ctx.data));
	return ctx;
}

static int setup(void **state)
{
	return packet_buf_get(&buf, true);
}

static int teardown(void **state)
{
	packet_buf_put(&buf);
	return 0;
}

static void buffers_lie_low(void **state)
{
	struct packet_buf b[100];

	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(packet_buf_get(&b[i], true), 0);
		assert_true(addr(b[i].base) + PACKET_BUF <= 1ull << 32);
		assert_int_equal(addr(b[i].base) % 4096, 0);
		memset(b[i].base, (int)i, PACKET_BUF);
	}
	for (unsigned i = 0; i < 100; i++) {
		assert_int_equal(b[i].base[PACKET_BUF - 1], i);
		packet_buf_put(&b[i]);
	}
}

static void *take_and_give(void *arg)
{
	for (unsigned i = 0; i < 20000; i++) {
		struct packet_buf b;

		if (packet_buf_get(&b, i % 2) != 0)
			return arg;
		memcpy(b.base, &i, sizeof(i));
		if (memcmp(b.base, &i, sizeof(i)) != 0)
			return arg;
		packet_buf_put(&b);
	}
	return NULL;
}

static void buffers_are_shared_between_threads(void **state)
{
	pthread_t t[4];
	void *bad;

	for (unsigned i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, take_and_give, &buf);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

static void sums_are_those_of_rfc_1071(void **state)
{
	uint8_t b[64];

	srand(1);
	for (unsigned i = 0; i < 100000; i++) {
		size_t n = (size_t)rand() % 64;

		for (size_t k = 0; k < n; k++)
			b[k] = (uint8_t)(rand() % 3 ? rand() : 255);
		assert_int_equal(sum_fold(sum_bytes(b, n, 0)), htons(plain_sum(b, n, 0)));
	}
}

/* Rewriting an address through both helpers leaves both checksums right, whatever the values. */
static void replaced_words_keep_checksums(void **state)
{
	struct skb_ctx ctx = skb_make();

	srand(2);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t from, to = i % 16 == 0 ? 0 : i % 16 == 1 ? ~0u : (uint32_t)rand();

		memcpy(&from, ctx.data + IP + 12, 4);
		assert_int_equal(
		    helper_l3_csum_replace(BPF_ARGS(addr(&ctx), IP_CHECK, from, to, 4)), 0);
		assert_int_equal(helper_l4_csum_replace(BPF_ARGS(addr(&ctx), UDP_CHECK, from, to,
								 4 | BPF_F_PSEUDO_HDR)),
				 0);
		assert_int_equal(
		    helper_skb_store_bytes(BPF_ARGS(addr(&ctx), IP + 12, addr(&to), 4, 0)), 0);
		assert_true(sums_right(ctx.data));
	}
}

static void replaced_ports_keep_checksums(void **state)
{
	struct skb_ctx ctx = skb_make();

	for (unsigned i = 0; i < 70000; i++) {
		uint16_t from, to = (uint16_t)i;

		memcpy(&from, ctx.data + UDP, 2);
		assert_int_equal(helper_l4_csum_replace(BPF_ARGS(addr(&ctx), UDP_CHECK, from, to,
								 2 | BPF_F_MARK_MANGLED_0)),
				 0);
		memcpy(ctx.data + UDP, &to, 2);
		assert_true(sums_right(ctx.data));
		assert_true(ctx.data[UDP_CHECK] || ctx.data[UDP_CHECK + 1]);
	}
}

static void csum_diff_carries_an_address_change(void **state)
{
	struct skb_ctx ctx = skb_make();
	uint32_t from, to = 0x12345678;
	uint64_t diff;

	memcpy(&from, ctx.data + IP + 12, 4);
	diff = helper_csum_diff(BPF_ARGS(addr(&from), 4, addr(&to), 4, 0));
	assert_int_equal(helper_l3_csum_replace(BPF_ARGS(addr(&ctx), IP_CHECK, 0, diff, 0)), 0);
	assert_int_equal(
	    helper_l4_csum_replace(BPF_ARGS(addr(&ctx), UDP_CHECK, 0, diff, BPF_F_PSEUDO_HDR)), 0);
	memcpy(ctx.data + IP + 12, &to, 4);
	assert_true(sums_right(ctx.data));
	assert_int_equal(helper_csum_diff(BPF_ARGS(0, 3, addr(&to), 4, 0)), -EINVAL);
}

/* IP in IP: the outer header comes between Ethernet and the inner packet, and goes again. */
static void adjust_room_puts_and_takes_a_header(void **state)
{
	struct skb_ctx ctx = skb_make();
	uint8_t before[sizeof(udp4)], zero[20] = { 0 };

	memcpy(before, ctx.data, sizeof(before));
	assert_int_equal(helper_skb_adjust_room(BPF_ARGS(addr(&ctx), 20, BPF_ADJ_ROOM_MAC,
							 BPF_F_ADJ_ROOM_ENCAP_L3_IPV4, 0)),
			 0);
	assert_int_equal(ctx.skb.len, sizeof(udp4) + 20);
	assert_int_equal(ctx.skb.data_end - ctx.skb.data, ctx.skb.len);
	assert_memory_equal(ctx.data, before, IP);
	assert_memory_equal(ctx.data + IP, zero, 20);
	assert_memory_equal(ctx.data + IP + 20, before + IP, sizeof(before) - IP);
	assert_int_equal(helper_skb_adjust_room(BPF_ARGS(addr(&ctx), 20, BPF_ADJ_ROOM_MAC,
							 BPF_F_ADJ_ROOM_ENCAP_L3_IPV4, 0)),
			 -EALREADY);
	assert_int_equal(
	    helper_skb_adjust_room(BPF_ARGS(addr(&ctx), (uint64_t)-20, BPF_ADJ_ROOM_MAC, 0, 0)), 0);
	assert_int_equal(ctx.skb.len, sizeof(before));
	assert_memory_equal(ctx.data, before, sizeof(before));
	assert_int_equal(helper_skb_adjust_room(BPF_ARGS(addr(&ctx), 5000, BPF_ADJ_ROOM_MAC, 0, 0)),
			 -EFAULT);
}

static void vlan_tags_go_in_and_out(void **state)
{
	const uint8_t tagged[] = { 0x81, 0, 0x20, 5, 8, 0 };
	struct skb_ctx ctx = skb_make();
	uint8_t before[sizeof(udp4)];

	memcpy(before, ctx.data, sizeof(before));
	assert_int_equal(helper_skb_vlan_push(BPF_ARGS(addr(&ctx), htons(0x8100), 0x2005, 0, 0)),
			 0);
	assert_int_equal(ctx.skb.vlan_present, 1);
	assert_int_equal(ctx.skb.vlan_tci, 0x2005);
	assert_int_equal(ctx.skb.len, sizeof(before));
	assert_int_equal(helper_skb_vlan_push(BPF_ARGS(addr(&ctx), htons(0x88a8), 7, 0, 0)), 0);
	assert_int_equal(ctx.skb.len, sizeof(before) + 4);
	assert_memory_equal(ctx.data + 12, tagged, sizeof(tagged));
	assert_int_equal(ctx.skb.protocol, htons(0x8100));
	assert_int_equal(helper_skb_vlan_pop(BPF_ARGS(addr(&ctx), 0, 0, 0, 0)), 0);
	assert_int_equal(ctx.skb.vlan_tci, 0x2005);
	assert_int_equal(ctx.skb.protocol, htons(0x0800));
	assert_int_equal(helper_skb_vlan_pop(BPF_ARGS(addr(&ctx), 0, 0, 0, 0)), 0);
	assert_int_equal(ctx.skb.vlan_present, 0);
	assert_memory_equal(ctx.data, before, sizeof(before));
}

/* Far more pushes than the buffer has room in front: the packet moves back in its buffer. */
static void heads_grow_without_end(void **state)
{
	struct skb_ctx ctx = skb_make();
	uint8_t before[sizeof(udp4)];

	memcpy(before, ctx.data, sizeof(before));
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(helper_skb_change_head(BPF_ARGS(addr(&ctx), 100, 0, 0, 0)), 0);
		assert_memory_equal(ctx.data + 100, before, sizeof(before));
		memmove(ctx.data, ctx.data + 100, sizeof(before));
		ctx.net = ctx.data + IP;
		ctx.trans = NULL;
		assert_int_equal(
		    helper_skb_change_tail(BPF_ARGS(addr(&ctx), sizeof(before), 0, 0, 0)), 0);
		assert_true(ctx.data >= buf.base && ctx.tail <= buf.base + PACKET_BUF);
	}
	assert_int_equal(helper_skb_change_tail(BPF_ARGS(addr(&ctx), SKB_LEN_MAX + 1, 0, 0, 0)),
			 -EINVAL);
	assert_int_equal(helper_skb_change_tail(BPF_ARGS(addr(&ctx), SKB_LEN_MAX, 0, 0, 0)), 0);
}

static void flow_hash_follows_the_flow(void **state)
{
	struct skb_ctx a = skb_make();
	uint64_t h = helper_get_hash_recalc(BPF_ARGS(addr(&a), 0, 0, 0, 0));

	assert_int_not_equal(h, 0);
	a.data[UDP + 12] ^= 1; /* not part of the flow */
	helper_set_hash_invalid(BPF_ARGS(addr(&a), 0, 0, 0, 0));
	assert_int_equal(a.skb.hash, 0);
	assert_int_equal(helper_get_hash_recalc(BPF_ARGS(addr(&a), 0, 0, 0, 0)), h);
	a.data[UDP] ^= 1; /* a port */
	assert_int_equal(helper_get_hash_recalc(BPF_ARGS(addr(&a), 0, 0, 0, 0)), h);
	helper_set_hash_invalid(BPF_ARGS(addr(&a), 0, 0, 0, 0));
	assert_int_not_equal(helper_get_hash_recalc(BPF_ARGS(addr(&a), 0, 0, 0, 0)), h);
}

static void classic_loads_see_the_packet(void **state)
{
	struct skb_ctx ctx = skb_make();

	assert_int_equal(skb_load_abs(BPF_ARGS(addr(&ctx), 12, 2)), 0x0800);
	assert_int_equal(skb_load_abs(BPF_ARGS(addr(&ctx), -0x100000 + 12, 4)), 0x0a000001);
	assert_int_equal(skb_load_abs(BPF_ARGS(addr(&ctx), -0x200000, 1)), 2);
	assert_int_equal(skb_load_abs(BPF_ARGS(addr(&ctx), sizeof(udp4) - 1, 1)), '!');
	assert_true(skb_load_abs(BPF_ARGS(addr(&ctx), sizeof(udp4) - 1, 2)) == UINT64_MAX);
	assert_true(skb_load_abs(BPF_ARGS(addr(&ctx), -0x300000, 1)) == UINT64_MAX);
	assert_true(skb_load_abs(BPF_ARGS(addr(&ctx), -1, 1)) == UINT64_MAX);
	assert_true(skb_load_abs(BPF_ARGS(addr(&ctx), INT32_MAX, 4)) == UINT64_MAX);
}

static void metadata_moves_with_the_head(void **state)
{
	struct xdp_ctx ctx;
	uint32_t meta = 0xfeedf00d;

	xdp_init(&ctx, &buf, udp4, sizeof(udp4), 0, sizeof(udp4));
	assert_int_equal(helper_xdp_adjust_meta(BPF_ARGS(addr(&ctx), (uint64_t)-4, 0, 0, 0)), 0);
	memcpy(ctx.meta, &meta, 4);
	assert_int_equal(helper_xdp_adjust_head(BPF_ARGS(addr(&ctx), (uint64_t)-50, 0, 0, 0)), 0);
	assert_memory_equal((void *)(uintptr_t)ctx.md.data_meta, &meta, 4);
	assert_int_equal(ctx.md.data - ctx.md.data_meta, 4);
	assert_memory_equal(ctx.data + 50, udp4, sizeof(udp4));
	assert_int_equal(helper_xdp_adjust_head(BPF_ARGS(addr(&ctx), (uint64_t)-200, 0, 0, 0)),
			 -EINVAL);
	assert_int_equal(helper_xdp_adjust_meta(BPF_ARGS(addr(&ctx), (uint64_t)-2, 0, 0, 0)),
			 -EACCES);
	assert_int_equal(helper_xdp_adjust_meta(BPF_ARGS(addr(&ctx), 8, 0, 0, 0)), -EINVAL);
}

static void bad_addresses_are_errors(void **state)
{
	char to[8] = "abcdefg";

	assert_int_equal(helper_probe_read_kernel(BPF_ARGS(addr(to), 8, 16, 0, 0)), -EFAULT);
	assert_int_equal(to[0], 0);
	assert_int_equal(helper_probe_read_kernel_str(BPF_ARGS(addr(to), 8, addr("hi"), 0, 0)), 3);
	assert_string_equal(to, "hi");
	assert_int_equal(helper_probe_read_kernel_str(BPF_ARGS(addr(to), 3, addr("hello"), 0, 0)),
			 3);
	assert_string_equal(to, "he");
	assert_int_equal(
	    helper_probe_read_kernel_str(BPF_ARGS(addr(to), 8, 0xffff800000000000, 0, 0)), -EFAULT);
}

static void trace_goes_where_it_is_told(void **state)
{
	char path[] = "/tmp/skep-trace-XXXXXX", line[64] = "";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	trace_set_fd(fd);
	assert_int_equal(helper_trace_printk(BPF_ARGS(addr("n %d"), 5, (uint64_t)-3, 0, 0)), 4);
	trace_set_fd(STDERR_FILENO);
	assert_int_equal(pread(fd, line, sizeof(line), 0), 5);
	assert_string_equal(line, "n -3\n");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_lie_low),
		cmocka_unit_test(buffers_are_shared_between_threads),
		cmocka_unit_test(sums_are_those_of_rfc_1071),
		cmocka_unit_test(replaced_words_keep_checksums),
		cmocka_unit_test(replaced_ports_keep_checksums),
		cmocka_unit_test(csum_diff_carries_an_address_change),
		cmocka_unit_test(adjust_room_puts_and_takes_a_header),
		cmocka_unit_test(vlan_tags_go_in_and_out),
		cmocka_unit_test(heads_grow_without_end),
		cmocka_unit_test(flow_hash_follows_the_flow),
		cmocka_unit_test(classic_loads_see_the_packet),
		cmocka_unit_test(metadata_moves_with_the_head),
		cmocka_unit_test(bad_addresses_are_errors),
		cmocka_unit_test(trace_goes_where_it_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
