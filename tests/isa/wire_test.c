/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding and encoding: round trips of everything, refusals in the kernel's words. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "isa/wire.h"
#include "refusal.h"
#include "sample.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct count {
	unsigned long taken, refused, wrong;
	bool seen[256];		       /* opcodes that were taken */
	unsigned char codes[OP_COUNT]; /* operations that were taken */
};

/* A subprogram call as kernel dumps have it: read, but written in the form that programs have. */
static bool is_dump_call(const struct bpf_insn *insns)
{
	const struct bpf_insn *in = &insns[SAMPLE_BEFORE];

	return in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL && in->off;
}

/* What a user may load has no internal op, mode or register. */
static bool is_internal(const struct op *op)
{
	return op_has(op, P_INTERNAL) || op->code == OP_CALLX ||
	       (op->mode & (OP_PROBE | OP_ARENA)) || op->dst > BPF_FP || op->src > BPF_FP;
}

/* Whether it was taken. */
static bool try_decode(const struct bpf_insn *insns, bool internal, struct count *c)
{
	struct unit *u = NULL;

	if (unit_decode(insns, SAMPLE_INSNS, internal, NULL, &u)) {
		c->refused++;
		return false;
	}
	c->taken++;
	c->seen[insns[SAMPLE_BEFORE].code] = true;
	c->codes[u->ops[SAMPLE_BEFORE].code] = 1;
	c->wrong += !internal && is_internal(&u->ops[SAMPLE_BEFORE]);
	c->wrong += !sample_encodes_to(u, insns, SAMPLE_INSNS) && !is_dump_call(insns);
	unit_free(u);
	return true;
}

/* As user forms what is taken at all; that the rest is none the garbage test checks. */
static void try_sample(const struct bpf_insn *insns, void *ctx)
{
	struct count *c = ctx;

	if (try_decode(insns, true, &c[1]))
		try_decode(insns, false, &c[0]);
}

static void note_count(const char *what, const struct count *c, unsigned want)
{
	unsigned opcodes = 0, codes = 0;

	for (unsigned i = 0; i < 256; i++)
		opcodes += c->seen[i];
	for (unsigned i = 0; i < OP_COUNT; i++)
		codes += c->codes[i];
	print_message("# %s: %u opcodes, %u of %u operations, %lu instructions decoded and "
		      "encoded again, %lu refused\n",
		      what, opcodes, codes, OP_COUNT, c->taken, c->refused);
	assert_int_equal(c->wrong, 0);
	assert_int_equal(codes, want);
}

static void every_form_round_trips(void **state)
{
	static struct count c[2];

	sample_each(try_sample, c);
	note_count("all forms", &c[1], OP_COUNT);
	/* not UHMUL, SHMUL, PERCPU, THROW, NOSPEC, CALLX, CALLDIRECT */
	note_count("user forms", &c[0], OP_COUNT - 7);
}

#define I(code, dst, src, off, imm) { code, dst, src, off, imm }
#define EXIT			    I(0x95, 0, 0, 0, 0)

static void refusals_use_the_kernels_words(void **state)
{
	for (unsigned i = 0; i < n_refusals; i++) {
		const struct refusal *f = &refusals[i];
		struct report r = { 0 };
		struct unit *u = NULL;
		int err = unit_decode(f->insns, f->n, false, &r, &u);

		if (err != -EINVAL || !r.text || strncmp(r.text, f->what, strlen(f->what)) ||
		    strcmp(r.text + strlen(f->what), "\n"))
			print_message("# wanted \"%s\", got %d \"%s\"\n", f->what, err,
				      r.text ? r.text : "");
		assert_int_equal(err, -EINVAL);
		assert_non_null(r.text);
		assert_memory_equal(r.text, f->what, strlen(f->what));
		report_free(&r);
	}
	print_message("# %u refusals\n", n_refusals);
}

/* main calls the second and takes the address of the third. */
static const struct bpf_insn three_subs[] = {
	I(0x18, 1, 4, 0, 5),
	I(0, 0, 0, 0, 0),
	I(0x85, 0, 1, 0, 1),
	EXIT,
	I(0x85, 0, 0, 0, 12),
	/**/ EXIT,
	EXIT,
};

static void subprograms_are_found(void **state)
{
	struct unit *u = NULL, *copy;

	assert_int_equal(unit_decode(three_subs, LENGTH(three_subs), false, NULL, &u), 0);
	assert_int_equal(u->n_ops, 6);
	assert_int_equal(u->n_subs, 3);
	assert_int_equal(u->subs[1], 3);
	assert_int_equal(u->subs[2], 5);
	assert_int_equal(unit_sub_of(u, 0), 0);
	assert_int_equal(unit_sub_of(u, 2), 0);
	assert_int_equal(unit_sub_of(u, 4), 1);
	assert_int_equal(unit_sub_of(u, 5), 2);
	assert_int_equal(u->slot[6], 7);
	copy = unit_copy(u);
	assert_non_null(copy);
	assert_true(sample_same(u, copy));
	unit_free(u);
	unit_free(copy);
}

static void kernel_dumps_of_calls_are_read(void **state)
{
	/* bpf_prog_info of a JITed program: off is the distance, imm the subprogram's number */
	static const struct bpf_insn insns[] = { I(0x85, 0, 1, 1, 1), EXIT, EXIT };
	struct unit *u = NULL;

	assert_int_equal(unit_decode(insns, 3, false, NULL, &u), -EINVAL);
	assert_int_equal(unit_decode(insns, 3, true, NULL, &u), 0);
	assert_int_equal(u->ops[0].code, OP_CALLSUB);
	assert_int_equal(unit_target(u, 0), 2);
	unit_free(u);
}

static void far_jumps_do_not_fit(void **state)
{
	struct unit u = { .n_ops = 40000 };
	struct report r = { 0 };
	struct bpf_insn *out = NULL;
	uint32_t n;

	u.ops = mem_zalloc(u.n_ops, sizeof(*u.ops));
	for (uint32_t i = 0; i < u.n_ops; i++)
		u.ops[i].code = OP_EXIT;
	u.ops[0] = (struct op){ .code = OP_JEQ, .off = 39999 };
	assert_int_equal(unit_index(&u, NULL), 0);
	assert_int_equal(unit_encode(&u, &r, &out, &n), -E2BIG);
	assert_string_equal(r.text, "insn 0: jump by 39998 does not fit in 16 bits\n");
	u.ops[0] = (struct op){ .code = OP_JA, .mode = OP_W32, .off = 39999 };
	assert_int_equal(unit_encode(&u, NULL, &out, &n), 0);
	assert_int_equal(out[0].imm, 39998);
	mem_free(out);
	mem_free(u.ops);
	mem_free(u.slot);
	mem_free(u.subs);
	report_free(&r);
}

/* Each failing allocation gives -ENOMEM and leaves nothing behind (ASan looks for leaks). */
static void no_memory(void **state)
{
	unsigned long at = 0;
	int err;

	do {
		struct bpf_insn *out = NULL;
		struct unit *u = NULL;
		uint32_t n;

		mem_fail_at(++at, 0);
		err = unit_decode(three_subs, LENGTH(three_subs), false, NULL, &u);
		if (!err)
			err = unit_encode(u, NULL, &out, &n);
		mem_fail_at(0, 0);
		assert_true(err == 0 || err == -ENOMEM);
		mem_free(out);
		if (u)
			unit_free(u);
	} while (err);
	print_message("# %lu allocations failed\n", at - 1);
	assert_true(at > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_round_trips),
		cmocka_unit_test(refusals_use_the_kernels_words),
		cmocka_unit_test(subprograms_are_found),
		cmocka_unit_test(kernel_dumps_of_calls_are_read),
		cmocka_unit_test(far_jumps_do_not_fit),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests_name("isa wire", tests, NULL, NULL);
}
