/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is about whole images: branch layout, frames and calls, tail calls, faults, and how long
 * compiling takes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "base/vec.h"
#include "jit/jit.h"
#include "native.h"

/* Size of `r0 = 1; exit`. */
#if defined(__aarch64__)
enum { TWO_OPS = 8 };
#else
enum { TWO_OPS = 6 };
#endif

/* Only x86-64's jumps have a form that reaches 127 bytes; a64_layout_test has arm64's edges. */
#if !defined(__aarch64__)

/* `r0 = 0; if r1 == 0 goto end; N moves; r0 += 1; end: exit` for sizes around the edge of the
 * short form, forward and backward. */
static uint64_t run_padded(unsigned pad, bool back, uint64_t arg, size_t *size)
{
	ops_t v = { 0 };
	struct unit *u;
	struct image *i;
	uint64_t r0;

	push(&v, (struct op){ OP_MOV, 0, 0, 0, 0, 0 });
	if (!back)
		push(&v, (struct op){ OP_JEQ, 0, 1, 0, (int32_t)pad + 3, 0 });
	else
		push(&v, (struct op){ OP_ADD, 0, 0, 0, 0, 1 });
	for (unsigned k = 0; k < pad; k++)
		push(&v, (struct op){ OP_MOV, OP_REG | OP_W32, 2, 3, 0, 0 });
	if (back) {
		push(&v, (struct op){ OP_ADD, 0, 1, 0, 0, -1 });
		push(&v, (struct op){ OP_JNE, 0, 1, 0, 1, 0 });
	} else {
		push(&v, (struct op){ OP_ADD, 0, 0, 0, 0, 1 });
	}
	push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
	u = unit_of(&v);
	i = image_of(u, NULL);
	*size = i->size;
	r0 = helper_call(i->entry, arg, 0, 0, 0, 0);
	image_free(i);
	unit_free(u);
	return r0;
}

static void branches_grow(void **state)
{
	bool grew[2] = { false, false };
	size_t last[2] = { 0, 0 };

	for (unsigned pad = 50; pad < 80; pad++)
		for (unsigned back = 0; back < 2; back++) {
			size_t size;

			assert_int_equal(run_padded(pad, back, 3, &size), back ? 3 : 1);
			if (!back)
				assert_int_equal(run_padded(pad, back, 0, &size), 0);
			grew[back] |= last[back] && size - last[back] > 4;
			last[back] = size;
		}
	assert_true(grew[0] && grew[1]);
}

/* Each jump is at the edge of its short form, so that the last one, which is long, makes the ones
 * before it long, they those before them, and so on: a growth for each pass, were there no end to
 * patience. */
enum { N = 50000, SPAN = 26, PAD = 200 };

static int32_t cascade_target(int32_t k)
{
	if (k == N)
		return N + PAD + 1;
	return k + SPAN <= N ? k + SPAN : N + 1;
}

static void branches_cascade(void **state)
{
	ops_t v = { 0 };
	struct unit *u;
	struct image *i;

	push(&v, (struct op){ OP_MOV, 0, 0, 0, 0, 7 });
	for (int k = 1; k <= N; k++)
		push(&v, (struct op){ OP_JEQ, OP_REG, 1, 2, cascade_target(k), 0 });
	for (int k = 0; k < PAD; k++)
		push(&v, (struct op){ OP_MOV, OP_REG | OP_W32, 3, 4, 0, 0 });
	push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
	u = unit_of(&v);
	i = image_of(u, NULL);
	assert_in_range(i->size, N * 9, N * 9 + PAD * 2 + 100);
	assert_int_equal(helper_call(i->entry, 1, 1, 0, 0, 0), 7);
	assert_int_equal(helper_call(i->entry, 1, 2, 0, 0, 0), 7);
	image_free(i);
	unit_free(u);
}

#endif

static void jump_to_next_vanishes(void **state)
{
	struct unit *u = unit_from("r0 = 1\ngoto +0\ngoto +0\nexit\n");
	struct image *i = image_of(u, NULL);

	assert_int_equal(helper_call(i->entry, 0, 0, 0, 0, 0), 1);
	assert_int_equal(i->size, TWO_OPS);
	image_free(i);
	unit_free(u);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t best_compile(const struct unit *u, unsigned times)
{
	uint64_t best = UINT64_MAX;

	while (times--) {
		uint64_t t = now();
		struct image *i = image_of(u, NULL);

		t = now() - t;
		best = t < best ? t : best;
		image_free(i);
	}
	return best;
}

/* Figures only: the machine that tests run on may be busy. */
static void compile_time(void **state)
{
	static const uint32_t sizes[] = { 2, 10, 100, 1000, 10000, 100000, 1000000 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct unit *u = large_unit(sizes[i]);
		uint64_t ns = best_compile(u, sizes[i] > 10000 ? 2 : 20);

		print_message("# %u ops: %.1f us to compile and map, %.0f ns for each\n", sizes[i],
			      (double)ns / 1000, (double)ns / sizes[i]);
		unit_free(u);
	}
}

static void calls_and_frames(void **state)
{
	assert_int_equal(run_text("call 1\nexit\n", 1), 1 + 4 + 9 + 16 + 25);
	assert_int_equal(run_text("call 2\nexit\n", 0), 0);
	assert_int_equal(run_text("r6 = 1\ncall 2\nexit\n", 0), 0);
	assert_int_equal(run_text("r6 = 1\n*(u64 *)(r10 - 8) = r6\ncall 2\nexit\n", 0), 0);
	assert_int_equal(run_text("*(u64 *)(r10 - 16) = r1\ncall 2\nexit\n", 0), 0);
	assert_int_equal(run_text("call f\nexit\nf:\ncall 2\nexit\n", 0), 0);
	assert_int_equal(run_text("r6 = 5\ncall f\nr0 += r6\nexit\nf:\nr6 = 7\nr7 = 8\ncall 2\n"
				  "r0 += r6\nexit\n",
				  0),
			 12);
	assert_int_equal(run_text("*(u64 *)(r10 - 8) = r1\ncall f\nr0 = *(u64 *)(r10 - 8)\nexit\n"
				  "f:\n*(u64 *)(r10 - 8) = r10\n*(u64 *)(r10 - 512) = r10\n"
				  "r0 = 1\nexit\n",
				  42),
			 42);
}

/* Callee-saved registers of C survive a program that uses all of BPF's. */
static void callee_saved(void **state)
{
	struct unit *u = unit_from("r6 = 1\nr7 = 2\nr8 = 3\nr9 = 4\n*(u64 *)(r10 - 8) = r9\n"
				   "call 1\nr0 = r6\nr0 += r7\nr0 += r8\nr0 += r9\nexit\n");
	struct image *i = image_of(u, NULL);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 100; k++)
		sum += k * helper_call(i->entry, k, k, k, k, k);
	assert_int_equal(sum, 99 * 50 * 10);
	image_free(i);
	unit_free(u);
}

/* Every 8 bytes of a frame of `depth` hold their own number, by r10 and by addresses made from it,
 * with as many accesses that wherever the frame register lies, some are far and some near. */
static void frame_of_depth(int32_t depth, unsigned deep_accesses, bool as_value)
{
	ops_t v = { 0 };
	struct unit *u;
	struct image *i;

	for (int32_t off = -depth; off < 0; off += 8)
		push(&v, (struct op){ OP_ST, op_mode_size(8), 10, 0, off, -off });
	for (unsigned k = 0; k < deep_accesses; k++)
		push(&v, (struct op){ OP_LD, op_mode_size(8), 4, 10, -depth, 0 });
	push(&v, (struct op){ OP_MOV, 0, 0, 0, 0, 0 });
	for (int32_t off = -depth; off < 0; off += 8) {
		push(&v, (struct op){ OP_MOV, OP_REG, 1, 10, 0, 0 });
		push(&v, (struct op){ OP_ADD, 0, 1, 0, 0, off });
		push(&v, (struct op){ OP_LD, op_mode_size(8), 2, 1, 0, 0 });
		push(&v, (struct op){ OP_LD, op_mode_size(8), 3, 10, off, 0 });
		push(&v, (struct op){ OP_ADD, OP_REG, 0, 2, 0, 0 });
		push(&v, (struct op){ OP_SUB, OP_REG, 3, 2, 0, 0 });
		push(&v, (struct op){ OP_OR, OP_REG, 0, 3, 0, 0 });
	}
	if (as_value) {
		push(&v, (struct op){ OP_SUB, OP_REG, 1, 10, 0, 0 });
		push(&v, (struct op){ OP_ADD, OP_REG, 0, 1, 0, 0 });
		push(&v, (struct op){ OP_ADD, 0, 0, 0, 0, 8 });
	}
	push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
	u = unit_of(&v);
	i = image_of(u, NULL);
	assert_int_equal(helper_call(i->entry, 0, 0, 0, 0, 0), depth / 8 * (depth + 8) / 2);
	image_free(i);
	unit_free(u);
}

static void frames(void **state)
{
	for (int32_t depth = 8; depth <= 512; depth += 8)
		for (unsigned k = 0; k < 4; k++)
			frame_of_depth(depth, k * 40, k & 1);
}

static void callbacks(void **state)
{
	assert_int_equal(run_text("r1 = f ll\nr2 = 10\nr3 = 100\ncall 3\nexit\n"
				  "f:\nr0 = r1\nr0 += r2\nexit\n",
				  0),
			 45 + 1000);
}

static void packet_loads(void **state)
{
	assert_int_equal(run_text("r6 = r1\nr0 = *(u32 *)skb[4]\nr0 += 1\nexit\n", 1000), 1009);
	assert_int_equal(run_text("r6 = r1\nr0 = *(u16 *)skb[15]\nr0 += 1\nexit\n", 1000), 0);
	assert_int_equal(run_text("r6 = r1\nr7 = 3\nr0 = *(u8 *)skb[r7 + 2]\nexit\n", 1000), 1006);
	assert_int_equal(
	    run_text("r6 = r1\nr7 = 30\nr0 = *(u8 *)skb[r7 + 2]\nr0 = 9\nexit\n", 1000), 0);
}

static void may_goto(void **state)
{
	assert_int_equal(run_text("r0 = 0\nr0 += 1\nmay_goto +1\ngoto -3\nexit\n", 0),
			 (8 << 20) + 1);
}

static void percpu(void **state)
{
	char area[64];

	percpu_self = area;
	assert_int_equal(run_text("r1 = 16\nr0 = &(void __percpu *)(r1)\nexit\n", 0),
			 (uintptr_t)area + 16);
	percpu_self = NULL;
}

/* --- tail calls ------------------------------------------------------------------------------ */

static struct {
	struct map_desc desc;
	struct tail_array tail;
	uint8_t rest[TAIL_SLOTS_OFFSET - TAIL_ARRAY_OFFSET - sizeof(struct tail_array)];
	const struct callee *slots[4];
} array;
static struct callee callee[4];

static struct image *tail_image(const char *text, unsigned n)
{
	struct ref ref = { .kind = REF_MAP, .map = &array.desc, .addr = (uintptr_t)&array };
	struct unit *u = unit_from(text);
	struct image *i;

	u->refs = mem_dup(&ref, sizeof(ref));
	u->n_refs = 1;
	i = image_of(u, NULL);
	callee[n] = (struct callee){ i->tail_entry, NULL };
	array.slots[n] = &callee[n];
	array.tail = (struct tail_array){ 4, 0, array.slots };
	unit_free(u);
	return i;
}

#define TAIL(index) "r2 = map[id:0] ll\nr3 = " index "\ncall 12\n"

static void tail_calls(void **state)
{
	struct image *a =
	    tail_image("r6 = r1\n*(u64 *)(r10 - 8) = r1\n" TAIL("1") "r0 = 1\nexit\n", 0);
	struct image *b = tail_image("r9 = *(u64 *)(r1 + 0)\nr9 += 1\n*(u64 *)(r1 + 0) = r9\n"
				     "r7 = r1\n" TAIL("1") "r0 = 2\nexit\n",
				     1);
	struct image *c =
	    tail_image("r1 = 5\ncall f\nr0 += 100\nexit\nf:\n" TAIL("3") "r0 = 9\nexit\n", 2);
	struct image *d = tail_image("r0 = r1\nexit\n", 3);
	uint64_t count = 0;

	assert_int_equal(helper_call(a->entry, (uintptr_t)&count, 0, 0, 0, 0), 2);
	assert_int_equal(count, TAIL_CALL_LIMIT);
	assert_int_equal(helper_call(c->entry, 0, 0, 0, 0, 0), 105);
	array.slots[3] = NULL;
	assert_int_equal(helper_call(c->entry, 0, 0, 0, 0, 0), 109);
	array.slots[3] = &callee[3];
	callee[3].native = NULL;
	assert_int_equal(helper_call(c->entry, 0, 0, 0, 0, 0), 109);
	image_free(a);
	image_free(b);
	image_free(c);
	image_free(d);
}

static void tail_call_out_of_range(void **state)
{
	struct image *a =
	    tail_image(TAIL("4") TAIL("-1") TAIL("0x1ffffffff ll") "r0 = 3\nexit\n", 0);
	struct image *b = tail_image(TAIL("0x100000002 ll") "r0 = 4\nexit\n", 1);
	struct image *c = tail_image("r0 = 5\nexit\n", 2);

	assert_int_equal(helper_call(a->entry, 0, 0, 0, 0, 0), 3);
	assert_int_equal(helper_call(b->entry, 0, 0, 0, 0, 0), 5);
	image_free(a);
	image_free(b);
	image_free(c);
}

/* The count goes on in callbacks, and each run from C has its own. */
static void tail_calls_in_callbacks(void **state)
{
	struct image *a = tail_image("r6 = r1\nr1 = f ll\nr2 = 40\nr3 = r6\ncall 3\nexit\n"
				     "f:\nr1 = r2\n" TAIL("1") "r0 = 0\nexit\n",
				     0);
	struct image *b = tail_image("r0 = 1\nexit\n", 1);

	for (int i = 0; i < 3; i++)
		assert_int_equal(helper_call(a->entry, 0, 0, 0, 0, 0), TAIL_CALL_LIMIT);
	image_free(a);
	image_free(b);
}

/* --- faults ---------------------------------------------------------------------------------- */

static void probe_reads(void **state)
{
	static const uint8_t sizes[] = { 1, 2, 4, 8 };
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old[2];
	uint64_t value = 0x8182838485868788, bad[] = { 0, 8, 0xffff800000000000, 1ull << 62 };

	sigaction(SIGSEGV, &a, &old[0]);
	sigaction(SIGBUS, &a, &old[1]);
	for (unsigned k = 0; k < 8; k++) {
		ops_t v = { 0 };
		uint8_t mode = OP_PROBE | op_mode_size(sizes[k / 2]) | (k & 1 && k < 6 ? OP_SX : 0);
		struct unit *u;
		struct image *i;

		push(&v, (struct op){ OP_MOV, 0, 7, 0, 0, 11 });
		push(&v, (struct op){ OP_LD, mode, 7, 1, 0, 0 });
		push(&v, (struct op){ OP_LD, mode, 3, 2, 4, 0 });
		push(&v, (struct op){ OP_MOV, OP_REG, 0, 7, 0, 0 });
		push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
		u = unit_of(&v);
		i = image_of(u, NULL);
		assert_int_equal(helper_call(i->entry, (uintptr_t)&value, 0, 0, 0, 0) & 0xff, 0x88);
		for (unsigned n = 0; n < 4; n++)
			assert_int_equal(helper_call(i->entry, bad[n], bad[n], 0, 0, 0), 0);
		image_free(i);
		unit_free(u);
	}
	sigaction(SIGSEGV, &old[0], NULL);
	sigaction(SIGBUS, &old[1], NULL);
}

/* Stores and atomics that fault do nothing, and no register but those of the op changes. */
static void probe_writes(void **state)
{
	static const uint8_t codes[] = { OP_ST, OP_AADD, OP_AAND, OP_XCHG, OP_CMPXCHG };
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;

	sigaction(SIGSEGV, &a, &old);
	for (unsigned k = 0; k < 2 * sizeof(codes); k++) {
		uint8_t code = codes[k / 2], mode = OP_PROBE | op_mode_size(k & 1 ? 8 : 4);
		ops_t v = { 0 };
		struct unit *u;
		struct image *i;

		mode |= code == OP_ST ? OP_REG : OP_FETCH;
		push(&v, (struct op){ OP_MOV, 0, 0, 0, 0, 21 });
		push(&v, (struct op){ code, mode, 1, 2, 8, 0 });
		push(&v, (struct op){ OP_ADD, OP_REG, 0, 3, 0, 0 });
		push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
		u = unit_of(&v);
		i = image_of(u, NULL);
		assert_int_equal(helper_call(i->entry, 16, 5, 100, 0, 0), 121);
		image_free(i);
		unit_free(u);
	}
	sigaction(SIGSEGV, &old, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if !defined(__aarch64__)
		cmocka_unit_test(branches_grow),
		cmocka_unit_test(branches_cascade),
#endif
		cmocka_unit_test(jump_to_next_vanishes),
		cmocka_unit_test(calls_and_frames),
		cmocka_unit_test(callee_saved),
		cmocka_unit_test(frames),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(packet_loads),
		cmocka_unit_test(may_goto),
		cmocka_unit_test(percpu),
		cmocka_unit_test(tail_calls),
		cmocka_unit_test(tail_call_out_of_range),
		cmocka_unit_test(tail_calls_in_callbacks),
		cmocka_unit_test(probe_reads),
		cmocka_unit_test(probe_writes),
		cmocka_unit_test(compile_time),
	};

	if (!target_find(NULL)) {
		printf("1..0 # SKIP no back end for this machine\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
