/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Division by constants (system.md J11, J23): what divide_ops puts in place of a division, run on
 * the interpreter's arithmetic, against C's own division with BPF's special cases written out.
 *
 *   divide_test [RANDOM PAIRS]     (1,000,000)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "interp/alu.h"
#include "rewrite/divide.h"

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

/* A number with a random count of significant bits, often next to a power of two. */
static uint64_t rnd_sized(void)
{
	uint64_t v = rnd() >> rnd() % 64;

	switch (rnd() % 4) {
	case 0:
		return (1ull << rnd() % 64) + rnd() % 5 - 2;
	case 1:
		return 0 - v;
	default:
		return v;
	}
}

static uint64_t plain64(uint8_t code, uint64_t x, uint64_t d)
{
	int64_t sx = (int64_t)x, sd = (int64_t)d;

	if (d == 0)
		return code == OP_DIV || code == OP_SDIV ? 0 : x;
	switch (code) {
	case OP_DIV:
		return x / d;
	case OP_MOD:
		return x % d;
	case OP_SDIV:
		return sd == -1 ? 0 - x : (uint64_t)(sx / sd);
	default:
		return sd == -1 ? 0 : (uint64_t)(sx % sd);
	}
}

static uint64_t plain32(uint8_t code, uint32_t x, uint32_t d)
{
	if (code == OP_DIV || code == OP_MOD)
		return (uint32_t)plain64(code, x, d);
	return (uint32_t)plain64(code, (uint64_t)(int64_t)(int32_t)x,
				 (uint64_t)(int64_t)(int32_t)d);
}

static uint64_t eval(const struct op *ops, int n, uint8_t dst, uint64_t x)
{
	uint64_t r[BPF_REGS] = { 0 };

	for (int i = 0; i < BPF_REGS; i++)
		r[i] = 0xdead0000beef0000ull + (uint64_t)i;
	r[dst] = x;
	for (int i = 0; i < n; i++) {
		const struct op *op = &ops[i];
		uint64_t b = op->mode & OP_REG ? r[op->src] : (uint64_t)op->imm;

		if (op->code == OP_LDIMM)
			r[op->dst] = b;
		else if (op->mode & OP_SX)
			r[op->dst] = alu_sext(b, op_size(op));
		else
			r[op->dst] = alu_eval(op->code, op->mode & OP_W32, r[op->dst], b);
	}
	return r[dst];
}

struct tally {
	unsigned long pairs, replaced, kept, wrong;
};

static const uint8_t codes[] = { OP_DIV, OP_MOD, OP_SDIV, OP_SMOD };

static void check(struct tally *t, const struct op *op, const struct op *seq, int n, uint64_t x)
{
	bool w32 = op->mode & OP_W32;
	uint64_t want = w32 ? plain32(op->code, (uint32_t)x, (uint32_t)op->imm)
			    : plain64(op->code, x, (uint64_t)op->imm);
	uint64_t got = eval(seq, n, op->dst, x);

	t->pairs++;
	if (want != got && t->wrong++ < 10)
		printf("# %s%s 0x%" PRIx64 " by %" PRId64 ": %" PRIx64 ", must be %" PRIx64 "\n",
		       op_row(op)->name, w32 ? "32" : "64", x, op->imm, got, want);
}

static const uint64_t edges[] = {
	0,
	1,
	2,
	3,
	7,
	0x7f,
	0x80,
	0xff,
	0x100,
	0x7fffffff,
	0x80000000,
	0x80000001,
	0xfffffffe,
	0xffffffff,
	0x100000000,
	0x100000001,
	0x7fffffffffffffff,
	0x8000000000000000,
	0x8000000000000001,
	0xfffffffffffffffe,
	0xffffffffffffffff,
	0xffffffff80000000,
	0xffffffff7fffffff,
	0x123456789abcdef0,
};

/* One divisor in all eight operations: edges, multiples of it and their neighbours, random x. */
static void check_divisor(struct tally *t, int32_t d, unsigned scratch, unsigned randoms)
{
	for (unsigned form = 0; form < 8; form++) {
		struct op op = { .code = codes[form / 2],
				 .mode = form & 1 ? OP_W32 : 0,
				 .dst = (uint8_t)(rnd() % 10),
				 .imm = d };
		struct op seq[DIVIDE_OPS];
		int n = divide_ops(&op, scratch, seq);

		if (n < 0) {
			t->kept++;
			continue;
		}
		t->replaced++;
		for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
			check(t, &op, seq, n, edges[i]);
			for (uint64_t k = 0; k < 3; k++)
				check(t, &op, seq, n, edges[i] * (uint64_t)(int64_t)d + k - 1);
		}
		for (unsigned i = 0; i < randoms; i++)
			check(t, &op, seq, n, rnd_sized());
	}
}

static void result(int n, const struct tally *t, const char *what)
{
	printf("%sok %d - %s: %lu pairs, %lu divisions replaced, %lu kept\n",
	       t->wrong ? "not " : "", n, what, t->pairs, t->replaced, t->kept);
}

int main(int argc, char **argv)
{
	static const int32_t divisors[] = { 1000000000, 1000000,   1000,	  641,
					    65535,	65536,	   65537,	  16777619,
					    0x7fffffff, INT32_MIN, INT32_MIN + 1, -1000000000,
					    3600,	86400 };
	unsigned long pairs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	struct tally bytes = { 0 }, one = { 0 }, edge = { 0 }, random = { 0 };

	puts("1..4");
	for (int32_t d = -128; d < 256; d++) {
		check_divisor(&bytes, d, 2, 100);
		check_divisor(&one, d, 1, 100);
	}
	result(1, &bytes, "every 8-bit divisor, signed and unsigned, two scratch registers");
	result(2, &one, "the same with one scratch register");
	for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++)
		check_divisor(&edge, divisors[i], 2, 1000);
	for (unsigned k = 0; k < 32; k++) {
		for (int64_t by = -2; by <= 2; by++)
			check_divisor(&edge, (int32_t)((1ll << k) + by), 2, 100);
	}
	result(3, &edge, "powers of two and their neighbours, real programs' divisors");
	while (random.pairs < pairs)
		check_divisor(&random, (int32_t)rnd_sized(), 2, 0);
	result(4, &random, "random divisors");
	return bytes.wrong || one.wrong || edge.wrong || random.wrong || !bytes.replaced ||
	       bytes.kept || !one.kept;
}
