/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of more than one op on the reference interpreter: memory, calls, tail calls, callbacks,
 * limits.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "base/percpu.h"
#include "base/report.h"
#include "interp/interp.h"

enum { HELPER_SUM = 1, HELPER_EACH = 2, HELPER_APPLY = 3, HELPERS };

static uint64_t helper_sum(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return a + b + c + d + e;
}

/* r2(i, r3) for i below r1, until it gives 1; how often it was called. */
static uint64_t helper_each(BPF_PARAMS(uint64_t n, uint64_t fn, uint64_t ctx, uint64_t d,
				       uint64_t e))
{
	for (uint64_t i = 0; i < n; i++)
		if (callback_call(fn, i, ctx, 0, 0, 0) == 1)
			return i + 1;
	return n;
}

static uint64_t helper_apply(BPF_PARAMS(uint64_t fn, uint64_t a, uint64_t b, uint64_t c,
					uint64_t d))
{
	return callback_call(fn, a, b, c, d, 0);
}

static const helper_fn helpers[HELPERS] = { NULL, helper_sum, helper_each, helper_apply };

/* Bytes 1, 2, 3, ... 16 */
static uint64_t packet(BPF_PARAMS(uint64_t ctx, int64_t offset, uint64_t size))
{
	uint64_t v = 0;

	if (offset < 0 || offset + (int64_t)size > 16)
		return UINT64_MAX;
	for (uint64_t i = 0; i < size; i++)
		v = v << 8 | (uint64_t)(offset + (int64_t)i + 1);
	return v;
}

static const struct env env = { helpers, HELPERS, packet };

static struct unit *program(const char *text)
{
	struct report r = { 0 };
	struct unit *u = NULL;

	if (unit_parse("test", text, &r, &u))
		fail_msg("%s", r.text ? r.text : "no memory");
	report_free(&r);
	u->env = &env;
	return u;
}

static int run_unit(const struct unit *u, uint64_t r1, uint64_t r2, uint64_t *r0)
{
	const uint64_t args[5] = { r1, r2, 3, 4, 5 };
	const struct interp_opts opts = { .max_ops = 100 * 1000 * 1000 };

	return interp_run(u, args, &opts, r0);
}

/* r0 of a program that ends well. */
static uint64_t run_args(const char *text, uint64_t r1, uint64_t r2)
{
	struct unit *u = program(text);
	uint64_t r0 = 0;

	assert_int_equal(run_unit(u, r1, r2, &r0), 0);
	unit_free(u);
	return r0;
}

static uint64_t run(const char *text)
{
	return run_args(text, 1, 2);
}

static int error_of(const char *text)
{
	struct unit *u = program(text);
	uint64_t r0 = 77;
	const int err = run_unit(u, 1, 2, &r0);

	unit_free(u);
	assert_int_equal(r0, 0);
	return err;
}

static void memory(void **state)
{
	uint8_t mem[16] = { 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8 };
	const uint64_t at = (uintptr_t)mem;

	assert_int_equal(run_args("r0 = *(u8 *)(r1 + 1)\nexit", at, 0), 0xfe);
	assert_int_equal(run_args("r0 = *(s8 *)(r1 + 1)\nexit", at, 0), (uint64_t)-2);
	assert_int_equal(run_args("r0 = *(s16 *)(r1 + 1)\nexit", at, 0), (uint64_t)(int16_t)0xfdfe);
	assert_int_equal(run_args("r0 = *(u32 *)(r1 + 1)\nexit", at, 0), 0xfbfcfdfe);
	assert_int_equal(run_args("r0 = *(s32 *)(r1 + 1)\nexit", at, 0),
			 (uint64_t)(int32_t)0xfbfcfdfe);
	assert_int_equal(run_args("r0 = *(u64 *)(r1 + 0)\nexit", at, 0), 0xf8f9fafbfcfdfeff);
	run_args("*(u16 *)(r1 + 9) = r2\n*(u64 *)(r10 - 512) = -1\nr0 = 0\nexit", at, 0x12345678);
	assert_int_equal(mem[9], 0x78);
	assert_int_equal(mem[10], 0x56);
	assert_int_equal(mem[11], 0);
}

static void atomics(void **state)
{
	uint64_t v[2] = { UINT64_MAX, 7 };
	const uint64_t at = (uintptr_t)v;

	assert_int_equal(
	    run_args("w2 = atomic_fetch_add((u32 *)(r1 + 0), w2)\nr0 = r2\nexit", at, 2),
	    0xffffffff);
	assert_int_equal(v[0], 0xffffffff00000001);
	assert_int_equal(run_args("lock *(u64 *)(r1 + 8) ^= r2\nr0 = r2\nexit", at, 2), 2);
	assert_int_equal(v[1], 5);
	assert_int_equal(run_args("w2 = xchg32_32(r1 + 0, w2)\nr0 = r2\nexit", at, 9), 1);
	assert_int_equal(v[0], 0xffffffff00000009);
}

static void compare_exchange(void **state)
{
	uint64_t v = 0xffffffff00000009;
	const uint64_t at = (uintptr_t)&v;

	assert_int_equal(run_args("r0 = -1 ll\nw0 = cmpxchg32_32(r1 + 0, w0, w2)\nexit", at, 3), 9);
	assert_int_equal(v, 0xffffffff00000009);
	assert_int_equal(
	    run_args("r0 = 0x900000009 ll\nw0 = cmpxchg32_32(r1 + 0, w0, w2)\nexit", at, 3), 9);
	assert_int_equal(v, 0xffffffff00000003);
	assert_int_equal(run_args("r0 = 3\nr0 = cmpxchg_64(r1 + 0, r0, r2)\nexit", at, 3), v);
}

static void probes(void **state)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct op ops[] = {
		{ .code = OP_MOV, .imm = -1 },
		{ .code = OP_LD, .mode = OP_PROBE | OP_SX, .dst = 0, .src = 1, .off = 4095 },
		{ .code = OP_EXIT },
	};
	uint32_t subs[1] = { 0 };
	const struct unit u = { .ops = ops, .n_ops = 3, .subs = subs, .n_subs = 1 };
	uint64_t r0;

	page[4095] = (char)0x80;
	munmap(page + 4096, 4096);
	assert_int_equal(run_unit(&u, (uintptr_t)page, 0, &r0), 0);
	assert_int_equal(r0, (uint64_t)-128);
	ops[1].off = 4096;
	assert_int_equal(run_unit(&u, (uintptr_t)page, 0, &r0), 0);
	assert_int_equal(r0, 0);
	ops[1].mode |= op_mode_size(2);
	ops[1].off = 4095;
	assert_int_equal(run_unit(&u, (uintptr_t)page, 0, &r0), 0);
	assert_int_equal(r0, 0);
	munmap(page, 4096);
}

static void percpu(void **state)
{
	struct op ops[] = {
		{ .code = OP_PERCPU, .dst = 0, .src = 1 },
		{ .code = OP_EXIT },
	};
	uint32_t subs[1] = { 0 };
	const struct unit u = { .ops = ops, .n_ops = 2, .subs = subs, .n_subs = 1 };
	char slot[64];
	uint64_t r0;

	percpu_self = slot;
	assert_int_equal(run_unit(&u, 40, 0, &r0), 0);
	percpu_self = NULL;
	assert_ptr_equal((void *)(uintptr_t)r0, slot + 40);
}

static void packet_loads(void **state)
{
	assert_int_equal(run("r6 = r1\nr0 = *(u32 *)skb[2]\nexit"), 0x03040506);
	assert_int_equal(run("r6 = r1\nr7 = 3\nr0 = *(u16 *)skb[r7 + 1]\nexit"), 0x0506);
	assert_int_equal(run("r6 = r1\nr7 = -1\nr0 = *(u8 *)skb[r7 + 1]\nexit"), 1);
	assert_int_equal(run("r6 = r1\nr0 = *(u8 *)skb[16]\nr0 = 9\nexit"), 0);
	assert_int_equal(run("r6 = r1\ncall f\nr0 += 1\nexit\nf:\nr6 = 0\nr0 = *(u8 *)skb[99]\n"
			     "r0 = 9\nexit"),
			 1);
}

static void calls(void **state)
{
	assert_int_equal(run("call 1\nexit"), 15);
	assert_int_equal(run("r6 = 60\ncall f\nr0 += r6\nexit\nf:\nr6 = 1\nr0 = r2\nexit"), 62);
	assert_int_equal(error_of("call 0\nexit"), -EOPNOTSUPP);
	assert_int_equal(error_of("call 99\nexit"), -EOPNOTSUPP);
	assert_int_equal(error_of("r1 = map_fd 3 ll\nexit"), -EOPNOTSUPP);
}

/* Each frame has a stack of its own. */
static void stacks(void **state)
{
	assert_int_equal(run("*(u64 *)(r10 - 8) = 5\ncall f\nr0 = *(u64 *)(r10 - 8)\nexit\n"
			     "f:\n*(u64 *)(r10 - 8) = 6\nr0 = 0\nexit"),
			 5);
	assert_int_equal(run("r1 = r10\ncall f\nexit\nf:\nr0 = r1\nr0 -= r10\nif r0 != 0 goto +1\n"
			     "r0 = 7\nr0 = 1\nexit"),
			 1);
}

/* f0 calls f1 calls ... : n frames. */
static int run_frames(unsigned n)
{
	char text[1024] = "";

	for (unsigned i = 0; i < n; i++) {
		char line[64];

		snprintf(line, sizeof(line),
			 i + 1 < n ? "f%u:\ncall f%u\nexit\n" : "f%u:\nr0 = 0\nexit\n", i, i + 1);
		strcat(text, line);
	}
	return n > INTERP_FRAMES ? error_of(text) : (int)run(text);
}

static void frames(void **state)
{
	assert_int_equal(run_frames(8), 0);
	assert_int_equal(run_frames(9), -E2BIG);
}

static void endless(void **state)
{
	struct unit *u = program("l:\ngoto l\n");
	const struct interp_opts opts = { .max_ops = 1000 };
	uint64_t r0;

	assert_int_equal(interp_run(u, (uint64_t[5]){ 0 }, &opts, &r0), -ELOOP);
	unit_free(u);
}

static void exact_limit(void **state)
{
	struct unit *u = program("r0 = 1\nr0 = 2\nexit\n");
	struct interp_opts opts = { .max_ops = 3 };
	uint64_t r0;

	assert_int_equal(interp_run(u, (uint64_t[5]){ 0 }, &opts, &r0), 0);
	opts.max_ops = 2;
	assert_int_equal(interp_run(u, (uint64_t[5]){ 0 }, &opts, &r0), -ELOOP);
	unit_free(u);
}

/* The budget is the frame's: a second loop finds it used up, another frame has its own. */
static void may_goto(void **state)
{
	assert_int_equal(run("r0 = 0\nl:\nmay_goto out\nr0 += 1\ngoto l\nout:\nmay_goto end\n"
			     "r0 += 100\nend:\nexit"),
			 INTERP_MAY_GOTO);
	assert_int_equal(
	    run("r6 = 0\nl:\nmay_goto out\nr6 += 1\ngoto l\nout:\ncall f\nr0 += r6\nexit\n"
		"f:\nr0 = 1\nmay_goto end\nr0 = 2\nend:\nexit"),
	    INTERP_MAY_GOTO + 2);
}

static void callbacks(void **state)
{
	assert_int_equal(run("r1 = 5\nr2 = func f ll\nr3 = 2\ncall 2\nexit\n"
			     "f:\nr0 = 0\nif r1 < r2 goto +1\nr0 = 1\nexit"),
			 3);
}

/* A callback that calls a helper that calls back. */
static void nested_callbacks(void **state)
{
	assert_int_equal(
	    run("r1 = func f ll\nr2 = 10\nr3 = 20\ncall 3\nexit\n"
		"f:\nr6 = r2\nr1 = func g ll\nr2 = r6\nr3 = 1\ncall 3\nr0 += r6\nexit\n"
		"g:\nr0 = r1\nr0 += r2\nexit"),
	    41);
}

/* An error in a callback ends the run. */
static void failing_callback(void **state)
{
	assert_int_equal(
	    error_of("r1 = 5\nr2 = func f ll\ncall 2\nr0 = 1\nexit\nf:\ncall 77\nexit"),
	    -EOPNOTSUPP);
	assert_int_equal(error_of("r1 = 1\nr2 = func f ll\ncall 2\nexit\n"
				  "f:\nr1 = 1\nr2 = func f ll\ncall 2\nexit"),
			 -E2BIG);
}

/* Programs that tail-call through a PROG_ARRAY made by hand. */
struct tail_map {
	struct map_desc desc;
	struct tail_array tail;
};

static uint64_t run_tail(const char *text, const char *target, uint32_t slots)
{
	struct unit *u = program(text), *to = program(target);
	const struct callee callee = { .unit = to };
	const struct callee *slot[2] = { &callee, NULL };
	struct tail_map map = { .tail = { .n = slots, .slot = slot } };
	uint64_t counter[2] = { (uintptr_t)&map, 0 };
	uint64_t r0 = 0;

	assert_int_equal(run_unit(u, (uintptr_t)counter, (uintptr_t)&map, &r0), 0);
	unit_free(u);
	unit_free(to);
	return r0;
}

static void tail_calls(void **state)
{
	assert_int_equal(run_tail("r3 = 0\ncall 12\nr0 = 1\nexit", "r0 = 2\nexit", 1), 2);
	assert_int_equal(run_tail("r3 = 1\ncall 12\nr0 = 1\nexit", "r0 = 2\nexit", 1), 1);
	assert_int_equal(run_tail("r3 = 1\ncall 12\nr0 = 1\nexit", "r0 = 2\nexit", 2), 1);
	assert_int_equal(run_tail("r3 = 0x100000000 ll\ncall 12\nr0 = 1\nexit", "r0 = 2\nexit", 1),
			 2);
}

/* Counts its entries in the context. */
#define COUNT_AND_AGAIN                                                                            \
	"r6 = *(u64 *)(r1 + 8)\nr6 += 1\n*(u64 *)(r1 + 8) = r6\nr7 = r1\n"                         \
	"r2 = *(u64 *)(r1 + 0)\nr3 = 0\ncall 12\nr0 = *(u64 *)(r7 + 8)\nexit"

static void tail_call_limit(void **state)
{
	assert_int_equal(run_tail("r3 = 0\ncall 12\nr0 = 1\nexit", COUNT_AND_AGAIN, 1), 33);
}

/* Attempts that find an empty slot do not count. */
static void empty_slots(void **state)
{
	assert_int_equal(run_tail("r6 = 40\nr7 = r1\nr8 = r2\nl:\nr1 = r7\nr2 = r8\nr3 = 1\n"
				  "call 12\nr6 += -1\nif r6 != 0 goto l\nr1 = r7\nr2 = r8\nr3 = 0\n"
				  "call 12\nr0 = 1\nexit",
				  "r0 = 2\nexit", 2),
			 2);
}

/* A tail call in a subprogram takes that frame alone; both together get no more than 33. */
static void tail_calls_in_subprograms(void **state)
{
	assert_int_equal(run_tail("call f\nr0 += 1000\nexit\nf:\nr3 = 0\ncall 12\nr0 = 1\nexit",
				  "r0 = 2\nexit", 1),
			 1002);
	assert_int_equal(run_tail("r6 = r1\nr7 = r2\ncall f\nr1 = r6\nr2 = r7\ncall f\nexit\n"
				  "f:\nr3 = 0\ncall 12\nr0 = -1\nexit",
				  COUNT_AND_AGAIN, 1),
			 (uint64_t)-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),
		cmocka_unit_test(atomics),
		cmocka_unit_test(compare_exchange),
		cmocka_unit_test(probes),
		cmocka_unit_test(percpu),
		cmocka_unit_test(packet_loads),
		cmocka_unit_test(calls),
		cmocka_unit_test(stacks),
		cmocka_unit_test(frames),
		cmocka_unit_test(endless),
		cmocka_unit_test(exact_limit),
		cmocka_unit_test(may_goto),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(nested_callbacks),
		cmocka_unit_test(failing_callback),
		cmocka_unit_test(tail_calls),
		cmocka_unit_test(tail_call_limit),
		cmocka_unit_test(empty_slots),
		cmocka_unit_test(tail_calls_in_subprograms),
	};

	return cmocka_run_group_tests_name("interp-programs", tests, NULL, NULL);
}
