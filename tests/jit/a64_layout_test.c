/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The edges of arm64's branches, on any host: tbz reaches 32 KB, cbz, b.cond and adr 1 MB; beyond,
 * an inverted branch jumps over a b, and an address is a sum. Each kind is laid out at distances
 * around both of its edges, forward and backward, and what it became is decoded: it must be the
 * shortest form that reaches and lead where it should.
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

/* Runs what makes an address in x2 from `at` on: adr, moves and sums. */
static int64_t address_made(const struct code *c, uint32_t at)
{
	int64_t reg[32] = { 0 }, o[A64_OPERANDS];
	enum a64_insn id = A64_ADR;

	for (; id != A64_RET; at += 4) {
		uint32_t word;

		memcpy(&word, c->bytes + at, sizeof(word));
		id = a64_decode(word, o);
		if (id == A64_ADR)
			reg[o[0]] = at + o[1];
		else if (id == A64_MOVZ || id == A64_MOVN)
			reg[o[1]] = id == A64_MOVZ ? o[2] : ~o[2];
		else if (id == A64_MOVK)
			reg[o[1]] = (reg[o[1]] & ~(0xffffll << 16)) | o[2] << 16;
		else if (id == A64_ADDI || id == A64_SUBI)
			reg[o[1]] = reg[o[2]] + (id == A64_ADDI ? 1 : -1) * (o[3] << 12 * o[4]);
		else if (id == A64_ADD)
			reg[o[1]] = reg[o[2]] + reg[o[3]];
		else
			break;
	}
	return reg[2];
}

/* Three functions: an exit, `pad` words, an exit. The first takes the address of the last, or the
 * last that of the one before it. */
static struct unit *functions(uint32_t pad, bool back)
{
	struct unit *u = unit_of(&kinds[0], pad + 3, false);
	uint32_t *subs = mem_zalloc(3, sizeof(*subs)), last = pad + 3;
	struct op exit = { .code = OP_EXIT };

	mem_free(u->subs);
	*u = (struct unit){ .ops = u->ops, .n_ops = pad + 6, .subs = subs, .n_subs = 3 };
	u->ops[0] = (struct op){ .code = OP_MOV, .mode = OP_REG, .dst = 0, .src = 0 };
	u->ops[1] = exit;
	u->ops[last - 1] = exit;
	u->ops[last] = u->ops[0];
	u->ops[last + 1] = exit;
	u->ops[last + 2] = exit;
	u->ops[back ? last : 0] = (struct op){ .code = OP_LDFUNC, .dst = 2 };
	u->ops[back ? last : 0].off = back ? 2 : (int32_t)last;
	subs[1] = 2;
	subs[2] = last;
	return u;
}

static unsigned check_address(uint32_t pad, bool back, unsigned words)
{
	const struct jit_opts opts = { .cpu = "neoverse-n1", .base = 0x40000000, .separate = true };
	struct unit *u = functions(pad, back);
	struct report r = { 0 };
	struct code *c = NULL;
	unsigned wrong = 1;

	if (!jit_compile(target_find("arm64"), u, &opts, &r, &c)) {
		uint32_t from = c->sub_offset[back ? 2 : 0], to = c->sub_offset[back ? 1 : 2];
		uint32_t size = c->lines[back ? pad + 4 : 1].offset - from;

		wrong = address_made(c, from) != to || size != 4 * words;
		if (wrong)
			printf("# from %u to %u: %lld in %u bytes\n", from, to,
			       (long long)address_made(c, from), size);
	}
	code_free(c);
	report_free(&r);
	unit_drop(u);
	return wrong;
}

/* Beyond 1 MB an address is the sum of three instructions, beyond 16 MB of four. */
static unsigned check_addresses(void)
{
	static const struct {
		uint32_t words;
		unsigned near, far;
	} edges[] = { { LARGE / 4, 1, 3 }, { 16 << 20 >> 2, 3, 4 } };
	unsigned wrong = 0;

	for (unsigned e = 0; e < 2; e++)
		for (unsigned back = 0; back < 2; back++) {
			wrong += check_address(edges[e].words - 8, back, edges[e].near);
			wrong += check_address(edges[e].words + 2, back, edges[e].far);
		}
	return wrong;
}

/* An address up to nearly 4 GiB away is adrp and add, one farther a constant. */
static unsigned check_page(uint64_t base, int64_t dist, bool near)
{
	struct ref ref = { .kind = REF_VAR, .addr = base + (uint64_t)dist };
	struct op ops[] = { { .code = OP_LDBTF, .dst = 2 }, { .code = OP_EXIT } };
	uint32_t subs[] = { 0 };
	struct unit u = { .ops = ops, .n_ops = 2, .subs = subs, .n_subs = 1, .refs = &ref };
	const struct jit_opts opts = { .cpu = "neoverse-n1", .base = base };
	int64_t o[A64_OPERANDS], page;
	uint32_t word[4] = { 0 };
	struct code *c = NULL;
	bool ok;

	u.n_refs = 1;
	ok = !jit_compile(target_find("arm64"), &u, &opts, NULL, &c) && c->size <= sizeof(word) &&
	     !code_link(c, base, (uint8_t *)word);
	code_free(c);
	if (!ok || (a64_decode(word[0], o) == A64_ADRP) != near)
		return 1;
	page = (int64_t)base + o[1];
	if (near && (a64_decode(word[1], o) != A64_ADDI || page + o[3] != (int64_t)ref.addr))
		return 1;
	return 0;
}

static unsigned check_pages(void)
{
	const int64_t reach = (1ll << 32) - (1 << 20);
	const uint64_t base = 0x7f1234560000;

	return check_page(base, 0x12345, true) + check_page(base, reach - 1, true) +
	       check_page(base, 1 - reach, true) + check_page(base, reach, false) +
	       check_page(base, -reach, false);
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
	bad += check_addresses() ? printf("not ") : 0;
	printf("ok %d - addresses of functions around their edges\n", KINDS + 1);
	bad += check_pages() ? printf("not ") : 0;
	printf("ok %d - addresses of objects around the edge of adrp\n", KINDS + 2);
	printf("1..%d\n", KINDS + 2);
	return bad != 0;
}
