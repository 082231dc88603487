/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Garbage and damaged programs for the decoder and the parser: they must refuse or accept, and
 * what they accept must encode, print and read back. Arguments: rounds [seed].
 */
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "sample.h"

enum { INSNS_MAX = 24, TEXT_MAX = 1200 };

struct count {
	unsigned long tried, accepted, wrong;
};

static uint64_t rng_state;

/* xorshift64*: all states but 0 are reached. */
static uint64_t rng(void)
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return rng_state * 0x2545f4914f6cdd1dull;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(rng() >> 33) % n;
}

static const uint8_t common_opcodes[] = { 0x07, 0x0f, 0xb7, 0xbf, 0x18, 0x61, 0x63, 0x7a,
					  0xdb, 0xc3, 0x05, 0x06, 0x15, 0x1d, 0x56, 0x85,
					  0x95, 0xe5, 0xd4, 0xd7, 0x37, 0x3c, 0x91, 0xcb };
static const int32_t common_imms[] = { 0, 0, 0, 1, 2, 5, 12, 16, 32, 64, 0x41, 0xf1, 0x100, 0x110 };

/* Mostly near what is valid: a common opcode, small registers, small or special numbers. */
static struct bpf_insn random_insn(void)
{
	struct bpf_insn in = { .code = (uint8_t)rng() };

	if (below(8))
		in.code = common_opcodes[below(sizeof(common_opcodes))];
	in.dst_reg = below(8) ? below(3) : (rng() & 15);
	in.src_reg = below(8) ? below(3) : (rng() & 15);
	in.off = below(4) ? (int16_t)(below(9) - 4) : below(4) ? 0 : (int16_t)rng();
	in.imm = below(8) ? common_imms[below(14)] : (int32_t)rng();
	if (in.code != 0x05 && below(2))
		in.off = 0;
	return in;
}

/* A failure as TAP's comment. */
static void note(const char *what, const struct report *text)
{
	printf("# %s#   ", what);
	for (size_t i = 0; i < text->n; i++) {
		putchar(text->text[i]);
		if (text->text[i] == '\n')
			printf("#   ");
	}
	putchar('\n');
}

static bool survives_text(const struct unit *u, enum print_syntax syntax)
{
	struct report text = { 0 }, said = { 0 };
	struct unit *back = NULL;
	bool same;

	unit_print(u, syntax, &text);
	same = !unit_parse("text", text.text, &said, &back) && sample_same(u, back);
	if (!same)
		note(said.text ? said.text : "read back as another program:\n", &text);
	unit_free(back);
	report_free(&text);
	report_free(&said);
	return same;
}

static void fuzz_decode(struct count *c)
{
	struct bpf_insn insns[INSNS_MAX];
	uint32_t n = 1 + below(INSNS_MAX);
	struct report said = { 0 };
	struct unit *u = NULL;

	for (uint32_t i = 0; i < n; i++) {
		insns[i] = below(16) ? random_insn() : (struct bpf_insn){ .code = 0x95 };
		if (insns[i].code == 0x18 && i + 1 < n && below(16))
			insns[++i] = (struct bpf_insn){ .imm = below(2) ? 0 : (int32_t)rng() };
	}
	if (below(16))
		insns[n - 1] = (struct bpf_insn){ .code = 0x95 };
	c->tried++;
	if (!unit_decode(insns, n, true, &said, &u)) {
		c->accepted++;
		c->wrong += !survives_text(u, PRINT_LLVM);
		unit_free(u);
	} else if (!unit_decode(insns, n, false, NULL, &u)) {
		c->wrong++; /* a user's form is also a form */
		unit_free(u);
	} else if (!said.text) {
		c->wrong++; /* a refusal has a reason */
	}
	report_free(&said);
}

static const char *const pieces[] = {
	"r1",
	"w2",
	"r10",
	" = ",
	" += ",
	"*(u32 *)",
	"(r1 + 4)",
	"lock ",
	"skb[",
	"]",
	"goto ",
	"if ",
	" == ",
	"pc+1",
	"+1",
	"-1",
	"call ",
	"L1",
	"L1:",
	"\n",
	"\n",
	"\nexit",
	"exit\n",
	" ll",
	"0x10",
	"5",
	"map[id:",
	"[0]+16",
	"(18)",
	"12: ",
	"#",
	"; ",
	"/*",
	"*/",
	"//",
	".section ",
	".text",
	".map ",
	"func ",
	"sub1",
	"(",
	")",
	",",
	"&",
	"-",
	"probe ",
	"arena ",
	"le16 ",
	"(s8)",
	"atomic_fetch_add(",
	"(u64 *)(r1 + 0)",
	"load_acquire(",
	"99999999999999999999",
	"-0x8000000000000000",
	"\t",
	"\r\n",
	"bpf_loop#181",
	"\"x\"",
	"\x80",
};

static size_t random_text(char *text)
{
	size_t n = 0;

	for (uint32_t k = 1 + below(60); k && n < TEXT_MAX - 64; k--) {
		const char *piece = pieces[below(sizeof(pieces) / sizeof(pieces[0]))];

		if (below(12)) {
			strcpy(text + n, piece);
			n += strlen(piece);
		} else {
			text[n++] = (char)(1 + below(255));
		}
	}
	text[n] = '\0';
	return n;
}

/* A valid program's text with a few bytes changed, dropped or doubled. */
static size_t damaged_text(char *text, const char *from, size_t n)
{
	n = n < TEXT_MAX - 8 ? n : TEXT_MAX - 8;
	memcpy(text, from, n);
	for (uint32_t k = 1 + below(4); n > 2 && k; k--) {
		size_t at = below((uint32_t)n - 1);

		if (below(2)) {
			text[at] = (char)(below(2) ? 1 + below(255) : from[below((uint32_t)n)]);
		} else {
			memmove(text + at, text + at + 1, n - at - 1);
			n--;
		}
	}
	text[n] = '\0';
	return n;
}

static void fuzz_parse(struct count *c, const char *valid, size_t n)
{
	struct report said = { 0 };
	struct unit *u = NULL;
	char text[TEXT_MAX];

	if (below(2))
		random_text(text);
	else
		damaged_text(text, valid, n);
	c->tried++;
	if (!unit_parse("t", text, &said, &u)) {
		c->accepted++;
		c->wrong += !survives_text(u, PRINT_LLVM);
		unit_free(u);
	} else if (!said.text || strchr(said.text, '\n') != said.text + said.n - 1) {
		c->wrong++;
	}
	report_free(&said);
}

static const char valid[] = "main:\n"
			    "	r6 = r1\n"
			    "	r1 = map_value 5 + 8 ll\n"
			    "	if w1 s> 5 goto L1\n"
			    "	r2 = atomic_fetch_add((u64 *)(r1 + 8), r2)\n"
			    "	lock *(u32 *)(r1 - 4) |= w2\n"
			    "L1:\n"
			    "	r0 = *(s16 *)(r6 + 4)\n"
			    "	*(u64 *)(r10 - 8) = -1\n"
			    "	call sub1\n"
			    "	r1 = func sub1 ll\n"
			    "	call bpf_loop#181\n"
			    "	r0 = be16 r0\n"
			    "	exit\n"
			    "sub1:\n"
			    "	w0 = (s8)w1\n"
			    "	gotol +0\n"
			    "	exit\n";

static int report_count(unsigned number, const char *what, const struct count *c)
{
	printf("%sok %u - %s\n# %lu tried, %lu accepted, %lu wrong\n", c->wrong ? "not " : "",
	       number, what, c->tried, c->accepted, c->wrong);
	return c->wrong != 0;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct count decode = { 0 }, parse = { 0 };
	int failed;

	rng_state = seed * 0x9e3779b97f4a7c15ull | 1;
	for (unsigned long i = 0; i < rounds; i++) {
		fuzz_decode(&decode);
		fuzz_parse(&parse, valid, sizeof(valid) - 1);
	}
	printf("1..2\n# seed %llu\n", (unsigned long long)seed);
	failed = report_count(1, "decoder takes any instructions", &decode);
	return failed | report_count(2, "parser takes any text", &parse);
}
