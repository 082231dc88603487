/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves, arithmetic, shifts and byte order. */
#include "jit/arm64/arm64.h"

void a64_put(struct builder *b, enum a64_insn id, const int64_t *operand)
{
	int bad;
	uint32_t word = a64_encode(id, operand, &bad);

	if (bad >= 0)
		builder_fail(b, -ERANGE, "%s: operand %d cannot be %lld", a64_name(id), bad,
			     (long long)operand[bad]);
	builder_put(b, (const uint8_t *)&word, sizeof(word));
}

static void frame_address(struct builder *b, unsigned dst)
{
	EMIT(b, ADDI, 1, dst, a64_frame_reg(b->frame), a64_frame_off(b->frame), 0);
}

unsigned a64_value(struct builder *b, unsigned reg)
{
	if (reg != FP)
		return reg;
	frame_address(b, TMP);
	return TMP;
}

void a64_mov_reg(struct builder *b, bool w32, unsigned dst, unsigned src)
{
	if (src == FP && !w32)
		frame_address(b, dst);
	else if (dst != src || w32)
		EMIT(b, ORR, !w32, dst, A64_ZR, a64_value(b, src), A64_LSL, 0);
}

void a64_mov(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_SX)
		EMIT(b, SBFM, !a->w32, a->dst, a64_value(b, a->src), 0, (8 << a->size_log) - 1);
	else
		a64_mov_reg(b, a->w32, a->dst, a->src);
}

/* The instruction with the operands dst, first, src and, where the row has them, no shift. */
void a64_alu_reg(struct builder *b, const struct args *a)
{
	unsigned src = a64_value(b, a->src);

	if (a->op->code == OP_MUL)
		EMIT(b, MADD, !a->w32, a->dst, a->first, src, A64_ZR);
	else
		a64_put(
		    b, (enum a64_insn)a->rule->code,
		    (const int64_t[A64_OPERANDS]){ !a->w32, a->dst, a->first, src, A64_LSL, 0 });
}

/* x - x / y * y; for y == 0 the division gives 0 and x stays, as BPF wants. */
void a64_mod_reg(struct builder *b, const struct args *a)
{
	unsigned src = a64_value(b, a->src);
	enum a64_insn div = a->op->code == OP_SMOD ? A64_SDIV : A64_UDIV;

	a64_put(b, div, (const int64_t[A64_OPERANDS]){ !a->w32, TMP2, a->first, src });
	EMIT(b, MSUB, !a->w32, a->dst, TMP2, src, a->first);
}

/* The immediate as a number to add. In 32 bits it counts modulo 2^32. */
static int64_t addend(const struct args *a)
{
	int64_t imm = a->op->code == OP_SUB ? -a->imm : a->imm;

	return a->w32 ? (int32_t)imm : imm;
}

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

/* One instruction for 12 bits, shifted or not; two for 24 bits, unless a constant takes just one
 * and the register form is as short. */
bool a64_add_fits(const struct args *a)
{
	uint64_t m = magnitude(addend(a));

	if (m < 1 << 12 || (!(m & 0xfff) && m < 1 << 24))
		return true;
	return m < 1 << 24 && a64_mov_imm_count(a->w32 ? (uint32_t)a->imm : (uint64_t)a->imm) > 1;
}

void a64_add_imm(struct builder *b, const struct args *a)
{
	int64_t v = addend(a);
	uint64_t m = magnitude(v);
	enum a64_insn id = v < 0 ? A64_SUBI : A64_ADDI;
	unsigned from = a->first;

	if (m >> 12) {
		a64_put(
		    b, id,
		    (const int64_t[A64_OPERANDS]){ !a->w32, a->dst, from, (int64_t)(m >> 12), 1 });
		from = a->dst;
	}
	if (m & 0xfff)
		a64_put(b, id,
			(const int64_t[A64_OPERANDS]){ !a->w32, a->dst, from, m & 0xfff, 0 });
	if (!m)
		a64_mov_reg(b, a->w32, a->dst, from);
}

/* The immediate form of a logic operation or a right shift. */
static enum a64_insn imm_form(unsigned op_code)
{
	static const uint16_t forms[OP_COUNT] = {
		[OP_AND] = A64_ANDI, [OP_OR] = A64_ORRI,   [OP_XOR] = A64_EORI,
		[OP_RSH] = A64_UBFM, [OP_ARSH] = A64_SBFM,
	};

	return (enum a64_insn)forms[op_code];
}

static uint64_t mask_of(const struct args *a)
{
	return a->w32 ? (uint32_t)a->imm : (uint64_t)a->imm;
}

static bool all_ones(const struct args *a)
{
	return a->w32 ? (uint32_t)a->imm == UINT32_MAX : a->imm == -1;
}

bool a64_logic_fits(const struct args *a)
{
	return !mask_of(a) || all_ones(a) || a64_bitmask(mask_of(a), !a->w32) >= 0;
}

/* System.md J19: all ones and zero become a move, a constant or mvn. */
void a64_logic_imm(struct builder *b, const struct args *a)
{
	bool ones = all_ones(a);

	if (mask_of(a) && !ones)
		a64_put(b, imm_form(a->op->code),
			(const int64_t[A64_OPERANDS]){ !a->w32, a->dst, a->first,
						       (int64_t)mask_of(a) });
	else if (a->op->code == OP_XOR && ones)
		EMIT(b, ORN, !a->w32, a->dst, A64_ZR, a->first, A64_LSL, 0);
	else if (ones == (a->op->code == OP_AND))
		a64_mov_reg(b, a->w32, a->dst, a->first);
	else
		a64_mov_imm(b, a->dst, ones ? mask_of(a) : 0);
}

void a64_shift_imm(struct builder *b, const struct args *a)
{
	unsigned width = a->w32 ? 32 : 64, n = (unsigned)a->imm & (width - 1);

	if (!n)
		a64_mov_reg(b, a->w32, a->dst, a->first);
	else if (a->op->code == OP_LSH)
		EMIT(b, UBFM, !a->w32, a->dst, a->first, width - n, width - 1 - n);
	else
		a64_put(b, imm_form(a->op->code),
			(const int64_t[A64_OPERANDS]){ !a->w32, a->dst, a->first, n, width - 1 });
}

/* A copy and the operation on it as one: r10 is no register that could be read here. */
bool a64_three(struct builder *b, const struct args *a)
{
	struct args reg = *a;

	if (a->first == FP)
		return false;
	if (!(a->op->mode & OP_REG)) {
		if (a->rule->imm && (!a->rule->fits || a->rule->fits(a))) {
			a->rule->imm(b, a);
			return true;
		}
		a64_mov_imm(b, TMP, a->w32 ? (uint32_t)a->imm : (uint64_t)a->imm);
		reg.src = TMP;
	}
	a->rule->reg(b, &reg);
	return true;
}

/* src stands for r10. */
void a64_add3(struct builder *b, uint8_t dst, uint8_t src, int64_t imm)
{
	int64_t v = a64_frame_off(b->frame) + imm;
	unsigned reg = a64_frame_reg(b->frame);
	uint64_t m = magnitude(v);

	if (m >> 12) {
		frame_address(b, dst);
		a64_mov_imm(b, TMP, (uint64_t)imm);
		EMIT(b, ADD, 1, dst, dst, TMP, A64_LSL, 0);
	} else if (v < 0) {
		EMIT(b, SUBI, 1, dst, reg, m, 0);
	} else {
		EMIT(b, ADDI, 1, dst, reg, m, 0);
	}
}

/*
 * Multiplication by a constant of at most two bits that count (system.md J21): 2^n, 2^n + 1,
 * 2^n - 1 and negatives, and 2^m times 2^n + 1 by a shift behind the addition. As n-bit shifted
 * operands cost an extra cycle beyond 4 bits on some cores, this is never slower than
 * materialising the constant and mul, and never longer.
 */
struct factor {
	enum { FACTOR_NONE, FACTOR_ZERO, FACTOR_SHIFT, FACTOR_PLUS, FACTOR_MINUS } kind;
	unsigned n, m; /* PLUS: (2^n + 1) << m; MINUS: (2^n - 1) << m */
	bool negative;
};

static bool is_power(uint64_t v)
{
	return v && !(v & (v - 1));
}

static struct factor factor_of(const struct args *a)
{
	int64_t imm = a->w32 ? (int32_t)a->imm : a->imm;
	uint64_t v = magnitude(imm), odd;
	struct factor f = { .negative = imm < 0 };

	if (!v)
		return (struct factor){ .kind = FACTOR_ZERO };
	f.m = (unsigned)__builtin_ctzll(v);
	odd = v >> f.m;
	if (odd == 1)
		f.kind = FACTOR_SHIFT;
	else if (is_power(odd - 1) && !f.negative)
		f.kind = FACTOR_PLUS, f.n = (unsigned)__builtin_ctzll(odd - 1);
	else if (is_power(odd + 1) && !f.m)
		f.kind = FACTOR_MINUS, f.n = (unsigned)__builtin_ctzll(odd + 1);
	return f;
}

bool a64_mul_fits(const struct args *a)
{
	return factor_of(a).kind != FACTOR_NONE;
}

void a64_mul_imm(struct builder *b, const struct args *a)
{
	struct factor f = factor_of(a);
	unsigned width = a->w32 ? 32 : 64, x = !a->w32, d = a->dst, s = a->first;

	switch (f.kind) {
	case FACTOR_PLUS:
		EMIT(b, ADD, x, d, s, s, A64_LSL, f.n);
		s = d;
		break;
	case FACTOR_MINUS: /* -(2^n - 1) * x = x - (x << n) */
		if (f.negative)
			EMIT(b, SUB, x, d, s, s, A64_LSL, f.n);
		else
			EMIT(b, SUB, x, TMP, A64_ZR, s, A64_LSL, 0),
			    EMIT(b, ADD, x, d, TMP, s, A64_LSL, f.n);
		return;
	case FACTOR_SHIFT:
		if (f.negative)
			EMIT(b, SUB, x, d, A64_ZR, s, A64_LSL, f.m);
		else if (!f.m)
			a64_mov_reg(b, a->w32, d, s);
		if (f.negative || !f.m)
			return;
		break;
	default:
		a64_mov_imm(b, a->dst, 0);
		return;
	}
	if (f.m)
		EMIT(b, UBFM, x, d, s, width - f.m, width - 1 - f.m);
}

/* 32 bits: the upper half of the 64-bit product. */
void a64_high_mul(struct builder *b, const struct args *a)
{
	bool is_signed = a->op->code == OP_SHMUL;
	unsigned src = a64_value(b, a->src);

	if (!a->w32) {
		a64_put(b, is_signed ? A64_SMULH : A64_UMULH,
			(const int64_t[A64_OPERANDS]){ a->dst, a->dst, src });
		return;
	}
	a64_put(b, is_signed ? A64_SMADDL : A64_UMADDL,
		(const int64_t[A64_OPERANDS]){ a->dst, a->dst, src, A64_ZR });
	EMIT(b, UBFM, 1, a->dst, a->dst, 32, 63);
}

void a64_neg(struct builder *b, const struct args *a)
{
	EMIT(b, SUB, !a->w32, a->dst, A64_ZR, a->dst, A64_LSL, 0);
}

/* Little-endian: the low bits as they are, the rest zero. */
void a64_to_le(struct builder *b, const struct args *a)
{
	if (a->imm == 16)
		EMIT(b, UBFM, 0, a->dst, a->dst, 0, 15);
	else if (a->imm == 32)
		a64_mov_reg(b, true, a->dst, a->dst);
}

void a64_swap(struct builder *b, const struct args *a)
{
	if (a->imm == 64) {
		EMIT(b, REV_X, a->dst, a->dst);
		return;
	}
	EMIT(b, REV_W, a->dst, a->dst);
	if (a->imm == 16)
		EMIT(b, UBFM, 0, a->dst, a->dst, 16, 31);
}
