/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every A64 row with every boundary value of each field and random valid ones: the printed text,
 * assembled by llvm-mc, must give the encoder's word, and llvm-mc's disassembly of the word must
 * be the printed text. Every invalid operand must give the fault word and name the operand.
 *
 *   a64_encode_test [CASES [SEED]]    about CASES encodings (200,000)
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/arm64/insn.h"
#include "jit/arm64/row.h"

#define LLVM_MC "llvm-mc-19 -triple=aarch64 -mattr=+v8.5a,+lse,+sb,+pauth,+bti"

struct cases {
	uint32_t *word;
	size_t n, cap;
};

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

/* A random logical immediate, made from its definition: a rotated run, repeated. */
static int64_t random_bitmask(bool is64)
{
	unsigned size = 2u << rnd() % (is64 ? 6 : 5), run = 1 + (unsigned)(rnd() % (size - 1));
	unsigned rot = (unsigned)(rnd() % size);
	uint64_t v = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		v |= (uint64_t)((bit + rot) % size < run) << bit;
	return (int64_t)(is64 ? v : v & 0xffffffff);
}

struct range {
	int64_t lo, hi, step;
};

/* The legal values of a field as a range, written from the Arm ARM, not from the encoder. */
static struct range field_range(enum a64_field id, bool is64)
{
	const struct a64_field_row *f = a64_field_row(id);
	int64_t unit = 1ll << f->arg;

	switch (f->kind) {
	case KIND_REG:
		return (struct range){ 0, 31, 1 };
	case KIND_REGSP:
		return (struct range){ 0, 32, 1 };
	case KIND_AMOUNT:
		return (struct range){ 0, is64 ? 63 : 31, 1 };
	case KIND_HW:
		return (struct range){ 0, is64 ? 3 : 1, 1 };
	case KIND_SINT:
		return (struct range){ -(unit << (f->width - 1)), (unit << (f->width - 1)) - unit,
				       unit };
	case KIND_UOFF:
		return (struct range){ 0, 4095 * unit, unit };
	case KIND_BITNO:
		return (struct range){ 0, 63, 1 };
	case KIND_ADR:
		return (struct range){ -(unit << 20), (unit << 20) - unit, unit };
	case KIND_REGEXT:
		return (struct range){ 2, 7, 1 };
	case KIND_BTI:
		return (struct range){ 0, 3, 1 };
	default:
		return (struct range){ 0, (f->arg ? f->arg : 1 << f->width) - 1, 1 };
	}
}

static bool value_ok(enum a64_field id, int64_t v)
{
	unsigned kind = a64_field_row(id)->kind;

	return !(kind == KIND_REGSP && v == 31) && !(kind == KIND_REGEXT && (v == 4 || v == 5));
}

static int64_t random_value(enum a64_field id, bool is64)
{
	struct range r = field_range(id, is64);
	int64_t v;

	if (a64_field_row(id)->kind == KIND_BITMASK)
		return random_bitmask(is64);
	if (a64_field_row(id)->kind == KIND_SYSREG)
		return a64_sysregs[rnd() % a64_n_sysregs].number;
	do {
		v = r.lo + (int64_t)(rnd() % (uint64_t)((r.hi - r.lo) / r.step + 1)) * r.step;
	} while (!value_ok(id, v));
	return v;
}

/* Boundary values: the ends, their neighbours, and every value where there are few. */
static size_t boundaries(enum a64_field id, bool is64, int64_t v[80])
{
	struct range r = field_range(id, is64);
	int64_t count = (r.hi - r.lo) / r.step + 1;
	size_t n = 0;

	if (a64_field_row(id)->kind == KIND_BITMASK) {
		for (; n < 60; n++)
			v[n] = random_bitmask(is64);
		return n;
	}
	if (a64_field_row(id)->kind == KIND_SYSREG) {
		for (; n < a64_n_sysregs; n++)
			v[n] = a64_sysregs[n].number;
		return n;
	}
	for (int64_t i = 0; count <= 64 && i < count; i++) {
		if (value_ok(id, r.lo + i * r.step))
			v[n++] = r.lo + i * r.step;
	}
	if (count > 64) {
		const int64_t some[] = { r.lo, r.lo + r.step, r.hi - r.step, r.hi,
					 0,    r.step,	      2 * r.step };

		memcpy(v, some, sizeof(some));
		n = sizeof(some) / sizeof(some[0]);
	}
	return n;
}

static size_t invalid_values(enum a64_field id, bool is64, int64_t v[16])
{
	struct range r = field_range(id, is64);
	size_t n = 0;

	if (a64_field_row(id)->kind == KIND_BITMASK) {
		const int64_t bad[] = { 0, is64 ? -1 : 0xffffffffll, 5, 0x12345,
					is64 ? 0x100000005 : 0x100000001 };

		memcpy(v, bad, sizeof(bad));
		return sizeof(bad) / sizeof(bad[0]);
	}
	v[n++] = r.lo - r.step;
	v[n++] = r.hi + r.step;
	v[n++] = r.hi + 1;
	v[n++] = INT64_MAX;
	v[n++] = INT64_MIN;
	v[n++] = r.lo + (1ll << 40);
	if (r.step > 1) {
		v[n++] = r.lo + 1;
		v[n++] = r.step - 1;
	}
	if (a64_field_row(id)->kind == KIND_REGSP)
		v[n++] = 31;
	if (a64_field_row(id)->kind == KIND_REGEXT)
		v[n++] = 4;
	return n;
}

/* Random valid operands; combinations that the architecture calls unpredictable are redrawn. */
static void random_operands(enum a64_insn id, int64_t *o)
{
	int bad;

	do {
		bool is64 = rnd() & 1;

		for (unsigned i = 0; i < a64_operands(id); i++) {
			enum a64_field f = a64_operand_field(id, i);

			o[i] = f == F_SF
				   ? is64
				   : random_value(f, a64_operand_field(id, 0) != F_SF || is64);
		}
		a64_encode(id, o, &bad);
	} while (bad >= 0);
}

static void add_case(struct cases *c, enum a64_insn id, const int64_t *o)
{
	int bad;
	uint32_t word = a64_encode(id, o, &bad);

	if (bad >= 0)
		return; /* a boundary value that makes the combination unpredictable */
	if (c->n == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 4096;
		c->word = realloc(c->word, c->cap * sizeof(*c->word));
	}
	c->word[c->n++] = word;
}

static bool operand_is64(enum a64_insn id, const int64_t *o)
{
	return a64_operand_field(id, 0) != F_SF || o[0] == 1;
}

/* One operand through all its boundary and invalid values. Returns the number of failures. */
static unsigned walk_operand(struct cases *c, enum a64_insn id, unsigned i, unsigned long *refused)
{
	int64_t o[A64_OPERANDS] = { 0 }, v[80];
	unsigned failures = 0;

	for (int round = 0; round < 4; round++) {
		bool is64;
		size_t n;

		random_operands(id, o);
		is64 = operand_is64(id, o);
		n = boundaries(a64_operand_field(id, i), is64, v);
		for (size_t k = 0; k < n; k++) {
			int64_t was = o[i];

			o[i] = v[k];
			add_case(c, id, o);
			o[i] = was;
		}
		n = invalid_values(a64_operand_field(id, i), is64, v);
		for (size_t k = 0; k < n; k++) {
			int64_t was = o[i];
			int bad;

			o[i] = v[k];
			if (a64_encode(id, o, &bad) != A64_FAULT || bad != (int)i) {
				printf("# %s operand %u = %lld is not refused\n", a64_name(id), i,
				       (long long)v[k]);
				failures++;
			}
			(*refused)++;
			o[i] = was;
		}
	}
	return failures;
}

/* Register overlaps that the Arm ARM calls unpredictable. */
static unsigned check_overlaps(unsigned long *refused)
{
	static const struct {
		enum a64_insn id;
		int64_t o[4];
		bool ok;
	} rows[] = {
		{ A64_LDP_X_O, { 1, 1, 2, 0 }, false },
		{ A64_LDP_W_PRE, { 1, 2, 2, 8 }, false },
		{ A64_LDP_X_POST, { 2, 1, 2, 16 }, false },
		{ A64_STP_X_PRE, { 1, 2, 1, 16 }, false },
		{ A64_STP_X_POST, { 1, 2, 2, 16 }, false },
		{ A64_STP_X_O, { 1, 1, 1, 16 }, true },
		{ A64_LDPSW_O, { 3, 3, 1, 8 }, false },
		{ A64_STXR_X, { 1, 1, 2 }, false },
		{ A64_STLXR_W, { 1, 2, 1 }, false },
		{ A64_STXR_W, { 1, 2, 2 }, true },
		{ A64_LDR_X_PRE, { 1, 1, 8 }, false },
		{ A64_STR_X_POST, { 1, 1, 8 }, false },
		{ A64_STR_X_PRE, { 31, A64_SP, -16 }, true },
		{ A64_LDR_X_U, { 1, 1, 8 }, true },
	};
	unsigned failures = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int bad;
		uint32_t word = a64_encode(rows[i].id, rows[i].o, &bad);

		if (rows[i].ok != (bad < 0) || (bad >= 0 && word != A64_FAULT)) {
			printf("# overlap row %zu: %s\n", i, a64_name(rows[i].id));
			failures++;
		}
		*refused += !rows[i].ok;
	}
	return failures;
}

static FILE *open_dir(const char *dir, const char *name, const char *mode)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, mode);
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

static int run(const char *dir, const char *fmt)
{
	char cmd[2048];

	snprintf(cmd, sizeof(cmd), fmt, dir, dir, dir);
	return system(cmd);
}

/* Assembles the printed text of all words and compares. */
static unsigned check_assembly(const struct cases *c, const char *dir)
{
	FILE *f = open_dir(dir, "t.s", "w");
	unsigned failures = 0;
	char text[96];
	uint32_t word;

	for (size_t i = 0; i < c->n; i++) {
		a64_print(c->word[i], text, sizeof(text));
		fprintf(f, "%s\n", text);
	}
	fclose(f);
	if (run(dir,
		LLVM_MC " -filetype=obj %s/t.s -o %s/t.o && llvm-objcopy-19 -O binary -j .text "
			"%1$s/t.o %1$s/t.bin"))
		return 1;
	f = open_dir(dir, "t.bin", "r");
	for (size_t i = 0; i < c->n; i++) {
		if (fread(&word, 4, 1, f) != 1)
			word = 0;
		a64_print(c->word[i], text, sizeof(text));
		if (word != c->word[i] && failures++ < 20)
			printf("# %s: encoder %08x, llvm-mc %08x\n", text, c->word[i], word);
	}
	fclose(f);
	return failures;
}

static void one_space(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (isspace((unsigned char)*s) && (to > s || !to[0]))
			continue;
		*to++ = isspace((unsigned char)*s) ? ' ' : *s;
	}
	while (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* Next line that is an instruction: llvm-mc indents those, and directives begin with a dot. */
static bool next_insn(FILE *f, char *line, int size)
{
	while (fgets(line, size, f)) {
		char *p = line;

		while (isspace((unsigned char)*p))
			p++;
		if (!*p || *p == '.')
			continue;
		memmove(line, p, strlen(p) + 1);
		p = strstr(line, "//");
		if (p)
			*p = '\0';
		one_space(line);
		p = line + strlen(line);
		while (p > line && isspace((unsigned char)p[-1]))
			*--p = '\0';
		return true;
	}
	return false;
}

static unsigned check_disassembly(const struct cases *c, const char *dir)
{
	FILE *f = open_dir(dir, "t.hex", "w");
	unsigned failures = 0;
	char text[96], line[256];

	for (size_t i = 0; i < c->n; i++)
		fprintf(f, "0x%02x 0x%02x 0x%02x 0x%02x\n", c->word[i] & 255, c->word[i] >> 8 & 255,
			c->word[i] >> 16 & 255, c->word[i] >> 24);
	fclose(f);
	if (run(dir, LLVM_MC " -disassemble %s/t.hex -o %s/t.dis"))
		return 1;
	f = open_dir(dir, "t.dis", "r");
	for (size_t i = 0; i < c->n; i++) {
		a64_print(c->word[i], text, sizeof(text));
		if (!next_insn(f, line, sizeof(line)))
			snprintf(line, sizeof(line), "(nothing)");
		if (strcmp(line, text) && failures++ < 20)
			printf("# %08x: printer '%s', llvm-mc '%s'\n", c->word[i], text, line);
	}
	fclose(f);
	return failures;
}

static void report(int n, unsigned failures, const char *what)
{
	printf("%sok %d - %s\n", failures ? "not " : "", n, what);
}

int main(int argc, char **argv)
{
	unsigned long want = argc > 1 ? strtoul(argv[1], NULL, 10) : 200000, refused = 0;
	unsigned invalid = 0, assembly, disassembly;
	char dir[] = "/tmp/a64-XXXXXX", what[128];
	struct cases c = { 0 };

	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	if (system("llvm-mc-19 --version >/dev/null 2>&1")) {
		puts("1..0 # SKIP llvm-mc-19 is not installed");
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	for (int id = 0; id < A64_COUNT; id++) {
		for (unsigned i = 0; i < a64_operands((enum a64_insn)id); i++)
			invalid += walk_operand(&c, (enum a64_insn)id, i, &refused);
	}
	invalid += check_overlaps(&refused);
	while (c.n < want) {
		int64_t o[A64_OPERANDS] = { 0 };
		enum a64_insn id = (enum a64_insn)(rnd() % A64_COUNT);

		random_operands(id, o);
		add_case(&c, id, o);
	}
	assembly = check_assembly(&c, dir);
	disassembly = check_disassembly(&c, dir);
	puts("1..3");
	snprintf(what, sizeof(what), "%lu invalid operands of %d instructions are refused", refused,
		 A64_COUNT);
	report(1, invalid, what);
	snprintf(what, sizeof(what), "%zu encodings equal llvm-mc's of the printed text", c.n);
	report(2, assembly, what);
	snprintf(what, sizeof(what), "%zu printed texts equal llvm-mc's disassembly", c.n);
	report(3, disassembly, what);
	run(dir, "rm -r %s");
	free(c.word);
	return invalid || assembly || disassembly;
}
