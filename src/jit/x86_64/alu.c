/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves, arithmetic, shifts and byte order. */
#include "jit/x86_64/x86_64.h"

void x86_mov_reg(struct builder *b, unsigned dst, unsigned src)
{
	if (dst != src)
		x_mov_rr(b, 1, dst, src);
}

/* Shortest of xor, mov r32, or -1, sign-extending mov, movabs. */
void x86_mov_imm(struct builder *b, uint8_t dst, uint64_t imm)
{
	int64_t v = (int64_t)imm;

	if (!imm)
		x_xor_rr(b, 0, dst, dst);
	else if (imm <= UINT32_MAX)
		x_mov_ri32(b, 0, dst, v);
	else if (v == -1)
		x_or_ri8(b, 1, dst, -1);
	else if (fits_s32(v))
		x_mov_rs32(b, 1, dst, v);
	else
		x_mov_ri64(b, 1, dst, v);
}

static void mov_sign_extended(struct builder *b, const struct args *a)
{
	if (a->size_log == 0)
		x_movsx8(b, !a->w32, a->dst, a->src);
	else if (a->size_log == 1)
		x_movsx16(b, !a->w32, a->dst, a->src);
	else if (a->w32)
		x_mov_rr(b, 0, a->dst, a->src);
	else
		x_movsx32(b, 1, a->dst, a->src);
}

void x86_mov(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_SX)
		mov_sign_extended(b, a);
	else if (a->w32)
		x_mov_rr(b, 0, a->dst, a->src);
	else
		x86_mov_reg(b, a->dst, a->src);
}

/* The forms of one operation. */
struct alu {
	enum x_insn rr, ri8, ri32, ai32;
};

static const struct alu *alu_of(unsigned op_code)
{
	static const struct alu alus[OP_COUNT] = {
		[OP_ADD] = { X_add_rr, X_add_ri8, X_add_ri32, X_add_ai32 },
		[OP_SUB] = { X_sub_rr, X_sub_ri8, X_sub_ri32, X_sub_ai32 },
		[OP_OR] = { X_or_rr, X_or_ri8, X_or_ri32, X_or_ai32 },
		[OP_AND] = { X_and_rr, X_and_ri8, X_and_ri32, X_and_ai32 },
		[OP_XOR] = { X_xor_rr, X_xor_ri8, X_xor_ri32, X_xor_ai32 },
	};
	return &alus[op_code];
}

static void alu_imm(struct builder *b, unsigned op_code, unsigned w, unsigned dst, int64_t imm)
{
	const struct alu *k = alu_of(op_code);
	enum x_insn insn = fits_s8(imm) ? k->ri8 : dst == RAX ? k->ai32 : k->ri32;

	x_put(b, insn, &(struct x_args){ .w = w, .rm = insn == k->ai32 ? 0 : dst, .imm = imm });
}

void x86_alu_reg(struct builder *b, const struct args *a)
{
	x_put(b, alu_of(a->op->code)->rr,
	      &(struct x_args){ .w = !a->w32, .rm = a->dst, .reg = a->src });
}

/* The value stays; a 32-bit operation still clears the upper half. */
static void keep(struct builder *b, unsigned w, unsigned dst)
{
	if (!w)
		x_mov_rr(b, 0, dst, dst);
}

static void zero(struct builder *b, unsigned dst)
{
	x_xor_rr(b, 0, dst, dst);
}

static void add_imm(struct builder *b, unsigned w, unsigned dst, int64_t imm)
{
	if (!imm)
		keep(b, w, dst);
	else if (imm == 1)
		x_inc(b, w, dst);
	else if (imm == -1)
		x_dec(b, w, dst);
	else if (imm == 128)
		x_sub_ri8(b, w, dst, -128);
	else
		alu_imm(b, OP_ADD, w, dst, imm);
}

static void sub_imm(struct builder *b, unsigned w, unsigned dst, int64_t imm)
{
	if (imm == INT32_MIN)
		alu_imm(b, OP_SUB, w, dst, imm);
	else
		add_imm(b, w, dst, -imm);
}

/* A mask without its sign bit clears the upper half whatever the width: the 32-bit form will do. */
static void and_imm(struct builder *b, unsigned w, unsigned dst, int64_t imm)
{
	if (imm == -1)
		keep(b, w, dst);
	else if (!imm)
		zero(b, dst);
	else if (imm == 0xff)
		x_movzx8(b, 0, dst, dst);
	else if (imm == 0xffff)
		x_movzx16(b, 0, dst, dst);
	else
		alu_imm(b, OP_AND, w && imm < 0, dst, imm);
}

static void or_imm(struct builder *b, unsigned w, unsigned dst, int64_t imm)
{
	if (imm)
		alu_imm(b, OP_OR, w, dst, imm);
	else
		keep(b, w, dst);
}

static void xor_imm(struct builder *b, unsigned w, unsigned dst, int64_t imm)
{
	if (!imm)
		keep(b, w, dst);
	else if (imm == -1)
		x_not(b, w, dst);
	else
		alu_imm(b, OP_XOR, w, dst, imm);
}

void x86_alu_imm(struct builder *b, const struct args *a)
{
	static void (*const emit[OP_COUNT])(struct builder *, unsigned, unsigned, int64_t) = {
		[OP_ADD] = add_imm, [OP_SUB] = sub_imm, [OP_AND] = and_imm,
		[OP_OR] = or_imm,   [OP_XOR] = xor_imm,
	};

	emit[a->op->code](b, !a->w32, a->dst, a->imm);
}

void x86_cmp_imm(struct builder *b, unsigned w, unsigned reg, int64_t imm)
{
	if (!imm)
		x_test_rr(b, w, reg, reg);
	else if (fits_s8(imm))
		x_cmp_ri8(b, w, reg, imm);
	else if (reg == RAX)
		x_cmp_ai32(b, w, imm);
	else
		x_cmp_ri32(b, w, reg, imm);
}

/* Sets only ZF for the caller, so that a mask of few bits may be tested in a narrower form. */
void x86_test_imm(struct builder *b, unsigned w, unsigned reg, int64_t imm)
{
	if (imm >= 0 && imm <= 0xff && reg == RAX)
		x_test_ai8(b, 0, imm);
	else if (imm >= 0 && imm <= 0xff)
		x_test_ri8(b, 0, reg, imm);
	else if (reg == RAX)
		x_test_ai32(b, w && imm < 0, imm);
	else
		x_test_ri32(b, w && imm < 0, reg, imm);
}

void x86_mul_reg(struct builder *b, const struct args *a)
{
	x_imul_rr(b, !a->w32, a->dst, a->src);
}

/* 3, 5 and 9 times as base + index * 2, 4, 8; powers of two as shifts. */
void x86_mul_imm(struct builder *b, const struct args *a)
{
	unsigned w = !a->w32, dst = a->dst;
	int64_t imm = a->imm;

	if (!imm)
		zero(b, dst);
	else if (imm == 1)
		keep(b, w, dst);
	else if (imm == -1)
		x_neg(b, w, dst);
	else if (imm == 2)
		x_shl_1(b, w, dst);
	else if (imm > 0 && !(imm & (imm - 1)))
		x_shl_ri8(b, w, dst, __builtin_ctzll((uint64_t)imm));
	else if (imm == 3 || imm == 5 || imm == 9)
		x_lea_x(b, w, dst, dst, dst, imm == 3 ? 1 : imm == 5 ? 2 : 3, 0);
	else if (fits_s8(imm))
		x_imul_rri8(b, w, dst, dst, imm);
	else
		x_imul_rri32(b, w, dst, dst, imm);
}

struct shift {
	enum x_insn by1, ri8, cl, vex;
};

static const struct shift *shift_of(unsigned op_code)
{
	static const struct shift shifts[OP_COUNT] = {
		[OP_LSH] = { X_shl_1, X_shl_ri8, X_shl_cl, X_shlx },
		[OP_RSH] = { X_shr_1, X_shr_ri8, X_shr_cl, X_shrx },
		[OP_ARSH] = { X_sar_1, X_sar_ri8, X_sar_cl, X_sarx },
	};
	return &shifts[op_code];
}

void x86_shift_imm(struct builder *b, const struct args *a)
{
	struct x_args x = { .w = !a->w32, .rm = a->dst, .imm = a->imm & (a->w32 ? 31 : 63) };
	const struct shift *k = shift_of(a->op->code);

	if (!x.imm)
		keep(b, x.w, a->dst);
	else
		x_put(b, x.imm == 1 ? k->by1 : k->ri8, &x);
}

/* Without BMI2 the count must be in cl: rcx is set aside in TMP meanwhile, and when it is the
 * value to be shifted, it is shifted there. */
static void shift_by_cl(struct builder *b, const struct args *a, enum x_insn cl)
{
	unsigned value = a->dst == RCX ? TMP : a->dst;

	x_mov_rr(b, 1, TMP, RCX);
	x_mov_rr(b, 0, RCX, a->src);
	x_put(b, cl, &(struct x_args){ .w = !a->w32, .rm = value });
	x_mov_rr(b, 1, RCX, TMP);
}

void x86_shift_reg(struct builder *b, const struct args *a)
{
	const struct shift *k = shift_of(a->op->code);

	if (a->src == RCX)
		x_put(b, k->cl, &(struct x_args){ .w = !a->w32, .rm = a->dst });
	else if (b->features & FEAT_BMI2)
		x_put(
		    b, k->vex,
		    &(struct x_args){ .w = !a->w32, .reg = a->dst, .rm = a->dst, .vreg = a->src });
	else
		shift_by_cl(b, a, k->cl);
}

void x86_neg(struct builder *b, const struct args *a)
{
	x_neg(b, !a->w32, a->dst);
}

void x86_to_le(struct builder *b, const struct args *a)
{
	if (a->imm == 16)
		x_movzx16(b, 0, a->dst, a->dst);
	else
		keep(b, a->imm == 64, a->dst);
}

void x86_swap(struct builder *b, const struct args *a)
{
	if (a->imm != 16) {
		x_bswap(b, a->imm == 64, a->dst);
		return;
	}
	x_rol16_ri8(b, 0, a->dst, 8);
	x_movzx16(b, 0, a->dst, a->dst);
}

/* rbp and r13 as base need a displacement; as index they do not. */
static void lea_sum(struct builder *b, unsigned w, unsigned dst, unsigned x, unsigned y)
{
	bool swap = (x & 7) == RBP;

	x_lea_x(b, w, dst, swap ? y : x, swap ? x : y, 0, 0);
}

bool x86_add_three(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_REG)
		lea_sum(b, !a->w32, a->dst, a->first, a->src);
	else
		x_lea(b, !a->w32, a->dst, a->first, a->imm);
	return true;
}

bool x86_sub_three(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_REG || a->imm == INT32_MIN)
		return false;
	x_lea(b, !a->w32, a->dst, a->first, -a->imm);
	return true;
}

bool x86_and_three(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_REG || (a->imm != 0xff && a->imm != 0xffff))
		return false;
	if (a->imm == 0xff)
		x_movzx8(b, 0, a->dst, a->first);
	else
		x_movzx16(b, 0, a->dst, a->first);
	return true;
}

bool x86_mul_three(struct builder *b, const struct args *a)
{
	unsigned w = !a->w32;
	int64_t imm = a->imm;

	if (a->op->mode & OP_REG || imm == 1 || imm == -1 || !(imm & (imm - 1)))
		return false;
	if (imm == 3 || imm == 5 || imm == 9)
		x_lea_x(b, w, a->dst, a->first, a->first, imm == 3 ? 1 : imm == 5 ? 2 : 3, 0);
	else if (fits_s8(imm))
		x_imul_rri8(b, w, a->dst, a->first, imm);
	else
		x_imul_rri32(b, w, a->dst, a->first, imm);
	return true;
}

bool x86_shift_three(struct builder *b, const struct args *a)
{
	bool by_one = a->op->code == OP_LSH && (a->imm & (a->w32 ? 31 : 63)) == 1;

	if (!(a->op->mode & OP_REG)) {
		if (by_one)
			lea_sum(b, !a->w32, a->dst, a->first, a->first);
		return by_one;
	}
	if (!(b->features & FEAT_BMI2))
		return false;
	x_put(b, shift_of(a->op->code)->vex,
	      &(struct x_args){ .w = !a->w32, .reg = a->dst, .rm = a->first, .vreg = a->src });
	return true;
}
