// SPDX-License-Identifier: BSD-2-Clause
/* PROG_TEST_RUN's attributes, and packet runs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <skep/skep.h>

#include "base/mem.h"
#include "isa/helper.h"
#include "run/packet_run.h"
#include "sys/attr.h"
#include "sys/sys.h"

#define MOV(dst, v) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = dst, .imm = v }
#define CALL(id)    { .code = BPF_JMP | BPF_CALL, .imm = id }
#define EXIT	    { .code = BPF_JMP | BPF_EXIT }

enum { REDIRECT = 23, ADJUST_TAIL = 65 };

static const struct bpf_insn pass[] = { MOV(0, 2), EXIT };
static const struct bpf_insn to_7[] = { MOV(1, 7), MOV(2, 0), CALL(REDIRECT), EXIT };
static const struct bpf_insn shorten[] = { MOV(2, -4), CALL(ADJUST_TAIL), MOV(0, 2), EXIT };

static uint8_t packet[100] = { [12] = 8, [14] = 0x45 };

static int load(uint32_t type, const struct bpf_insn *insns, uint32_t n)
{
	union attr a = { .prog_load = { .prog_type = type,
					.insn_cnt = n,
					.insns = (uintptr_t)insns,
					.license = (uintptr_t)"GPL" } };
	int fd = skep_bpf(BPF_PROG_LOAD, (void *)&a, sizeof(a));

	assert_true(fd >= 0);
	return fd;
}

#define LOAD(type, insns) load(type, insns, sizeof(insns) / sizeof((insns)[0]))

/* 0 or the errno. */
static int run(int fd, struct attr_test *t)
{
	union attr a = { .test = *t };
	int err;

	a.test.prog_fd = (uint32_t)fd;
	err = skep_bpf(BPF_PROG_TEST_RUN, (void *)&a, sizeof(a)) ? errno : 0;
	*t = a.test;
	return err;
}

static struct attr_test plain(void)
{
	return (struct attr_test){ .data_in = (uintptr_t)packet, .data_size_in = sizeof(packet) };
}

static void xdp_attributes(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_XDP, pass);
	struct xdp_md md = { .data = 8, .data_end = 100 };
	struct attr_test t = plain();

	assert_int_equal(run(fd, &t), 0);
	assert_int_equal(t.retval, 2);
	assert_int_equal(t.data_size_out, sizeof(packet));
	t = plain();
	t.flags = 2;
	assert_int_equal(run(fd, &t), EOPNOTSUPP);
	t = plain();
	t.flags = 1;
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.batch_size = 1;
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.data_size_in = 13;
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.ctx_in = (uintptr_t)&md;
	assert_int_equal(run(fd, &t), EINVAL); /* without a size */
	t.ctx_size_in = sizeof(md);
	assert_int_equal(run(fd, &t), 0);
	md.data = 6;
	assert_int_equal(run(fd, &t), EINVAL);
	md.data = 8;
	md.ingress_ifindex = 7;
	assert_int_equal(run(fd, &t), ENODEV);
	close(fd);
}

static void skb_attributes(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_SCHED_CLS, pass);
	uint8_t ctx[256] = { 0 };
	struct attr_test t = plain();

	t.cpu = 1;
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.data_size_in = 3713; /* more than a page takes */
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.data_size_in = 20; /* half an IP header */
	assert_int_equal(run(fd, &t), EINVAL);
	t = plain();
	t.ctx_in = t.ctx_out = (uintptr_t)ctx;
	t.ctx_size_in = t.ctx_size_out = sizeof(ctx);
	assert_int_equal(run(fd, &t), 0);
	assert_int_equal(t.ctx_size_out, sizeof(struct __sk_buff));
	memset(ctx, 0, sizeof(ctx));
	ctx[sizeof(struct __sk_buff)] = 1; /* a field that nobody knows */
	assert_int_equal(run(fd, &t), E2BIG);
	memset(ctx, 0, sizeof(ctx));
	ctx[0] = 1; /* len is not for the caller to set */
	assert_int_equal(run(fd, &t), EINVAL);
	close(fd);
}

static void output_that_does_not_fit(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_XDP, pass);
	uint8_t out[128];
	struct attr_test t = plain();

	memset(out, 0xee, sizeof(out));
	t.data_out = (uintptr_t)out;
	t.data_size_out = 10;
	assert_int_equal(run(fd, &t), ENOSPC);
	assert_int_equal(t.data_size_out, sizeof(packet));
	assert_int_equal(t.retval, 2);
	assert_memory_equal(out, packet, 10);
	assert_int_equal(out[10], 0xee);
	close(fd);
}

static void addresses_that_are_bad(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_XDP, pass);
	uint8_t *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct attr_test t = plain();

	t.data_in = (uintptr_t)hole;
	assert_int_equal(run(fd, &t), EFAULT);
	t = plain();
	t.data_out = (uintptr_t)hole;
	t.data_size_out = 4096;
	assert_int_equal(run(fd, &t), EFAULT);
	munmap(hole, 4096);
	close(fd);
}

static void types_without_packets(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_SK_MSG, pass);
	struct attr_test t = plain();

	assert_int_equal(run(fd, &t), 524);
	close(fd);
}

static struct prog *prog_get(int fd)
{
	return prog_of(fd_obj(fd, OBJ_PROG));
}

static void packet_runs_tell_what_happened(void **state)
{
	int fd = LOAD(BPF_PROG_TYPE_XDP, to_7);
	struct prog *p = prog_get(fd);
	struct packet_result r;
	struct packet_run run_;

	assert_int_equal(packet_run_open(&run_, p), 0);
	assert_int_equal(packet_run_once(&run_, packet, sizeof(packet), &r), 0);
	assert_int_equal(r.verdict, XDP_REDIRECT);
	assert_int_equal(r.redirect.target, PACKET_DEV);
	assert_int_equal(r.redirect.ifindex, 7);
	assert_false(r.changed);
	assert_int_equal(r.n, sizeof(packet));
	assert_int_equal(packet_run_once(&run_, packet, 5, &r), -EINVAL);
	packet_run_close(&run_);
	obj_put(&p->obj);
	close(fd);
}

/* With one packet in the frame and one that needs fragments. */
static void packet_runs_give_the_packet_back(void **state)
{
	static uint8_t in[9000], out[9000];
	static const uint32_t sizes[] = { 60, 9000 };
	int fd = LOAD(BPF_PROG_TYPE_XDP, shorten);
	struct prog *p = prog_get(fd);
	struct packet_result r;
	struct packet_run run_;

	for (unsigned i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7);
	assert_int_equal(packet_run_open(&run_, p), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(packet_run_once(&run_, in, sizes[i], &r), 0);
		assert_true(r.changed);
		assert_int_equal(r.n, sizes[i] - 4);
		memset(out, 0, sizeof(out));
		packet_run_copy(&run_, out, r.n);
		assert_memory_equal(out, in, r.n);
		assert_int_equal(out[r.n], 0);
	}
	packet_run_close(&run_);
	obj_put(&p->obj);
	close(fd);
}

/* r0 = the packet's byte 12, found through the context's fields at `data` and `data + 4`. */
#define BYTE_12(data)                                                                              \
	{ MOV(0, 0),                                                                               \
	  { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = data },          \
	  { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 3, .src_reg = 1, .off = data + 4 },      \
	  { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 4, .src_reg = 2 },                     \
	  { .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 4, .imm = 13 },                        \
	  { .code = BPF_JMP | BPF_JGT | BPF_X, .dst_reg = 4, .src_reg = 3, .off = 1 },             \
	  { .code = BPF_LDX | BPF_MEM | BPF_B, .dst_reg = 0, .src_reg = 2, .off = 12 },            \
	  EXIT }

static const struct bpf_insn xdp_byte[] = BYTE_12(0), tc_byte[] = BYTE_12(76);

/* Where the packet lies, after a run that found it. */
static uint64_t packet_place(int fd)
{
	struct prog *p = prog_get(fd);
	struct packet_result r;
	struct packet_run run_;
	uint64_t at;

	assert_int_equal(packet_run_open(&run_, p), 0);
	assert_int_equal(packet_run_once(&run_, packet, sizeof(packet), &r), 0);
	assert_int_equal(r.verdict, packet[12]);
	at = (uintptr_t)run_.buf.base;
	packet_run_close(&run_);
	obj_put(&p->obj);
	return at;
}

static void packets_of_verified_programs_lie_above_4_gib(void **state)
{
	int xdp = LOAD(BPF_PROG_TYPE_XDP, xdp_byte), tc = LOAD(BPF_PROG_TYPE_SCHED_CLS, tc_byte);
	int trusted;

	assert_true(packet_place(xdp) >> 32);
	assert_true(packet_place(tc) >> 32);
	sys_load_opts()->unverified = true;
	trusted = LOAD(BPF_PROG_TYPE_XDP, xdp_byte);
	sys_load_opts()->unverified = false;
	assert_false(packet_place(trusted) >> 32);
	close(xdp);
	close(tc);
	close(trusted);
}

/* skep_prog_run takes the UAPI's structures, whose addresses have 32 bits. */
static void contexts_of_the_uapi_are_taken(void **state)
{
	int xdp = LOAD(BPF_PROG_TYPE_XDP, xdp_byte), tc = LOAD(BPF_PROG_TYPE_SCHED_CLS, tc_byte);
	struct packet_buf low;
	struct __sk_buff skb = { 0 };
	struct xdp_md md = { 0 };
	struct skep_prog *p;

	assert_int_equal(packet_buf_get(&low, true), 0);
	memcpy(low.base, packet, sizeof(packet));
	md.data = md.data_meta = skb.data = (uint32_t)(uintptr_t)low.base;
	md.data_end = skb.data_end = skb.data + sizeof(packet);
	p = skep_prog_get(xdp);
	assert_int_equal(skep_prog_run(p, &md), packet[12]);
	skep_prog_put(p);
	p = skep_prog_get(tc);
	assert_int_equal(skep_prog_run(p, &skb), packet[12]);
	skep_prog_put(p);
	packet_buf_put(&low);
	close(xdp);
	close(tc);
}

/* Each allocation of a run fails once; nothing is lost and the next run works. */
static void memory_that_runs_out(void **state)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS };

	for (unsigned i = 0; i < 2; i++) {
		int fd = LOAD(types[i], pass), err = ENOMEM;

		for (unsigned long n = 1; err; n++) {
			struct attr_test t = plain();

			assert_true(n < 100);
			mem_fail_at(n, 0);
			err = run(fd, &t);
			mem_fail_at(0, 0);
			assert_true(err == 0 || err == ENOMEM);
		}
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xdp_attributes),
		cmocka_unit_test(skb_attributes),
		cmocka_unit_test(output_that_does_not_fit),
		cmocka_unit_test(addresses_that_are_bad),
		cmocka_unit_test(types_without_packets),
		cmocka_unit_test(packet_runs_tell_what_happened),
		cmocka_unit_test(packet_runs_give_the_packet_back),
		cmocka_unit_test(packets_of_verified_programs_lie_above_4_gib),
		cmocka_unit_test(contexts_of_the_uapi_are_taken),
		cmocka_unit_test(memory_that_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
