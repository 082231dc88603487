/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every row of jit/x86_64/insn.def with every register in every place, every width, and
 * displacements and immediates at their edges: the bytes are those that llvm-mc makes of the row's
 * text. Then operands that do not fit: each is refused by name, with ud2 in the instruction's
 * place.
 *
 * usage: x86_encode_test LLVM-MC   (without an argument it skips aloud)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/x86_64/insn.h"

static const int64_t disps[] = {
	0, 1, -1, 127, -128, 128, -129, 32767, -32768, INT32_MAX, INT32_MIN
};
static const int64_t disps32[] = { 0, 8, -8, 128, INT32_MAX, INT32_MIN };

/* Immediates that the text form cannot mean another row by. */
static const int64_t imms[][8] = {
	[IMM_NONE] = { 0 },
	[IMM_S8] = { 1, 2, -1, 127, -128, 64, -2, 0 },
	[IMM_U8] = { 2, 3, 31, 63, 127, 5, 7, 9 },
	[IMM_S16] = { 1, -1, 127, 128, -129, 32767, -32768, 0 },
	[IMM_S32] = { 128, -129, 255, 65536, -65536, INT32_MAX, INT32_MIN, 1000 },
	[IMM_U32] = { 1, 127, 128, 65535, INT32_MAX, 0x80000000, UINT32_MAX, 2 },
	[IMM_I64] = { 1, -1, INT64_MAX, INT64_MIN, 0x123456789abcdef0, 1ll << 32, 5, -2 },
};

static const char *reg_name(unsigned reg, unsigned size)
{
	static const char *const names[4][16] = {
		{ "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b",
		  "r12b", "r13b", "r14b", "r15b" },
		{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w",
		  "r12w", "r13w", "r14w", "r15w" },
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d",
		  "r11d", "r12d", "r13d", "r14d", "r15d" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11",
		  "r12", "r13", "r14", "r15" },
	};

	return names[__builtin_ctz(size)][reg];
}

static const char *mem_name(unsigned size)
{
	static const char *const names[] = { "byte ptr ", "word ptr ", "dword ptr ", "qword ptr " };

	return size ? names[__builtin_ctz(size)] : "";
}

struct sink {
	FILE *text;	/* assembler input */
	FILE *expected; /* one line of hex for each */
	unsigned long n;
};

static unsigned operand_size(uint8_t s, unsigned w)
{
	return s == 0xff ? w ? 8 : 4 : s;
}

static void text_operand(char *out, size_t n, unsigned fields, unsigned size,
			 const struct x_args *a)
{
	if (fields & (F_RM | F_OPREG))
		snprintf(out, n, "%s", reg_name(a->rm, size));
	else if (fields & F_ACC)
		snprintf(out, n, "%s", reg_name(0, size));
	else if (fields & F_INDEX)
		snprintf(out, n, "%s[%s + %d*%s + %lld]", mem_name(size), reg_name(a->base, 8),
			 1 << a->scale, reg_name(a->index, 8), (long long)a->disp);
	else if (fields & F_MEM)
		snprintf(out, n, "%s[%s + %lld]", mem_name(size), reg_name(a->base, 8),
			 (long long)a->disp);
	else if (fields & F_RIP)
		snprintf(out, n, "%s[rip + %lld]", mem_name(size), (long long)a->disp);
	else if (fields & F_FS)
		snprintf(out, n, "%sfs:[%lld]", mem_name(size), (long long)a->disp);
	else
		*out = '\0';
}

/* The row's text with these operands, in Intel syntax. */
static void text_of(const struct x_row *row, const struct x_args *a, char *out, size_t n)
{
	const struct x_form_row *f = &x_forms[row->form];
	unsigned s1 = operand_size(row->s1, a->w), s2 = operand_size(row->s2, a->w);
	bool first = f->fields & F_REG_FIRST;
	char other[64], imm[32] = "", reg[64] = "";
	const char *comma = f->fields & ~(F_REG_FIRST | F_REG) && f->fields & F_REG ? ", " : "";

	text_operand(other, sizeof(other), f->fields, first ? s2 : s1, a);
	if (f->fields & F_REG)
		snprintf(reg, sizeof(reg), "%s", reg_name(a->reg, first ? s1 : s2));
	if (f->imm)
		snprintf(imm, sizeof(imm), ", %lld", (long long)a->imm);
	else if (row->form == XF_RC)
		strcpy(imm, ", cl");
	else if (f->fields & F_VREG)
		snprintf(imm, sizeof(imm), ", %s", reg_name(a->vreg, s1));
	else if ((row->opcode & 0xff) == 0xd1)
		strcpy(imm, ", 1");
	snprintf(out, n, "%s %s%s%s%s", row->text, first ? reg : other, comma, first ? other : reg,
		 imm);
}

static void check(struct sink *s, enum x_insn insn, const struct x_args *a)
{
	struct builder b = { 0 };
	char text[256];

	x_put(&b, insn, a);
	if (b.err) {
		fprintf(stderr, "# %s: %s\n", x_rows[insn].name, b.message);
		exit(1);
	}
	text_of(&x_rows[insn], a, text, sizeof(text));
	fprintf(s->text, "%s\n", text);
	for (size_t i = 0; i < b.bytes.n; i++)
		fprintf(s->expected, "%02x", b.bytes.at[i]);
	fprintf(s->expected, " %s\n", text);
	s->n++;
	builder_free(&b);
}

/* What has a shorter row of its own is never asked of this one. */
static bool is_other_row(enum x_insn insn, const struct x_args *a)
{
	const struct x_form_row *f = &x_forms[x_rows[insn].form];

	if (f->imm == IMM_S32 && f->fields == F_RM && a->rm == RAX && insn != X_mov_rs32)
		return true;
	return (insn == X_test_ri8 || insn == X_xchg_ar) && a->rm == RAX;
}

static void each_imm(struct sink *s, enum x_insn insn, struct x_args a)
{
	const struct x_form_row *f = &x_forms[x_rows[insn].form];

	for (int i = 0; i < (f->imm ? 8 : 1); i++) {
		a.imm = imms[f->imm][i];
		if (insn == X_mov_rs32 && a.imm > 0)
			continue;
		if (!is_other_row(insn, &a))
			check(s, insn, &a);
	}
}

static void each_mem(struct sink *s, enum x_insn insn, struct x_args a)
{
	const struct x_form_row *f = &x_forms[x_rows[insn].form];
	bool has_base = f->fields & F_MEM, has_index = f->fields & F_INDEX;
	unsigned n = has_base ? sizeof(disps) / sizeof(*disps) : sizeof(disps32) / sizeof(*disps32);

	for (a.base = 0; a.base < (has_base ? 16 : 1); a.base++)
		for (a.index = 0; a.index < (has_index ? 16 : 1); a.index++)
			for (unsigned i = 0; i < n; i++) {
				a.disp = has_base ? disps[i] : disps32[i];
				a.scale = has_index ? (a.index + i) & 3 : 0;
				if (!has_index || a.index != RSP)
					each_imm(s, insn, a);
			}
}

static void each_reg(struct sink *s, enum x_insn insn, unsigned w)
{
	unsigned fields = x_forms[x_rows[insn].form].fields;
	struct x_args a = { .w = w };

	for (a.reg = 0; a.reg < (fields & F_REG ? 16 : 1); a.reg++)
		for (a.rm = 0; a.rm < (fields & (F_RM | F_OPREG) ? 16 : 1); a.rm++)
			for (a.vreg = 0; a.vreg < (fields & F_VREG ? 16 : 1); a.vreg++) {
				if (fields & (F_MEM | F_RIP | F_FS))
					each_mem(s, insn, a);
				else
					each_imm(s, insn, a);
			}
}

/* Runs llvm-mc on `text` and compares the encodings that it shows, line by line. */
static unsigned long compare(const char *mc, const char *text, const char *expected)
{
	char command[512], line[512], want[512], got[64];
	unsigned long differences = 0, n = 0;
	FILE *f, *e = fopen(expected, "r");

	snprintf(command, sizeof(command),
		 "%s -triple=x86_64 -x86-asm-syntax=intel -output-asm-variant=1 "
		 "-mattr=+bmi2,+movbe -show-encoding %s",
		 mc, text);
	f = popen(command, "r");
	while (f && e && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "encoding: [");
		size_t len = 0;

		if (!at)
			continue;
		for (at += 11; at[0] == '0' && at[1] == 'x'; at += at[4] == ',' ? 5 : 4) {
			got[len++] = at[2];
			got[len++] = at[3];
		}
		got[len] = '\0';
		if (!fgets(want, sizeof(want), e))
			break;
		n++;
		if (strncmp(want, got, len) || want[len] != ' ')
			if (differences++ < 20)
				printf("# llvm-mc: %s, we: %s", got, want);
	}
	if (f && pclose(f))
		differences++;
	while (e && fgets(want, sizeof(want), e))
		differences++;
	if (e)
		fclose(e);
	printf("# %lu encodings compared with llvm-mc\n", n);
	return differences + !n;
}

static unsigned long refuse(enum x_insn insn, const struct x_args *a, unsigned long *n)
{
	static const uint8_t ud2[] = { 0x0f, 0x0b };
	struct builder b = { 0 };
	bool ok;

	x_put(&b, insn, a);
	ok = b.err == -EINVAL && strstr(b.message, x_rows[insn].name) && b.bytes.n == 2 &&
	     !memcmp(b.bytes.at, ud2, 2);
	if (!ok)
		printf("# %s takes what does not fit: %s\n", x_rows[insn].name, b.message);
	builder_free(&b);
	++*n;
	return !ok;
}

/* Each field one beyond its edges. */
static unsigned long refusals(void)
{
	static const int64_t beyond[][2] = {
		[IMM_S8] = { 128, -129 },      [IMM_U8] = { 256, -1 },
		[IMM_S16] = { 32768, -32769 }, [IMM_S32] = { 1ll << 31, -(1ll << 31) - 1 },
		[IMM_U32] = { 1ll << 32, -1 }, [IMM_I64] = { 0 },
	};
	unsigned long wrong = 0, n = 0;

	for (enum x_insn i = 0; i < X_COUNT; i++) {
		const struct x_form_row *f = &x_forms[x_rows[i].form];

		for (int k = 0; k < 2 && f->imm && f->imm != IMM_I64; k++)
			wrong += refuse(i, &(struct x_args){ .imm = beyond[f->imm][k] }, &n);
		wrong += refuse(i, &(struct x_args){ .disp = 1ll << 31 }, &n);
		wrong += refuse(i, &(struct x_args){ .disp = -(1ll << 31) - 1 }, &n);
		wrong += refuse(i, &(struct x_args){ .reg = 16 }, &n);
		wrong += refuse(i, &(struct x_args){ .rm = 16 }, &n);
		wrong += refuse(i, &(struct x_args){ .base = 255 }, &n);
		wrong += refuse(i, &(struct x_args){ .w = 2 }, &n);
		if (f->fields & F_INDEX)
			wrong += refuse(i, &(struct x_args){ .index = RSP }, &n);
	}
	printf("# %lu operands refused\n", n);
	return wrong;
}

int main(int argc, char **argv)
{
	char text[] = "/tmp/skep-encode-XXXXXX", expected[] = "/tmp/skep-bytes-XXXXXX";
	struct sink s = { fdopen(mkstemp(text), "w"), fdopen(mkstemp(expected), "w"), 0 };
	unsigned long wrong;

	printf("1..2\n");
	if (!s.text || !s.expected)
		return 1;
	fprintf(s.text, ".intel_syntax noprefix\n");
	for (enum x_insn i = 0; i < X_COUNT; i++)
		for (unsigned w = 0; w < (x_rows[i].flags & XW ? 2 : 1); w++)
			each_reg(&s, i, w);
	fclose(s.text);
	fclose(s.expected);
	if (argc < 2) {
		printf("ok 1 - encodings # SKIP llvm-mc is not installed\n");
	} else {
		wrong = compare(argv[1], text, expected);
		printf("%s 1 - encodings are llvm-mc's\n", wrong ? "not ok" : "ok");
	}
	unlink(text);
	unlink(expected);
	printf("%s 2 - operands that do not fit are refused\n", refusals() ? "not ok" : "ok");
	return 0;
}
