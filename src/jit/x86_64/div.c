/* SPDX-License-Identifier: BSD-2-Clause */
/* Division, modulo and high products: what works on rdx:rax. */
#include "jit/x86_64/x86_64.h"

static bool is_mod(const struct op *op)
{
	return op->code == OP_MOD || op->code == OP_SMOD;
}

static bool is_signed(const struct op *op)
{
	return op->code == OP_SDIV || op->code == OP_SMOD || op->code == OP_SHMUL;
}

/* rax = dst, and what rax and rdx held is kept: in dst itself (exchanged with rax) and TMP2. */
static void wide_begin(struct builder *b, unsigned dst)
{
	x_mov_rr(b, 1, TMP2, dst == RDX ? RAX : RDX);
	if (dst == RDX)
		x_mov_rr(b, 1, RAX, RDX);
	else if (dst != RAX)
		x_xchg_ar(b, 0, dst);
}

/* dst = result (rax or rdx); the others get back what they had. */
static void wide_end(struct builder *b, unsigned dst, unsigned result)
{
	x86_mov_reg(b, dst == RDX ? RDX : RAX, result);
	if (dst == RDX) {
		x_mov_rr(b, 1, RAX, TMP2);
		return;
	}
	if (dst != RAX)
		x_xchg_ar(b, 0, dst);
	x_mov_rr(b, 1, RDX, TMP2);
}

/* The other operand, out of the way of rax, rdx and what dst is used for. */
static unsigned wide_operand(struct builder *b, unsigned dst, unsigned src)
{
	if (src != RAX && src != RDX && src != dst)
		return src;
	x_mov_rr(b, 1, TMP, src);
	return TMP;
}

/* The divisor is not 0, not -1 when signed, and in none of rax, rdx and dst. */
static void divide(struct builder *b, const struct args *a, unsigned divisor)
{
	unsigned w = !a->w32;

	wide_begin(b, a->dst);
	if (!is_signed(a->op)) {
		x_xor_rr(b, 0, RDX, RDX);
		x_div(b, w, divisor);
	} else {
		if (w)
			x_cqo(b);
		else
			x_cdq(b);
		x_idiv(b, w, divisor);
	}
	wide_end(b, a->dst, is_mod(a->op) ? RDX : RAX);
}

/* By zero: dst / 0 = 0 (`dst * divisor`), dst % 0 = dst. */
static void divide_unsigned(struct builder *b, const struct args *a, unsigned divisor,
			    uint32_t done)
{
	uint32_t work = builder_labels(b, 1);

	if (is_mod(a->op)) {
		if (a->w32)
			x_mov_rr(b, 0, a->dst, a->dst);
		x_test_rr(b, !a->w32, divisor, divisor);
		x86_jcc(b, CC_E, done);
	} else {
		x_test_rr(b, !a->w32, divisor, divisor);
		x86_jcc(b, CC_NE, work);
		x_xor_rr(b, 0, a->dst, a->dst);
		x86_jump(b, done);
	}
	builder_bind(b, work);
	divide(b, a, divisor);
}

/* Divisors 0 and -1 are those with divisor + 1 <= 1, unsigned. For them the quotient is
 * dst * divisor, MIN / -1 = MIN included, and the remainder is dst * (divisor + 1). */
static void divide_signed(struct builder *b, const struct args *a, unsigned divisor, uint32_t done)
{
	uint32_t work = builder_labels(b, 1);
	unsigned w = !a->w32;

	x_lea(b, w, TMP2, divisor, 1);
	x_cmp_ri8(b, w, TMP2, 1);
	x86_jcc(b, CC_A, work);
	x_imul_rr(b, w, a->dst, is_mod(a->op) ? TMP2 : divisor);
	x86_jump(b, done);
	builder_bind(b, work);
	divide(b, a, divisor);
}

void x86_div_reg(struct builder *b, const struct args *a)
{
	uint32_t done = builder_labels(b, 1);
	unsigned divisor = wide_operand(b, a->dst, a->src);

	if (is_signed(a->op))
		divide_signed(b, a, divisor, done);
	else
		divide_unsigned(b, a, divisor, done);
	builder_bind(b, done);
}

/* dst = dst * by + 0 for by -1, 0, 1. */
static void times(struct builder *b, unsigned w, unsigned dst, int by)
{
	if (!by)
		x_xor_rr(b, 0, dst, dst);
	else if (by < 0)
		x_neg(b, w, dst);
	else if (!w)
		x_mov_rr(b, 0, dst, dst);
}

static void divide_power(struct builder *b, const struct args *a, unsigned shift)
{
	static const struct op ops[] = { { .code = OP_RSH }, { .code = OP_AND } };
	struct args k = *a;

	k.op = &ops[is_mod(a->op)];
	k.imm = is_mod(a->op) ? (int64_t)(1ull << shift) - 1 : shift;
	if (is_mod(a->op))
		x86_alu_imm(b, &k);
	else
		x86_shift_imm(b, &k);
}

void x86_div_imm(struct builder *b, const struct args *a)
{
	uint64_t value = a->w32 ? (uint32_t)a->imm : (uint64_t)a->imm;
	unsigned w = !a->w32;

	if (!a->imm)
		times(b, w, a->dst, is_mod(a->op));
	else if (a->imm == 1)
		times(b, w, a->dst, !is_mod(a->op));
	else if (a->imm == -1 && is_signed(a->op))
		times(b, w, a->dst, is_mod(a->op) ? 0 : -1);
	else if (!is_signed(a->op) && !(value & (value - 1)))
		divide_power(b, a, (unsigned)__builtin_ctzll(value));
	else {
		x86_mov_imm(b, TMP, value);
		divide(b, a, TMP);
	}
}

/* 32 bits: the upper half of a 64-bit product. */
static void high_mul_32(struct builder *b, const struct args *a)
{
	if (is_signed(a->op)) {
		x_movsx32(b, 1, TMP, a->src);
		x_movsx32(b, 1, a->dst, a->dst);
	} else {
		x_mov_rr(b, 0, TMP, a->src);
		x_mov_rr(b, 0, a->dst, a->dst);
	}
	x_imul_rr(b, 1, a->dst, TMP);
	x_shr_ri8(b, 1, a->dst, 32);
}

void x86_high_mul(struct builder *b, const struct args *a)
{
	unsigned operand;

	if (a->w32) {
		high_mul_32(b, a);
		return;
	}
	operand = wide_operand(b, a->dst, a->src);
	wide_begin(b, a->dst);
	if (is_signed(a->op))
		x_imul1(b, 1, operand);
	else
		x_mul(b, 1, operand);
	wide_end(b, a->dst, RDX);
}
