/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an attacker is not to find or reach: blinded code of both targets is searched for every
 * number of the program, as bytes and, for arm64, as values that moves build up and as operands;
 * the same search finds them in code that is not blinded. Private stacks: runs within runs have
 * their own, and what leaves one is seen.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "jit/arm64/insn.h"
#include "jit/target.h"
#include "native.h"

static const char numbers[] = "r0 = 0x13371337\n"
			      "w3 = 0x24682468\n"
			      "r0 += 0x13371337\n"
			      "w0 ^= 0x24682468\n"
			      "r0 *= 0x13371337\n"
			      "r0 /= 0x24682468\n"
			      "r0 s%= -0x13371337\n"
			      "r4 = 0x5bad5bad5bad5bad ll\n"
			      "*(u32 *)(r1 + 0) = 0x13371337\n"
			      "*(u64 *)(r10 - 8) = -0x24682468\n"
			      "arena *(u32 *)(r2 + 0) = 0x13371337\n"
			      "r5 = r10\n"
			      "r5 += 0x13371337\n"
			      "if r0 == 0x13371337 goto out\n"
			      "if w0 s> 0x24682468 goto out\n"
			      "if r0 & 0x24682468 goto out\n"
			      "r0 -= -0x13371337\n"
			      "out:\n"
			      "exit\n";

static const uint64_t hidden[] = { 0x13371337,		 0x24682468,	 0x5bad5bad5bad5bad,
				   -0x13371337ull,	 -0x24682468ull, (uint32_t)-0x13371337,
				   (uint32_t)-0x24682468 };
enum { HIDDEN = sizeof(hidden) / sizeof(*hidden) };

static bool is_hidden(uint64_t v)
{
	for (unsigned i = 0; i < HIDDEN; i++)
		if (v == hidden[i])
			return true;
	return false;
}

/* Occurrences of a number's low 4 bytes, at any place. */
static unsigned found_as_bytes(const struct code *c)
{
	unsigned n = 0;

	for (size_t at = 0; at + 4 <= c->size; at++)
		for (unsigned i = 0; i < HIDDEN; i++)
			n += memcmp(c->bytes + at, &hidden[i], 4) == 0;
	return n;
}

/* The value that movz, movn and movk have made of dst so far. */
static uint64_t moved(uint64_t had, enum a64_insn id, const int64_t *o)
{
	uint64_t part = (uint64_t)o[2] << 16 * o[3], mask = 0xffffull << 16 * o[3];
	uint64_t v = id == A64_MOVK ? (had & ~mask) | part : id == A64_MOVZ ? part : ~part;

	return o[0] ? v : (uint32_t)v;
}

static unsigned found_as_operands(const struct code *c)
{
	uint64_t reg[32] = { 0 };
	unsigned n = 0;

	for (size_t at = 0; at < c->size; at += 4) {
		int64_t o[A64_OPERANDS] = { 0 };
		enum a64_insn id;
		uint32_t word;

		memcpy(&word, c->bytes + at, sizeof(word));
		id = a64_decode(word, o);
		for (unsigned i = 0; i < A64_OPERANDS; i++)
			n += is_hidden((uint64_t)o[i]);
		if (id != A64_MOVZ && id != A64_MOVN && id != A64_MOVK)
			continue;
		reg[o[1]] = moved(reg[o[1]], id, o);
		n += is_hidden(reg[o[1]]);
	}
	return n;
}

static unsigned found(const char *target, const struct jit_opts *opts)
{
	struct unit *u = unit_from(numbers);
	struct report r = { 0 };
	struct code *c;
	unsigned n;

	if (jit_compile(target_find(target), u, opts, &r, &c))
		fail_msg("%s", r.text);
	n = strcmp(target, "arm64") ? found_as_bytes(c) : found_as_bytes(c) + found_as_operands(c);
	code_free(c);
	unit_free(u);
	return n;
}

static void blinded_code_has_no_number_of_the_program(void **state)
{
	static const char *const targets[] = { "arm64", "x86_64" };

	for (unsigned t = 0; t < 2; t++) {
		struct jit_opts opts = { .cpu = "baseline", .base = 0x40000000 };
		unsigned plain = found(targets[t], &opts);

		print_message("# %s: %u places without blinding\n", targets[t], plain);
		assert_true(plain >= 10);
		opts.blind = true;
		for (opts.blind_seed = 0; opts.blind_seed < 500; opts.blind_seed++)
			assert_int_equal(found(targets[t], &opts), 0);
	}
}

static void random_keys_differ_each_time(void **state)
{
	const struct jit_opts opts = { .cpu = "baseline", .base = 0x40000000, .blind = true };
	struct unit *u = unit_from(numbers);
	struct code *a, *b;

	assert_int_equal(jit_compile(target_find("arm64"), u, &opts, NULL, &a), 0);
	assert_int_equal(jit_compile(target_find("arm64"), u, &opts, NULL, &b), 0);
	assert_int_equal(a->size, b->size);
	assert_memory_not_equal(a->bytes, b->bytes, a->size);
	code_free(a);
	code_free(b);
	unit_free(u);
}

static const struct image *nested;

/* Runs the program again, r1 levels deep. */
static uint64_t again(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))
{
	return helper_call(nested->entry, r1, 0, 0, 0, 0);
}

static const helper_fn helpers[] = { NULL, again };
static const struct env env = { helpers, 2, NULL };

/* 1000 * what it found again on its stack + what the run within gave. */
static const char recursion[] = "*(u64 *)(r10 - 128) = r1\n"
				"r0 = 0\n"
				"if r1 == 0 goto out\n"
				"r1 -= 1\n"
				"call 1\n"
				"out:\n"
				"r2 = *(u64 *)(r10 - 128)\n"
				"r2 *= 1000\n"
				"r0 += r2\n"
				"r0 += 1\n"
				"exit\n";

static uint64_t recurse(const struct jit_opts *opts, uint64_t depth)
{
	struct unit *u = unit_from(recursion);
	struct image *i;
	uint64_t r0;

	u->env = &env;
	nested = i = image_of(u, opts);
	r0 = helper_call(i->entry, depth, 0, 0, 0, 0);
	assert_true(code_stacks_whole(i->code));
	image_free(i);
	unit_free(u);
	return r0;
}

static void runs_within_runs_have_their_own_stacks(void **state)
{
	const struct jit_opts opts = { .private_stack = true, .landing_pads = true };

	for (uint64_t depth = 0; depth < PRIVATE_AREAS - 1; depth++)
		assert_int_equal(recurse(&opts, depth), 1000 * depth * (depth + 1) / 2 + depth + 1);
}

/* The innermost of six does not take place, and gives 0: 2 + ... + 5 and one each. */
static void without_a_stack_there_is_no_run(void **state)
{
	const struct jit_opts opts = { .private_stack = true };

	assert_int_equal(recurse(&opts, 5), 1000 * (5 + 4 + 3 + 2) + 4);
	assert_int_equal(recurse(&(struct jit_opts){ .blind = true }, 5), 15006);
}

static bool whole_after(const char *text)
{
	const struct jit_opts opts = { .private_stack = true };
	struct unit *u = unit_from(text);
	struct image *i = image_of(u, &opts);
	bool whole;

	assert_true(code_stacks_whole(i->code));
	helper_call(i->entry, 0, 0, 0, 0, 0);
	whole = code_stacks_whole(i->code);
	image_free(i);
	unit_free(u);
	return whole;
}

static void what_leaves_its_private_stack_is_seen(void **state)
{
	static const char depth[] = "r2 = r10\nr2 += -512\n";
	char text[256];

	assert_true(whole_after("*(u64 *)(r10 - 512) = 1\n*(u64 *)(r10 - 8) = 1\nr0 = 0\nexit\n"));
	assert_false(whole_after("*(u64 *)(r10 - 64) = 1\n*(u64 *)(r10 + 0) = 1\nr0 = 0\nexit\n"));
	snprintf(text, sizeof(text), "%s*(u64 *)(r2 - 8) = 1\nr0 = 0\nexit\n", depth);
	assert_false(whole_after(text));
}

static int in_a_slot(void **state)
{
	percpu_self = percpu_init() ? NULL : percpu_base(0);
	return percpu_self ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest any[] = {
		cmocka_unit_test(blinded_code_has_no_number_of_the_program),
		cmocka_unit_test(random_keys_differ_each_time),
		cmocka_unit_test(runs_within_runs_have_their_own_stacks),
		cmocka_unit_test(without_a_stack_there_is_no_run),
		cmocka_unit_test(what_leaves_its_private_stack_is_seen),
	};

	return cmocka_run_group_tests(any, in_a_slot, NULL);
}
