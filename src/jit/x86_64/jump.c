/* SPDX-License-Identifier: BSD-2-Clause */
/* Jumps, and the layout of what depends on distances. */
#include <errno.h>
#include <string.h>

#include "jit/x86_64/x86_64.h"

void x86_jump(struct builder *b, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_JMP });
}

void x86_jcc(struct builder *b, unsigned cc, uint32_t label)
{
	builder_branch(b,
		       (struct branch){ .label = label, .kind = BRANCH_JCC, .cond = (uint8_t)cc });
}

void x86_cond_reg(struct builder *b, const struct args *a)
{
	if (a->op->code == OP_JSET)
		x_test_rr(b, !a->w32, a->dst, a->src);
	else
		x_cmp_rr(b, !a->w32, a->dst, a->src);
	x86_jcc(b, a->rule->code, a->label);
}

/* One instead of four bytes of immediate for 128 and -129: x >= 128 is x > 127, and so on. */
static void compare_shorter(unsigned *cc, int64_t *imm)
{
	bool or_equal_up =
	    *imm == 128 && (*cc == CC_AE || *cc == CC_B || *cc == CC_GE || *cc == CC_L);
	bool or_equal_down =
	    *imm == -129 && (*cc == CC_A || *cc == CC_BE || *cc == CC_G || *cc == CC_LE);

	if (!or_equal_up && !or_equal_down)
		return;
	*imm += or_equal_up ? -1 : 1;
	*cc ^= *cc < CC_L ? CC_B ^ CC_BE : CC_L ^ CC_LE;
}

void x86_cond_imm(struct builder *b, const struct args *a)
{
	unsigned cc = a->rule->code;
	int64_t imm = a->imm;

	if (a->op->code == OP_JSET) {
		x86_test_imm(b, !a->w32, a->dst, imm);
	} else {
		compare_shorter(&cc, &imm);
		x86_cmp_imm(b, !a->w32, a->dst, imm);
	}
	x86_jcc(b, cc, a->label);
}

/* The budget is a signed 64-bit count that goes below zero and never comes back. */
void x86_may_goto(struct builder *b, const struct frame *f, uint32_t label)
{
	x_sub_mi8(b, 1, RBP, f->bias - (int64_t)f->stack - 8, 1);
	x86_jcc(b, CC_S, label);
}

static const uint8_t longest[] = {
	[BRANCH_JMP] = 5, [BRANCH_JCC] = 6, [BRANCH_CALL] = 5, [BRANCH_LEA] = 7
};

unsigned x86_branch_longest(const struct branch *br)
{
	return longest[br->kind];
}

/* Jumps to what follows vanish; others take 2 bytes up to a distance of 127 from their end. */
unsigned x86_branch_size(const struct branch *br, int64_t dist, bool ahead)
{
	unsigned size = br->size;

	if (br->kind > BRANCH_JCC)
		return longest[br->kind];
	if (!size && !(ahead && !dist))
		size = 2;
	if (size == 2 && !fits_s8(dist - (ahead && !br->size ? 0 : 2)))
		size = longest[br->kind];
	return size;
}

static void put_rel32(uint8_t *out, int64_t rel)
{
	int32_t v = (int32_t)rel;

	memcpy(out, &v, sizeof(v));
}

int x86_branch_put(const struct branch *br, int64_t dist, uint8_t *out)
{
	int64_t rel = dist - br->size;

	if (!fits_s32(rel))
		return -ERANGE;
	if (br->size == 2) {
		*out++ = br->kind == BRANCH_JMP ? 0xeb : 0x70 | br->cond;
		*out = (uint8_t)rel;
		return 0;
	}
	switch (br->size ? br->kind : UINT8_MAX) {
	case BRANCH_JMP:
		*out++ = 0xe9;
		break;
	case BRANCH_JCC:
		*out++ = 0x0f;
		*out++ = 0x80 | br->cond;
		break;
	case BRANCH_CALL:
		*out++ = 0xe8;
		break;
	case BRANCH_LEA:
		*out++ = 0x48 | (br->reg >> 3) << 2;
		*out++ = 0x8d;
		*out++ = (br->reg & 7) << 3 | 5;
		break;
	default:
		return 0;
	}
	put_rel32(out, rel);
	return 0;
}
