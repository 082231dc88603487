/* SPDX-License-Identifier: BSD-2-Clause */
/* Printing and parsing: round trips, what is accepted, what messages say. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "sample.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct count {
	unsigned long same, wrong;
};

/* The unit's text in this syntax, read back. NULL with a note when it is refused. */
static struct unit *reread(const struct unit *u, enum print_syntax syntax)
{
	struct report text = { 0 }, said = { 0 };
	struct unit *back = NULL;

	unit_print(u, syntax, &text);
	if (unit_parse("text", text.text, &said, &back))
		print_message("# %s# of\n# %s\n", said.text, text.text);
	report_free(&text);
	report_free(&said);
	return back;
}

static void reread_sample(const struct unit *u, enum print_syntax syntax, struct count *c)
{
	const struct op *op = &u->ops[SAMPLE_BEFORE];
	struct unit *back;

	/* what the kernel's syntax does not show: the second half of subprog[], kfunc modules */
	if (syntax == PRINT_KERNEL && op->code == OP_LDFUNC && op->imm)
		return;
	back = reread(u, syntax);
	if (back && sample_same(u, back))
		c->same++;
	else
		c->wrong++;
	unit_free(back);
}

static void try_sample(const struct bpf_insn *insns, void *ctx)
{
	struct count *c = ctx;
	struct unit *u = NULL;

	if (unit_decode(insns, SAMPLE_INSNS, true, NULL, &u))
		return;
	reread_sample(u, PRINT_LLVM, &c[PRINT_LLVM]);
	reread_sample(u, PRINT_KERNEL, &c[PRINT_KERNEL]);
	unit_free(u);
}

static void every_op_is_read_back(void **state)
{
	struct count c[2] = { 0 };

	sample_each(try_sample, c);
	print_message("# texts read back: %lu in LLVM's syntax, %lu in the kernel's\n",
		      c[PRINT_LLVM].same, c[PRINT_KERNEL].same);
	assert_int_equal(c[PRINT_LLVM].wrong, 0);
	assert_int_equal(c[PRINT_KERNEL].wrong, 0);
	assert_true(c[PRINT_LLVM].same > 50000);
}

/* Texts of the first op, as written and as both syntaxes print it. An `exit` follows. */
static const struct spelling {
	const char *text, *llvm, *kernel;
} spellings[] = {
	{ "r1 += r2", "r1 += r2", "(0f) r1 += r2" },
	{ "w1 s/= -3", "w1 s/= -3", "(34) w1 s/= -3" },
	{ "r1 s%= w", NULL, NULL },
	{ "r1 s>>= 3", "r1 s>>= 3", "(c7) r1 s>>= 3" },
	{ "r1 += 0xffffffff", "r1 += -1", "(07) r1 += -1" },
	{ "r1=-r1", "r1 = -r1", "(87) r1 = -r1" },
	{ "w1 = - w1", "w1 = -w1", "(84) w1 = -w1" },
	{ "r1 = -1", "r1 = -1", "(b7) r1 = -1" },
	{ "r1 = w2", "w1 = w2", "(bc) w1 = w2" },
	{ "r1 = (s8)r2", "r1 = (s8)r2", "(bf) r1 = (s8)r2" },
	{ "r1 = be16 r1", "r1 = be16 r1", "(dc) r1 = be16 r1" },
	{ "r1 = bswap64 r1", "r1 = bswap64 r1", "(d7) r1 = bswap64 r1" },
	{ "r1 = 5 ll", "r1 = 5 ll", "(18) r1 = 0x5" },
	{ "(18) r1 = 0x5", "r1 = 5 ll", "(18) r1 = 0x5" },
	{ "r1 = 0xffffffffffffffff ll", "r1 = -1 ll", "(18) r1 = 0xffffffffffffffff" },
	{ "r1 = map_fd 5 ll", "r1 = map_fd 5 ll", "(18) r1 = map[id:5]" },
	{ "r1 = map[id:5][0]+16", "r1 = map_value 5 + 16 ll", "(18) r1 = map[id:5][0]+16" },
	{ "r1 = map_idx_value 2 + 4 ll", "r1 = map_idx_value 2 + 4 ll", "(18) r1 = map[idx:2]+4" },
	{ "r1 = flows ll\n.map flows 7", "r1 = map_fd 7 ll", "(18) r1 = map[id:7]" },
	{ "ld_pseudo	r1, 2, 0x300000005", "r1 = map_value 5 + 3 ll",
	  "(18) r1 = map[id:5][0]+3" },
	{ "w0 = *(u32 *)(r1 + 4)", "r0 = *(u32 *)(r1 + 4)", "(61) r0 = *(u32 *)(r1 +4)" },
	{ "r0 = *(s16 *)(r1 - 4)", "r0 = *(s16 *)(r1 - 4)", "(89) r0 = *(s16 *)(r1 -4)" },
	{ "r0 = *( u8* ) ( r1 )", "r0 = *(u8 *)(r1 + 0)", "(71) r0 = *(u8 *)(r1 +0)" },
	{ "*(u32 *)(r10 -4) = w1", "*(u32 *)(r10 - 4) = r1", "(63) *(u32 *)(r10 -4) = r1" },
	{ "*(u64 *)(r10 - 8) = 0xff", "*(u64 *)(r10 - 8) = 255", "(7a) *(u64 *)(r10 -8) = 255" },
	{ "r0 = *(u16 *)skb[12]", "r0 = *(u16 *)skb[12]", "(28) r0 = *(u16 *)skb[12]" },
	{ "r0 = *(u8 *)skb[r3]", "r0 = *(u8 *)skb[r3]", "(50) r0 = *(u8 *)skb[r3 + 0]" },
	{ "lock *(u64 *)(r1 +0) += r2", "lock *(u64 *)(r1 + 0) += r2",
	  "(db) lock *(u64 *)(r1 +0) += r2" },
	{ "lock *(u32 *)(r1 + 0) |= w2", "lock *(u32 *)(r1 + 0) |= w2",
	  "(c3) lock *(u32 *)(r1 +0) |= r2" },
	{ "r2 = atomic64_fetch_add((u64 *)(r1 +8), r2)",
	  "r2 = atomic_fetch_add((u64 *)(r1 + 8), r2)",
	  "(db) r2 = atomic64_fetch_add((u64 *)(r1 +8), r2)" },
	{ "w2 = xchg32_32(r1 + 8, w2)", "w2 = xchg32_32(r1 + 8, w2)",
	  "(c3) r2 = atomic_xchg((u32 *)(r1 +8), r2)" },
	{ "r0 = cmpxchg_64(r1 - 8, r0, r2)", "r0 = cmpxchg_64(r1 - 8, r0, r2)",
	  "(db) r0 = atomic64_cmpxchg((u64 *)(r1 -8), r0, r2)" },
	{ "w0 = load_acquire((u16 *)(r1 + 2))", "w0 = load_acquire((u16 *)(r1 + 2))",
	  "(cb) r0 = load_acquire((u16 *)(r1 +2))" },
	{ "store_release((u64 *)(r1 + 0), r2)", "store_release((u64 *)(r1 + 0), r2)",
	  "(db) store_release((u64 *)(r1 +0), r2)" },
	{ "if w1 s> 0x5 goto pc+0", "if w1 s> 5 goto L1", "(66) if w1 s> 0x5 goto pc+0" },
	{ "if r1 == -1 goto +0", "if r1 == -1 goto L1", "(15) if r1 == 0xffffffff goto pc+0" },
	{ "if r1 & r2 goto end\nend:", "if r1 & r2 goto L1", "(4d) if r1 & r2 goto pc+0" },
	{ "gotol +0", "gotol L1", "(06) gotol pc+0" },
	{ "may_goto +0", "may_goto L1", "(e5) may_goto pc+0" },
	{ "call 1", "call 1", "(85) call bpf_map_lookup_elem#1" },
	{ "call bpf_map_lookup_elem", "call 1", "(85) call bpf_map_lookup_elem#1" },
	{ "call bpf_map_lookup_elem#213232", "call 1", "(85) call bpf_map_lookup_elem#1" },
	{ "call htab_lookup#213232", "call 213232", "(85) call unknown#213232" },
	{ "call 0xffffffff81#-5", "call -5", "(85) call unknown#-5" },
	{ "call tail_call", "call 12", "(85) call bpf_tail_call#12" },
	{ "call kfunc 77", "call kfunc 77", "(85) call kernel-function#77" },
	{ "callx r3", "callx r3", "(8d) callx r3" },
	{ "r1 = addr_space_cast(r2, 0, 1)", "r1 = addr_space_cast(r2, 0, 1)",
	  "(bf) r1 = addr_space_cast(r2, 0, 1)" },
	{ "r0 = &(void __percpu *)(r0)", "r0 = &(void __percpu *)(r0)",
	  "(bf) r0 = &(void __percpu *)(r0)" },
	{ "r0 = probe *(u32 *)(r1 + 4)", "r0 = probe *(u32 *)(r1 + 4)",
	  "(21) r0 = probe *(u32 *)(r1 +4)" },
	{ "arena lock *(u64 *)(r1 + 0) += r2", "arena lock *(u64 *)(r1 + 0) += r2",
	  "(fb) arena lock *(u64 *)(r1 +0) += r2" },
	{ "r1 *h= 3", "r1 *h= 3", "(27) r1 *h= 3" },
	{ "nospec", "nospec", "(c2) nospec" },
	{ "tail_call", "tail_call", "(f5) tail_call" },
	{ "  12: (b7) r0 = 1", "r0 = 1", "(b7) r0 = 1" },
	{ "7: (07) r1 += -8           ; R1_w=fp-8", "r1 += -8", "(07) r1 += -8" },
	{ "r0 = 1 // c\n# c\n/* c\nr1 = 2 */ ; c", "r0 = 1", "(b7) r0 = 1" },
	{ "r0 = 1; ; exit;", "r0 = 1", "(b7) r0 = 1" },
};

static void spelling_check(const struct spelling *s)
{
	struct report said = { 0 };
	struct unit *u = NULL;
	char text[256], line[256];
	int err;

	snprintf(text, sizeof(text), "%s\nexit\n", s->text);
	err = unit_parse("t", text, &said, &u);
	if (err)
		print_message("# %s: %s", s->text, said.text);
	assert_int_equal(err, s->llvm ? 0 : -EINVAL);
	report_free(&said);
	if (!s->llvm)
		return;
	op_print(u, 0, PRINT_LLVM, line, sizeof(line));
	assert_string_equal(line, s->llvm);
	op_print(u, 0, PRINT_KERNEL, line, sizeof(line));
	assert_string_equal(line, s->kernel);
	unit_free(u);
}

static void spellings_of_both_syntaxes(void **state)
{
	for (unsigned i = 0; i < LENGTH(spellings); i++)
		spelling_check(&spellings[i]);
	print_message("# %zu spellings\n", LENGTH(spellings));
}

static const struct refusal {
	const char *text, *what;
} refusals[] = {
	{ "", "t: a program needs at least one instruction" },
	{ "r0 = 1", "t: last insn is not an exit or jmp" },
	{ "exit\n  foo bar\n", "t:2:3: unexpected 'foo'; expected a statement" },
	{ "r13 = 1\nexit", "t:1:1: unexpected 'r13'; expected a statement" },
	{ "r1 + 1\nexit", "t:1:4: unexpected '+'; expected =, +=, " },
	{ "r1 =\nexit", "t:1:5: the line ends too early; expected a register" },
	{ "w1 = r2\nexit", "t:1:6: the operands differ in width; expected w0 to w10" },
	{ "r1 += 0x100000000\nexit", "t:1:7: the number does not fit in 32 bits; " },
	{ "r1 = 99999999999999999999 ll\nexit", "t:1:6: the number does not fit in 64 bits; " },
	{ "r1 = *(u32 *)(r2 + 40000)\nexit", "t:1:20: the offset does not fit in 16 bits; " },
	{ "r1 = *(u31 *)(r2 + 4)\nexit", "t:1:8: unexpected 'u31'; expected u8, u16, u32" },
	{ "r1 = *(s64 *)(r2 + 4)\nexit", "t:1:1: there is no such operation of this size; " },
	{ "lock *(u8 *)(r1 + 0) += r2\nexit", "t:1:1: there is no such operation of this size" },
	{ "goto nowhere\nexit", "t:1:6: unknown label; expected a label of this file" },
	{ "goto +5\nexit", "t:1:6: no instruction begins there; " },
	{ "goto +1\nr1 = 1 ll\nexit", "t:1:6: no instruction begins there; " },
	{ "call nothing\nexit", "t:1:6: unknown function; expected a label, a helper's name" },
	{ "r1 = flows ll\nexit", "t:1:6: unknown name; expected the label of a subprogram or" },
	{ "r1 = flows\nexit", "t:1:6: unknown name; expected a register, a number, a load" },
	{ "a:\na:\nexit", "t:2:1: 'a' is there twice; names are unique" },
	{ "goto end\nexit\nend:", "t:3:1: 'end' has no instruction behind it" },
	{ "exit exit", "t:1:6: unexpected 'exit'; expected the end of the line" },
	{ ".quad 5\nexit", "t:1:1: unexpected '.quad'; directives in code are" },
	{ "r1 = -r2\nexit", "t:1:7: a register is negated in place; " },
	{ "r2 = cmpxchg_64(r1 + 0, r0, r2)\nexit", "t:1:31: cmpxchg compares with r0 " },
	{ "\x01\nexit", "t:1:1: unexpected byte 0x01; expected a statement" },
};

static void messages_say_where_and_what(void **state)
{
	for (unsigned i = 0; i < LENGTH(refusals); i++) {
		const struct refusal *f = &refusals[i];
		struct report said = { 0 };
		struct unit *u = NULL;
		int err = unit_parse("t", f->text, &said, &u);

		if (!said.text || strncmp(said.text, f->what, strlen(f->what)))
			print_message("# wanted \"%s\", got %s", f->what, said.text ?: "\n");
		assert_int_equal(err, -EINVAL);
		assert_memory_equal(said.text, f->what, strlen(f->what));
		assert_ptr_equal(strchr(said.text, '\n'), said.text + said.n - 1);
		report_free(&said);
	}
	print_message("# %zu messages\n", LENGTH(refusals));
}

/* As clang -S writes it: .text first, the program in a section of its own, data behind. */
static const char compiled[] = "	.text\n"
			       "	.file	\"x.c\"\n"
			       "	.p2align	3\n"
			       "	.type	helper,@function\n"
			       "helper:                                 # @helper\n"
			       "# %bb.0:\n"
			       "	w0 = w1\n"
			       "	exit\n"
			       ".Lfunc_end0:\n"
			       "	.size	helper, .Lfunc_end0-helper\n"
			       "	.section	xdp,\"ax\",@progbits\n"
			       "	.globl	prog\n"
			       "prog:\n"
			       "	r1 = *(u32 *)(r1 + 0)\n"
			       "	if r1 == 0 goto LBB1_2\n"
			       "	call helper\n"
			       "LBB1_2:\n"
			       "	r1 = helper ll\n"
			       "	exit\n"
			       "	.data\n"
			       "x:	.long	5                       # 0x5\n"
			       "	.section	license,\"aw\",@progbits\n"
			       "_license:\n"
			       "	.asciz	\"GPL\"\n";

static void sections_are_ordered(void **state)
{
	struct report said = { 0 }, text = { 0 };
	struct unit *u = NULL;

	if (unit_parse("x.s", compiled, &said, &u))
		print_message("# %s", said.text);
	assert_non_null(u);
	assert_int_equal(u->n_subs, 2);
	assert_string_equal(u->sub_names[0], "prog");
	assert_string_equal(u->sub_names[1], "helper");
	unit_print(u, PRINT_LLVM, &text);
	assert_string_equal(text.text, "prog:\n"
				       "\tr1 = *(u32 *)(r1 + 0)\n"
				       "\tif r1 == 0 goto L3\n"
				       "\tcall helper\n"
				       "L3:\n"
				       "\tr1 = func helper ll\n"
				       "\texit\n"
				       "helper:\n"
				       "\tw0 = w1\n"
				       "\texit\n");
	unit_free(u);
	report_free(&text);
	report_free(&said);
}

static const char dump[] = "int xdp_prog2(struct xdp_md * ctx):\n"
			   "; int xdp_prog2(struct xdp_md *ctx) { /* 1 */\n"
			   "   0: (18) r1 = map[id:5][0]+16\n"
			   "   2: (85) call pc+2#bpf_prog_6deef7357e7b4530_f\n"
			   "   3: (15) if r0 == 0xfffffffe goto pc+0\n"
			   "   4: (95) exit\n"
			   "bool f(void):\n"
			   "   5: (85) call bpf_get_prandom_u32#12345\n"
			   "   6: (95) exit\n";

static void dumps_of_bpftool_are_read(void **state)
{
	struct report said = { 0 }, text = { 0 };
	struct unit *u = NULL;

	if (unit_parse("dump", dump, &said, &u))
		print_message("# %s", said.text);
	assert_non_null(u);
	unit_print(u, PRINT_KERNEL, &text);
	assert_string_equal(text.text, "xdp_prog2:\n"
				       "   0: (18) r1 = map[id:5][0]+16\n"
				       "   2: (85) call pc+2#f\n"
				       "   3: (15) if r0 == 0xfffffffe goto pc+0\n"
				       "   4: (95) exit\n"
				       "f:\n"
				       "   5: (85) call bpf_get_prandom_u32#7\n"
				       "   6: (95) exit\n");
	unit_free(u);
	report_free(&text);
	report_free(&said);
}

/* Names that would be read as something else are not used as labels. */
static void names_that_cannot_be_labels(void **state)
{
	static const char *const names[] = { "r1", "f", "f" };
	struct report text = { 0 };
	struct unit *u = NULL, *back;

	assert_int_equal(unit_parse("t", "call a\ncall b\nexit\na: exit\nb: exit", NULL, &u), 0);
	assert_int_equal(unit_set_names(u, names), 0);
	unit_print(u, PRINT_LLVM, &text);
	assert_string_equal(text.text, "\tcall sub1\n\tcall sub2\n\texit\nsub1:\n\texit\n"
				       "sub2:\n\texit\n");
	back = reread(u, PRINT_LLVM);
	assert_true(sample_same(u, back));
	unit_free(u);
	unit_free(back);
	report_free(&text);
}

/* Found by fuzzing: the only subprogram needs a label when it calls itself. */
static void a_program_that_calls_itself(void **state)
{
	struct unit *u = NULL, *back;

	assert_int_equal(unit_parse("t", "call pc-1\nexit", NULL, &u), 0);
	back = reread(u, PRINT_LLVM);
	assert_non_null(back);
	assert_true(sample_same(u, back));
	unit_free(u);
	unit_free(back);
}

/* A resolved unit shows the maps' ids, and source lines as comments. */
static void resolved_units_show_ids(void **state)
{
	static const struct map_desc desc = { .id = 42, .name = "flows" };
	struct line line = { .op = 1, .line = 7, .text = "return 0; */\nx" };
	struct ref ref = { .kind = REF_MAP, .map = &desc };
	struct report text = { 0 };
	struct unit *u = NULL, *back;
	struct unit shown;

	assert_int_equal(
	    unit_parse("t", "r1 = map_value 0 + 8 ll\nr2 = map_fd 0 ll\nexit", NULL, &u), 0);
	shown = *u;
	shown.refs = &ref;
	shown.n_refs = 1;
	shown.lines = &line;
	shown.n_lines = 1;
	unit_print(&shown, PRINT_KERNEL, &text);
	assert_string_equal(text.text, "   0: (18) r1 = map[id:42][0]+8\n"
				       "; return 0; */\n"
				       "   2: (18) r2 = map[id:42]\n"
				       "   4: (95) exit\n");
	back = reread(&shown, PRINT_LLVM);
	assert_non_null(back);
	assert_int_equal(back->ops[0].code, OP_LDVALUE);
	assert_int_equal(back->ops[0].imm, 42);
	assert_int_equal(back->ops[1].imm, 42);
	unit_free(back);
	unit_free(u);
	report_free(&text);
}

static void no_memory(void **state)
{
	unsigned long at = 0;
	int err;

	do {
		struct report text = { 0 };
		struct unit *u = NULL;

		mem_fail_at(++at, 0);
		err = unit_parse("x.s", compiled, NULL, &u);
		if (!err)
			unit_print(u, PRINT_LLVM, &text);
		err = err ? err : text.err;
		mem_fail_at(0, 0);
		assert_true(err == 0 || err == -ENOMEM);
		unit_free(u);
		report_free(&text);
	} while (err);
	print_message("# %lu allocations failed\n", at - 1);
	assert_true(at > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_op_is_read_back),
		cmocka_unit_test(spellings_of_both_syntaxes),
		cmocka_unit_test(messages_say_where_and_what),
		cmocka_unit_test(sections_are_ordered),
		cmocka_unit_test(dumps_of_bpftool_are_read),
		cmocka_unit_test(names_that_cannot_be_labels),
		cmocka_unit_test(a_program_that_calls_itself),
		cmocka_unit_test(resolved_units_show_ids),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests_name("isa text", tests, NULL, NULL);
}
