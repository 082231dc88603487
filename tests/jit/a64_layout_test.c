/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The edges of arm64's branches, on any host: tbz reaches 32 KB, cbz, b.cond and adr 1 MB; beyond,
 * an inverted branch jumps over a b. Each kind is laid out at distances around both of its edges,
 * forward and backward, and what it became is decoded: it must be the shortest form that reaches
 * and lead where it should.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "jit/arm64/insn.h"
#include "jit/jit.h"

enum { SMALL = 32 << 10, LARGE = 1 << 20, FAR = 3 << 20 };

/* One kind of branch and the reach of its short form. */
static const struct kind {
	const char *name;
	struct op op;
	int64_t reach;
} kinds[] = {
	{ "tbnz w1, #3", { OP_JSET, 0, 1, 0, 0, 8 }, SMALL },
	{ "tbz x1, #63", { OP_JSGE, 0, 1, 0, 0, 0 }, SMALL },
	{ "cbz x1", { OP_JEQ, 0, 1, 0, 0, 0 }, LARGE },
	{ "cbnz w1", { OP_JNE, OP_W32, 1, 0, 0, 0 }, LARGE },
	{ "b.hi", { OP_JGT, OP_REG, 1, 2, 0, 0 }, LARGE },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* A branch over or back over `pad` instructions of one word; then an exit. */
static struct unit *unit_of(const struct kind *k, uint32_t pad, bool back)
{
	struct unit *u = mem_zalloc(1, sizeof(*u));
	struct op *ops = mem_zalloc(pad + 3, sizeof(*ops));
	uint32_t *subs = mem_zalloc(1, sizeof(*subs));
	uint32_t branch = back ? pad : 0;

	if (!u || !ops || !subs)
		exit(1);
	for (uint32_t i = 0; i < pad + 1; i++)
		ops[i] = (struct op){ OP_MOV, OP_REG | OP_W32, 2, 3, 0, 0 };
	ops[branch] = k->op;
	ops[branch].off = back ? 0 : (int32_t)pad + 1;
	ops[pad + 1] = (struct op){ OP_MOV, 0, 0, 0, 0, 7 };
	ops[pad + 2] = (struct op){ OP_EXIT, 0, 0, 0, 0, 0 };
	*u = (struct unit){ .ops = ops, .n_ops = pad + 3, .subs = subs, .n_subs = 1 };
	return u;
}

static void unit_drop(struct unit *u)
{
	mem_free((void *)u->ops);
	mem_free((void *)u->subs);
	mem_free(u);
}

/* Where the branch at `at` leads, and how many words it takes. */
static int64_t branch_target(const struct code *c, uint32_t at, unsigned *words)
{
	int64_t o[A64_OPERANDS], first_off = 0;

	for (*words = 1; *words <= 3; ++*words) {
		uint32_t word;
		enum a64_insn id;

		memcpy(&word, c->bytes + at + 4 * (*words - 1), sizeof(word));
		id = a64_decode(word, o);
		if (id == A64_B)
			return at + 4 * (*words - 1) + o[0];
		first_off = id == A64_TBZ || id == A64_TBNZ || id == A64_CBZ || id == A64_CBNZ
				? o[2]
			    : id == A64_BCOND ? o[1]
					      : 8;
		if (first_off != 8)
			return at + 4 * (*words - 1) + first_off;
	}
	return -1;
}

/* Words that the branch takes when its label is `dist` bytes away from it, by its reach. */
static unsigned words_due(const struct kind *k, int64_t dist)
{
	if (dist >= -k->reach && dist < k->reach)
		return 1;
	if (k->reach == SMALL && dist - 4 >= -LARGE && dist - 4 < LARGE)
		return 2;
	return k->reach == SMALL ? 3 : 2;
}

static unsigned check(const struct kind *k, uint32_t pad, bool back)
{
	const struct jit_opts opts = { .cpu = "neoverse-n1", .base = 0x40000000, .separate = true };
	struct unit *u = unit_of(k, pad, back);
	struct report r = { 0 };
	struct code *c = NULL;
	unsigned words = 0, wrong = 0;

	if (jit_compile(target_find("arm64"), u, &opts, &r, &c)) {
		printf("# %s, %u words: %s\n", k->name, pad, r.text ? r.text : "");
		wrong = 1;
	} else {
		/* behind the compare where there is one */
		uint32_t at = c->lines[back ? pad : 0].offset + (k->op.mode & OP_REG ? 4 : 0);
		int64_t want = c->lines[back ? 0 : pad + 1].offset;
		int64_t got = branch_target(c, at, &words);

		wrong = got != want || words != words_due(k, want - at);
		if (wrong)
			printf("# %s at %u: to %lld in %u words, not %lld in %u\n", k->name, at,
			       (long long)got, words, (long long)want, words_due(k, want - at));
	}
	code_free(c);
	report_free(&r);
	unit_drop(u);
	return wrong;
}

static unsigned check_kind(const struct kind *k)
{
	static const uint32_t edges[] = { SMALL / 4, LARGE / 4 };
	unsigned wrong = check(k, FAR / 4, false) + check(k, FAR / 4, true);

	for (unsigned e = 0; e < 2; e++)
		for (int d = -2; d <= 1; d++) {
			wrong += check(k, edges[e] + (uint32_t)d, false);
			wrong += check(k, edges[e] + (uint32_t)d, true);
		}
	return wrong;
}

int main(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		unsigned wrong = check_kind(&kinds[i]);

		printf("%sok %u - %s around its edges\n", wrong ? "not " : "", i + 1,
		       kinds[i].name);
		bad += wrong;
	}
	printf("1..%d\n", KINDS);
	return bad != 0;
}
