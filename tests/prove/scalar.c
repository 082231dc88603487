/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier's arithmetic by exhaustion: at 4 bits (with 2-bit halves) every pair of abstract
 * values goes through every operation and every comparison, and every pair of members is looked
 * up in the result. Precision is a score per row (how many numbers the results contain, against
 * how many they must), which may not get worse than the recorded one.
 *
 * scalar [STRIDE]: the left side is every STRIDE-th value (default 7; 1 is the whole proof and
 * takes about a minute).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "scalar4.h"

typedef uint16_t set; /* of 4-bit numbers */

static VEC(struct scalar4) values;
static set *members;
static unsigned stride = 7;
static unsigned n_tests;

static set members_of(const struct scalar4 *a)
{
	set s = 0;

	for (unsigned v = 0; v < 16; v++)
		s |= (set)(scalar4_has(a, (uint8_t)v) << v);
	return s;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct scalar4));
}

static void value_add(struct dom4 d)
{
	struct scalar4 a = { d, dom2_any() };

	scalar4_sync(&a);
	if (!scalar4_is_empty(&a) && members_of(&a) && vec_push(&values, a))
		exit(1);
}

static void values_unique(void)
{
	size_t n = 0;

	qsort(values.at, values.n, sizeof(*values.at), by_bytes);
	for (size_t i = 0; i < values.n; i++) {
		if (!n || by_bytes(&values.at[n - 1], &values.at[i]))
			values.at[n++] = values.at[i];
	}
	values.n = n;
}

/* Every combination of known bits, unsigned and signed interval, once synced. */
static void values_make(void)
{
	for (unsigned bits = 0; bits < 256; bits++) {
		uint8_t val = bits & 15, mask = (uint8_t)(bits >> 4);

		if (val & mask)
			continue;
		for (int u = 0; u < 256; u++) {
			for (int s = 0; s < 256; s++) {
				int smin = (s & 15) - 8, smax = (s >> 4) - 8;

				if ((u & 15) <= u >> 4 && smin <= smax)
					value_add((struct dom4){ val, mask, (uint8_t)(u & 15),
								 (uint8_t)(u >> 4), (int8_t)smin,
								 (int8_t)smax });
			}
		}
		values_unique();
	}
	members = calloc(values.n, sizeof(*members));
	for (size_t i = 0; i < values.n; i++)
		members[i] = members_of(&values.at[i]);
}

static int sx(unsigned v, unsigned bits)
{
	return (int)(v << (32 - bits)) >> (32 - bits);
}

static unsigned alu_concrete(enum alu op, unsigned a, unsigned b, unsigned bits)
{
	unsigned cut = (1u << bits) - 1;

	a &= cut;
	b &= cut;
	switch (op) {
	case ALU_ADD:
		return (a + b) & cut;
	case ALU_SUB:
		return (a - b) & cut;
	case ALU_MUL:
		return (a * b) & cut;
	case ALU_AND:
		return a & b;
	case ALU_OR:
		return a | b;
	case ALU_XOR:
		return a ^ b;
	case ALU_LSH:
		return (a << (b & (bits - 1))) & cut;
	case ALU_RSH:
		return a >> (b & (bits - 1));
	case ALU_ARSH:
		return (unsigned)(sx(a, bits) >> (b & (bits - 1))) & cut;
	}
	return 0;
}

static bool cmp_concrete(enum cmp c, unsigned a, unsigned b, unsigned bits)
{
	unsigned cut = (1u << bits) - 1;

	a &= cut;
	b &= cut;
	switch (c) {
	case CMP_EQ:
		return a == b;
	case CMP_LT:
		return a < b;
	case CMP_LE:
		return a <= b;
	case CMP_SLT:
		return sx(a, bits) < sx(b, bits);
	case CMP_SLE:
		return sx(a, bits) <= sx(b, bits);
	case CMP_SET:
		return (a & b) != 0;
	}
	return false;
}

struct score {
	unsigned long wrong, have, need; /* unsound results; numbers in the results; of them real */
};

static void ok(bool good, const char *what, const char *op, const struct score *s, double most)
{
	printf("%sok %u - %s %s: %lu unsound, precision %.4f (recorded %.4f)\n", good ? "" : "not ",
	       ++n_tests, what, op, s->wrong, s->need ? (double)s->have / (double)s->need : 1.0,
	       most);
}

/* image[a][set of b]: the results of a with each member of the set. */
static set image[16][65536];

static void image_make(enum alu op, unsigned bits)
{
	for (unsigned a = 0; a < 16; a++) {
		image[a][0] = 0;
		for (unsigned s = 1; s < 65536; s++) {
			unsigned b = (unsigned)__builtin_ctz(s);

			image[a][s] =
			    image[a][s & (s - 1)] | (set)(1u << alu_concrete(op, a, b, bits));
		}
	}
}

static set image_of(set a, set b)
{
	set r = 0;

	for (; a; a &= (set)(a - 1))
		r |= image[__builtin_ctz(a)][b];
	return r;
}

static void score_add(struct score *s, set have, set need)
{
	s->wrong += (need & ~have) != 0;
	s->have += (unsigned)__builtin_popcount(have);
	s->need += (unsigned)__builtin_popcount(need);
}

static void alu_try(enum alu op, const char *name, bool half, double most)
{
	bool shift = op == ALU_LSH || op == ALU_RSH || op == ALU_ARSH;
	unsigned bits = half ? 2 : 4;
	struct score s = { 0 };

	image_make(op, bits);
	for (size_t i = 0; i < values.n; i += shift ? 1 : stride) {
		for (size_t j = 0; j < values.n; j++) {
			const struct scalar4 *a = &values.at[i], *b = &values.at[j];
			struct scalar4 r;

			if (shift &&
			    (!(half ? dom2_is_one(&b->w) : scalar4_is_one(b)) || b->d.val >= bits))
				continue;
			r = half ? scalar4_alu_w(op, a, b) : scalar4_alu(op, a, b);
			score_add(&s, members_of(&r), image_of(members[i], members[j]));
		}
	}
	ok(!s.wrong && (double)s.have <= most * (double)s.need, half ? "low half" : "whole", name,
	   &s, most);
}

/* The members of `a` for which some member of `b` satisfies (a cmp b) == holds. */
static set satisfying(set a, set b, const set sat[16])
{
	set r = 0;

	for (; a; a &= (set)(a - 1)) {
		unsigned v = (unsigned)__builtin_ctz(a);

		r |= (set)((sat[v] & b ? 1u : 0u) << v);
	}
	return r;
}

static void cmp_tables(enum cmp c, unsigned bits, bool holds, set left[16], set right[16])
{
	memset(left, 0, 16 * sizeof(set));
	memset(right, 0, 16 * sizeof(set));
	for (unsigned a = 0; a < 16; a++) {
		for (unsigned b = 0; b < 16; b++) {
			if (cmp_concrete(c, a, b, bits) != holds)
				continue;
			left[a] |= (set)(1u << b);
			right[b] |= (set)(1u << a);
		}
	}
}

static void cmp_try(enum cmp c, const char *name, bool half, bool holds, double most)
{
	set left[16], right[16];
	struct score s = { 0 };
	char what[32];

	cmp_tables(c, half ? 2 : 4, holds, left, right);
	for (size_t i = 0; i < values.n; i += stride) {
		for (size_t j = 0; j < values.n; j++) {
			struct scalar4 a = values.at[i], b = values.at[j];
			set need_a = satisfying(members[i], members[j], left);
			set need_b = satisfying(members[j], members[i], right);
			int is = scalar4_cmp(c, half, &a, &b);

			s.wrong += is == !holds && need_a;
			if (is == !holds || is == (int)holds)
				continue;
			if (scalar4_assume(c, half, holds, &a, &b)) {
				score_add(&s, members_of(&a), need_a);
				score_add(&s, members_of(&b), need_b);
			} else {
				s.wrong += need_a != 0;
			}
		}
	}
	snprintf(what, sizeof(what), "%s, %s", half ? "low half" : "whole",
		 holds ? "taken" : "not");
	ok(!s.wrong && (double)s.have <= most * (double)s.need, what, name, &s, most);
}

static void ext_try(const char *name, bool sign, unsigned n, double most)
{
	struct score s = { 0 };

	for (size_t i = 0; i < values.n; i++) {
		struct scalar4 r =
		    sign ? scalar4_sext(&values.at[i], n) : scalar4_trunc(&values.at[i], n);
		set need = 0;

		for (unsigned v = 0; v < 16; v++) {
			unsigned low = v & ((1u << n) - 1);

			if (members[i] >> v & 1)
				need |= (set)(1u << ((sign ? (unsigned)sx(low, n) : low) & 15));
		}
		score_add(&s, members_of(&r), need);
	}
	ok(!s.wrong && (double)s.have <= most * (double)s.need, "extend", name, &s, most);
}

static void sync_try(void)
{
	struct score s = { 0 };

	for (size_t i = 0; i < values.n; i++) {
		struct scalar4 r = values.at[i];

		scalar4_sync(&r);
		score_add(&s, members_of(&r), members[i]);
	}
	ok(!s.wrong, "sync", "again", &s, 1.0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		stride = (unsigned)atoi(argv[1]) ? (unsigned)atoi(argv[1]) : 1;
	values_make();
	printf("# %zu abstract values, left side every %u\n", values.n, stride);
#define ALU(op, whole, low)                                                                        \
	alu_try(ALU_##op, #op, false, whole);                                                      \
	alu_try(ALU_##op, #op, true, low);
#define CMP(op, taken, not, wtaken, wnot)                                                          \
	cmp_try(CMP_##op, #op, false, true, taken);                                                \
	cmp_try(CMP_##op, #op, false, false, not);                                                 \
	cmp_try(CMP_##op, #op, true, true, wtaken);                                                \
	cmp_try(CMP_##op, #op, true, false, wnot);
#define EXT(name, sign, n, most) ext_try(name, sign, n, most);
#include "scores.def"
	sync_try();
	printf("1..%u\n", n_tests);
	return 0;
}
