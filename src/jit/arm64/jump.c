/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jumps, and the layout of what depends on distances: b reaches 128 MB, b.cond and cbz 1 MB, tbz
 * 32 KB. What is out of reach of its short form takes an inverted branch over a b; a bit test
 * takes tst and b.cond before that.
 */
#include <errno.h>
#include <string.h>

#include "jit/arm64/arm64.h"

void a64_jump(struct builder *b, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_B });
}

void a64_cond(struct builder *b, enum a64_cond cond, uint32_t label)
{
	builder_branch(
	    b, (struct branch){ .label = label, .kind = BRANCH_COND, .cond = (uint8_t)cond });
}

/* cond: 0 branches if zero, 1 if not; the highest bit of `bit` marks a 64-bit register. */
enum { WIDE = 0x80 };

void a64_branch_zero(struct builder *b, bool w32, unsigned reg, bool if_zero, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label,
					   .kind = BRANCH_CBZ,
					   .cond = !if_zero,
					   .reg = (uint8_t)reg,
					   .bit = w32 ? 0 : WIDE });
}

void a64_branch_bit(struct builder *b, unsigned reg, unsigned bit, bool if_zero, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label,
					   .kind = BRANCH_TBZ,
					   .cond = !if_zero,
					   .reg = (uint8_t)reg,
					   .bit = (uint8_t)bit });
}

void a64_cond_reg(struct builder *b, const struct args *a)
{
	unsigned dst = a->dst == FP ? a64_value(b, FP) : a->dst;
	unsigned src = a->src == FP ? a64_value(b, FP) : a->src;

	if (a->op->code == OP_JSET)
		EMIT(b, ANDS, !a->w32, A64_ZR, dst, src, A64_LSL, 0);
	else
		EMIT(b, SUBS, !a->w32, A64_ZR, dst, src, A64_LSL, 0);
	a64_cond(b, (enum a64_cond)a->rule->code, a->label);
}

/* cmp or cmn takes 12 bits, shifted by 12 or not. */
static bool compare_fits(int64_t imm)
{
	uint64_t m = imm < 0 ? 0 - (uint64_t)imm : (uint64_t)imm;

	return m < 1 << 12 || (!(m & 0xfff) && m < 1 << 24);
}

static void compare_imm(struct builder *b, bool w32, unsigned reg, int64_t imm)
{
	uint64_t m = imm < 0 ? 0 - (uint64_t)imm : (uint64_t)imm;

	if (!compare_fits(imm)) {
		a64_mov_imm(b, TMP, w32 ? (uint32_t)imm : (uint64_t)imm);
		EMIT(b, SUBS, !w32, A64_ZR, reg, TMP, A64_LSL, 0);
		return;
	}
	a64_put(b, imm < 0 ? A64_ADDSI : A64_SUBSI,
		(const int64_t[A64_OPERANDS]){ !w32, A64_ZR, reg, (int64_t)(m >> 12 ? m >> 12 : m),
					       m >> 12 != 0 });
}

/* Conditions that x > k and x >= k + 1 turn into each other: {cond, its neighbour, step}. */
static const struct {
	uint8_t cond, other;
	int8_t step;
} neighbours[] = {
	{ A64_HI, A64_HS, 1 },	{ A64_LS, A64_LO, 1 },	{ A64_GT, A64_GE, 1 },
	{ A64_LE, A64_LT, 1 },	{ A64_HS, A64_HI, -1 }, { A64_LO, A64_LS, -1 },
	{ A64_GE, A64_GT, -1 }, { A64_LT, A64_LE, -1 },
};

/* Whether k + step wraps in the order that the condition compares by. */
static bool neighbour_wraps(bool w32, unsigned cond, int64_t imm, int step)
{
	bool is_signed = cond >= A64_GE;
	int64_t top = is_signed ? (w32 ? INT32_MAX : INT64_MAX) : -1;
	int64_t bottom = is_signed ? (w32 ? INT32_MIN : INT64_MIN) : 0;

	return imm == (step > 0 ? top : bottom);
}

/* System.md J16. imm is sign-extended from the width of the compare. */
static void compare_adjust(bool w32, unsigned *cond, int64_t *imm)
{
	if (compare_fits(*imm))
		return;
	for (unsigned i = 0; i < sizeof(neighbours) / sizeof(*neighbours); i++) {
		int step = neighbours[i].step;

		if (neighbours[i].cond == *cond && compare_fits(*imm + step) &&
		    !neighbour_wraps(w32, *cond, *imm, step)) {
			*cond = neighbours[i].other;
			*imm += step;
			return;
		}
	}
}

static bool is_power(uint64_t v)
{
	return v && !(v & (v - 1));
}

static void test_imm(struct builder *b, const struct args *a, unsigned reg)
{
	uint64_t mask = a->w32 ? (uint32_t)a->imm : (uint64_t)a->imm;

	if (is_power(mask)) {
		a64_branch_bit(b, reg, (unsigned)__builtin_ctzll(mask), false, a->label);
		return;
	}
	if (a64_bitmask(mask, !a->w32) >= 0) {
		EMIT(b, ANDSI, !a->w32, A64_ZR, reg, (int64_t)mask);
	} else {
		a64_mov_imm(b, TMP2, mask);
		EMIT(b, ANDS, !a->w32, A64_ZR, reg, TMP2, A64_LSL, 0);
	}
	a64_cond(b, A64_NE, a->label);
}

/* System.md J20: zero and sign tests need no flags. x > 0 and x < 1, unsigned, are zero tests. */
static bool branch_simple(struct builder *b, const struct args *a, unsigned reg, unsigned cond,
			  int64_t imm)
{
	bool zero =
	    (imm == 0 && (cond == A64_EQ || cond == A64_LS)) || (imm == 1 && cond == A64_LO);
	bool not_zero =
	    (imm == 0 && (cond == A64_NE || cond == A64_HI)) || (imm == 1 && cond == A64_HS);
	bool minus = (imm == 0 && cond == A64_LT) || (imm == -1 && cond == A64_LE);
	bool plus = (imm == 0 && cond == A64_GE) || (imm == -1 && cond == A64_GT);

	if (zero || not_zero)
		a64_branch_zero(b, a->w32, reg, zero, a->label);
	else if (minus || plus)
		a64_branch_bit(b, reg, a->w32 ? 31 : 63, plus, a->label);
	return zero || not_zero || minus || plus;
}

void a64_cond_imm(struct builder *b, const struct args *a)
{
	unsigned cond = a->rule->code, reg = a64_value(b, a->dst);
	int64_t imm = a->w32 ? (int32_t)a->imm : a->imm;

	if (a->op->code == OP_JSET) {
		if (imm)
			test_imm(b, a, reg);
		return;
	}
	if (branch_simple(b, a, reg, cond, imm))
		return;
	compare_adjust(a->w32, &cond, &imm);
	if (reg == TMP && !compare_fits(imm)) { /* r10 against a large constant */
		a64_mov_imm(b, TMP2, a->w32 ? (uint32_t)imm : (uint64_t)imm);
		EMIT(b, SUBS, !a->w32, A64_ZR, reg, TMP2, A64_LSL, 0);
	} else {
		compare_imm(b, a->w32, reg, imm);
	}
	a64_cond(b, (enum a64_cond)cond, a->label);
}

/* The budget is a signed 64-bit count that goes below zero and never comes back. */
void a64_may_goto(struct builder *b, const struct frame *f, uint32_t label)
{
	a64_budget(b, f, false);
	EMIT(b, SUBI, 1, TMP, TMP, 1, 0);
	a64_budget(b, f, true);
	a64_branch_bit(b, TMP, 63, false, label);
}

static bool reaches(int64_t dist, unsigned bits)
{
	return dist >= -(1ll << (bits + 1)) && dist < 1ll << (bits + 1);
}

unsigned a64_branch_longest(const struct branch *br)
{
	static const uint8_t longest[] = {
		[BRANCH_B] = 4,	   [BRANCH_COND] = 8, [BRANCH_CBZ] = 8,
		[BRANCH_TBZ] = 12, [BRANCH_BL] = 4,   [BRANCH_ADR] = 16,
	};

	return longest[br->kind];
}

/* adr reaches 1 MB, with a sum of two parts 16 MB. */
static unsigned adr_size(unsigned size, int64_t dist)
{
	unsigned due = reaches(dist, 19) ? 4 : reaches(dist, 23) ? 12 : 16;

	return due > size ? due : size;
}

/* A jump to what follows it takes nothing. The reach of a form is that of its last instruction. */
unsigned a64_branch_size(const struct branch *br, int64_t dist, bool ahead)
{
	unsigned size = br->size;

	if (br->kind == BRANCH_BL)
		return 4;
	if (br->kind == BRANCH_ADR)
		return adr_size(size, dist);
	if (!size && ahead && !dist)
		return 0;
	if (!size)
		size = 4;
	if (size == 4 && ((br->kind == BRANCH_TBZ && !reaches(dist, 14)) ||
			  (br->kind != BRANCH_B && br->kind != BRANCH_TBZ && !reaches(dist, 19))))
		size = 8;
	if (size == 8 && br->kind == BRANCH_TBZ && !reaches(dist - 4, 19))
		size = 12;
	return size;
}

/* Words of a branch as they are put together; the first one that cannot be encoded sticks. */
struct words {
	uint32_t at[4];
	unsigned n;
	bool bad;
};

static void word(struct words *w, enum a64_insn id, const int64_t *operand)
{
	int bad;

	w->at[w->n++] = a64_encode(id, operand, &bad);
	w->bad |= bad >= 0;
}
#define WORD(w, id, ...) word(w, A64_##id, (const int64_t[A64_OPERANDS]){ __VA_ARGS__ })

static void words_cond(struct words *w, const struct branch *br, int64_t dist)
{
	if (br->size == 4) {
		WORD(w, BCOND, br->cond, dist);
	} else {
		WORD(w, BCOND, br->cond ^ 1, 8);
		WORD(w, B, dist - 4);
	}
}

static void words_cbz(struct words *w, const struct branch *br, int64_t dist)
{
	bool far = br->size == 8, is64 = br->bit & WIDE;

	if (br->cond ^ far)
		WORD(w, CBNZ, is64, br->reg, far ? 8 : dist);
	else
		WORD(w, CBZ, is64, br->reg, far ? 8 : dist);
	if (far)
		WORD(w, B, dist - 4);
}

static void words_tbz(struct words *w, const struct branch *br, int64_t dist)
{
	if (br->size == 4 && br->cond) {
		WORD(w, TBNZ, br->reg, br->bit, dist);
	} else if (br->size == 4) {
		WORD(w, TBZ, br->reg, br->bit, dist);
	} else {
		WORD(w, ANDSI, 1, A64_ZR, br->reg, (int64_t)(1ull << br->bit));
		WORD(w, BCOND, (br->cond ? A64_NE : A64_EQ) ^ (br->size == 12),
		     br->size == 12 ? 8 : dist - 4);
		if (br->size == 12)
			WORD(w, B, dist - 8);
	}
}

/* The distance from the third instruction in TMP, which is added there. */
static void words_adr_far(struct words *w, unsigned reg, int64_t dist)
{
	if (dist < 0)
		WORD(w, MOVN, 1, TMP, ~dist & 0xffff, 0);
	else
		WORD(w, MOVZ, 1, TMP, dist & 0xffff, 0);
	WORD(w, MOVK, 1, TMP, dist >> 16 & 0xffff, 1);
	WORD(w, ADR, reg, 0);
	WORD(w, ADD, 1, reg, reg, TMP, A64_LSL, 0);
	w->bad |= dist != (int32_t)dist;
}

/* adr, or, beyond 1 MB, adr of itself and the distance added in two parts, up to 16 MB. */
static void words_adr(struct words *w, const struct branch *br, int64_t dist)
{
	int64_t m = dist < 0 ? -dist : dist;
	enum a64_insn id = dist < 0 ? A64_SUBI : A64_ADDI;

	if (br->size == 4) {
		WORD(w, ADR, br->reg, dist);
		return;
	}
	if (br->size == 16) {
		words_adr_far(w, br->reg, dist - 8);
		return;
	}
	WORD(w, ADR, br->reg, 0);
	word(w, id, (const int64_t[A64_OPERANDS]){ 1, br->reg, br->reg, m >> 12, 1 });
	word(w, id, (const int64_t[A64_OPERANDS]){ 1, br->reg, br->reg, m & 0xfff, 0 });
}

int a64_branch_put(const struct branch *br, int64_t dist, uint8_t *out)
{
	struct words w = { .n = 0 };

	if (!br->size)
		return 0;
	switch (br->kind) {
	case BRANCH_COND:
		words_cond(&w, br, dist);
		break;
	case BRANCH_CBZ:
		words_cbz(&w, br, dist);
		break;
	case BRANCH_TBZ:
		words_tbz(&w, br, dist);
		break;
	case BRANCH_ADR:
		words_adr(&w, br, dist);
		break;
	default:
		if (br->kind == BRANCH_BL)
			WORD(&w, BL, dist);
		else
			WORD(&w, B, dist);
	}
	memcpy(out, w.at, w.n * sizeof(w.at[0]));
	return w.bad ? -ERANGE : 0;
}
