/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/divide.h"

#include <stdbool.h>
#include <string.h>

#include "rewrite/pass.h"

typedef unsigned __int128 u128;

/* The ops of one replacement, as they are put together. */
struct seq {
	struct op *op;
	unsigned n, scratch;
	bool short_of; /* asked for a scratch register that is not there */
	uint8_t dst;
	uint8_t w32; /* OP_W32 or 0 */
};

static void seq_add(struct seq *s, struct op op)
{
	s->short_of |=
	    (op.dst > BPF_AX || ((op.mode & OP_REG) && op.src > BPF_AX)) && s->scratch < 2;
	s->op[s->n++] = op;
}

static void seq_imm(struct seq *s, uint8_t code, uint8_t w32, uint8_t dst, int64_t imm)
{
	seq_add(s, (struct op){ .code = code, .mode = w32, .dst = dst, .imm = imm });
}

static void seq_reg(struct seq *s, uint8_t code, uint8_t w32, uint8_t dst, uint8_t src)
{
	seq_add(s, (struct op){ .code = code, .mode = w32 | OP_REG, .dst = dst, .src = src });
}

/* A shift, or nothing for 0. */
static void seq_shift(struct seq *s, uint8_t code, uint8_t w32, uint8_t dst, unsigned by)
{
	if (by)
		seq_imm(s, code, w32, dst, by);
}

/* AX = a 64-bit or a 32-bit constant. */
static void seq_constant(struct seq *s, uint64_t value)
{
	if (value >> 32)
		seq_imm(s, OP_LDIMM, 0, BPF_AX, (int64_t)value);
	else
		seq_imm(s, OP_MOV, OP_W32, BPF_AX, (int32_t)value);
}

/* dst as a full register: a 32-bit op reads only the lower half, whatever the upper one holds. */
static void seq_zext(struct seq *s)
{
	if (s->w32)
		seq_reg(s, OP_MOV, OP_W32, s->dst, s->dst);
}

static void seq_sext(struct seq *s)
{
	if (s->w32)
		seq_add(s, (struct op){ .code = OP_MOV,
					.mode = OP_REG | OP_SX | op_mode_size(4),
					.dst = s->dst,
					.src = s->dst });
}

/* A reciprocal: x / d = (x * mul) >> (N + shift). */
struct magic {
	uint64_t mul;
	unsigned shift;
	bool add; /* mul lacks its top bit, 2^N */
};

/*
 * Unsigned, for x < 2^(N - pre). With mul = ceil(2^(N+shift) / d) the product is too large by
 * x * err / (d * 2^(N+shift)), err = mul * d - 2^(N+shift); that is below 1/d, and the quotient
 * exact, when err <= 2^(shift + pre). The smallest shift that does it with mul < 2^N wins; when
 * none does, shift = ceil(log2 d) always does, with N + 1 bits.
 */
static struct magic magic_unsigned(uint64_t d, unsigned N, unsigned pre)
{
	unsigned log = 64 - (unsigned)__builtin_clzll(d - 1);
	u128 one = 1;

	for (unsigned shift = 0; shift < log; shift++) {
		u128 power = one << (N + shift), mul = (power + d - 1) / d;

		if (mul < one << N && mul * d - power <= one << (shift + pre))
			return (struct magic){ (uint64_t)mul, shift, false };
	}
	return (struct magic){ (uint64_t)((((one << log) - d) << N) / d + 1), log, true };
}

/*
 * Signed, d >= 3, for -2^(N-1) <= x < 2^(N-1): the smallest shift for which
 * mul = floor(2^(N+shift) / d) + 1 is off by no more than the largest |x| allows (Hacker's
 * Delight 10-1). The quotient is floor(x * mul / 2^(N+shift)), plus 1 when x is negative.
 */
static struct magic magic_signed(uint64_t d, unsigned N)
{
	u128 one = 1, half = one << (N - 1), largest = half - 1 - half % d;
	unsigned shift = 0;

	while ((one << (N + shift)) <= largest * (d - (one << (N + shift)) % d))
		shift++;
	return (struct magic){ (uint64_t)((one << (N + shift)) / d + 1), shift, false };
}

/* r = x - q * d, q in AX. */
static void seq_remainder(struct seq *s, int64_t d)
{
	seq_imm(s, OP_MUL, s->w32, BPF_AX, d);
	seq_reg(s, OP_SUB, s->w32, s->dst, BPF_AX);
}

/* x / 0 and x % 0, x / 1 and x % 1. */
static void seq_trivial(struct seq *s, bool modulo, uint64_t d)
{
	if (modulo == (d == 1))
		seq_imm(s, OP_MOV, s->w32, s->dst, 0);
	else
		seq_zext(s);
}

/* 64 bits, unsigned: q = high(x * mul) >> shift, after taking the power of two out of d where
 * that saves the 65th bit of mul, or else with it: q = (((x - t) >> 1) + t) >> (shift - 1). */
static void seq_udiv64(struct seq *s, bool modulo, int64_t d)
{
	unsigned pre = 0;
	struct magic m = magic_unsigned((uint64_t)d, 64, 0);
	uint8_t q = modulo ? BPF_AX : s->dst, x = s->dst;

	if (m.add && !(d & 1)) {
		pre = (unsigned)__builtin_ctzll((uint64_t)d);
		m = magic_unsigned((uint64_t)d >> pre, 64, pre);
	}
	if (modulo && (pre || m.add)) {
		x = BPF_BX;
		seq_reg(s, OP_MOV, 0, BPF_BX, s->dst);
	}
	seq_shift(s, OP_RSH, 0, x, pre);
	seq_constant(s, m.mul);
	if (m.add) {
		seq_reg(s, OP_UHMUL, 0, BPF_AX, x);
		seq_reg(s, OP_SUB, 0, x, BPF_AX);
		seq_imm(s, OP_RSH, 0, x, 1);
		seq_reg(s, OP_ADD, 0, q, q == x ? BPF_AX : x);
		seq_shift(s, OP_RSH, 0, q, m.shift - 1);
	} else {
		seq_reg(s, OP_UHMUL, 0, q, q == x ? BPF_AX : x);
		seq_shift(s, OP_RSH, 0, q, m.shift);
	}
	if (modulo)
		seq_remainder(s, d);
}

/* 32 bits, unsigned, in 64-bit registers: q = (x * mul) >> (32 + shift) where mul has 32 bits;
 * else q = high(x * ceil(2^64 / d)), which is exact for every 32-bit x and d. */
static void seq_udiv32(struct seq *s, bool modulo, int64_t d)
{
	uint64_t value = (uint32_t)d;
	unsigned pre = 0;
	struct magic m = magic_unsigned(value, 32, 0);
	uint8_t q = modulo ? BPF_AX : s->dst;

	if (m.add && !modulo && !(value & 1)) {
		pre = (unsigned)__builtin_ctzll(value);
		m = magic_unsigned(value >> pre, 32, pre);
	}
	if (pre)
		seq_shift(s, OP_RSH, OP_W32, s->dst, pre);
	else
		seq_zext(s);
	seq_constant(s, m.add ? UINT64_MAX / value + 1 : m.mul);
	seq_reg(s, m.add ? OP_UHMUL : OP_MUL, 0, q, modulo ? s->dst : BPF_AX);
	if (!m.add)
		seq_shift(s, OP_RSH, 0, q, 32 + m.shift);
	if (modulo)
		seq_remainder(s, d);
}

/* By 2^k, unsigned. */
static void seq_upower(struct seq *s, bool modulo, unsigned k)
{
	if (modulo)
		seq_imm(s, OP_AND, s->w32, s->dst, (int64_t)((1ull << k) - 1));
	else
		seq_imm(s, OP_RSH, s->w32, s->dst, k);
}

static void seq_unsigned(struct seq *s, bool modulo, int64_t imm)
{
	uint64_t d = s->w32 ? (uint32_t)imm : (uint64_t)imm;

	if (d <= 1)
		seq_trivial(s, modulo, d);
	else if ((d & (d - 1)) == 0)
		seq_upower(s, modulo, (unsigned)__builtin_ctzll(d));
	else if (s->w32)
		seq_udiv32(s, modulo, imm);
	else
		seq_udiv64(s, modulo, imm);
}

/* By 2^k, signed: 2^k - 1 is added to a negative x, so that the shift rounds towards zero. */
static void seq_spower(struct seq *s, bool modulo, unsigned k)
{
	unsigned N = s->w32 ? 32 : 64;

	seq_reg(s, OP_MOV, s->w32, BPF_AX, s->dst);
	seq_shift(s, OP_ARSH, s->w32, BPF_AX, k > 1 ? N - 1 : 0);
	seq_imm(s, OP_RSH, s->w32, BPF_AX, N - k);
	seq_reg(s, OP_ADD, s->w32, s->dst, BPF_AX);
	if (modulo) {
		seq_imm(s, OP_AND, s->w32, s->dst, (int64_t)((1ull << k) - 1));
		seq_reg(s, OP_SUB, s->w32, s->dst, BPF_AX);
	} else {
		seq_imm(s, OP_ARSH, s->w32, s->dst, k);
	}
}

/* q = floor(x * mul / 2^(N+shift)) in AX, without the 1 for negative x. 64 bits: mul of 2^63 and
 * more counts as mul - 2^64 in the signed product, so x is added. */
static void seq_sfloor(struct seq *s, uint64_t d)
{
	struct magic m = magic_signed(d, s->w32 ? 32 : 64);

	seq_sext(s);
	seq_constant(s, m.mul);
	if (s->w32) {
		seq_reg(s, OP_MUL, 0, BPF_AX, s->dst);
		seq_shift(s, OP_ARSH, 0, BPF_AX, 32 + m.shift);
		return;
	}
	seq_reg(s, OP_SHMUL, 0, BPF_AX, s->dst);
	if (m.mul >> 63)
		seq_reg(s, OP_ADD, 0, BPF_AX, s->dst);
	seq_shift(s, OP_ARSH, 0, BPF_AX, m.shift);
}

static void seq_sdiv(struct seq *s, bool modulo, uint64_t d)
{
	seq_sfloor(s, d);
	if (modulo) {
		seq_reg(s, OP_MOV, 0, BPF_BX, s->dst);
		seq_imm(s, OP_RSH, 0, BPF_BX, 63);
		seq_reg(s, OP_ADD, 0, BPF_AX, BPF_BX);
		seq_remainder(s, (int64_t)d);
	} else {
		seq_imm(s, OP_RSH, 0, s->dst, 63);
		seq_reg(s, OP_ADD, s->w32, s->dst, BPF_AX);
	}
}

/* x / -d = -(x / d), x % -d = x % d. */
static void seq_signed(struct seq *s, bool modulo, int64_t imm)
{
	uint64_t d = (uint64_t)(imm < 0 ? -imm : imm);

	if (d <= 1 && !(d == 1 && imm < 0 && !modulo))
		seq_trivial(s, modulo, d);
	else if ((d & (d - 1)) != 0)
		seq_sdiv(s, modulo, d);
	else if (d > 1)
		seq_spower(s, modulo, (unsigned)__builtin_ctzll(d));
	if (imm < 0 && !modulo)
		seq_imm(s, OP_NEG, s->w32, s->dst, 0);
}

int divide_ops(const struct op *op, unsigned scratch, struct op out[DIVIDE_OPS])
{
	struct seq s = { .op = out, .scratch = scratch, .dst = op->dst, .w32 = op->mode & OP_W32 };
	bool modulo = op->code == OP_MOD || op->code == OP_SMOD;

	if (op->code == OP_SDIV || op->code == OP_SMOD)
		seq_signed(&s, modulo, op->imm);
	else
		seq_unsigned(&s, modulo, op->imm);
	return s.short_of ? -1 : (int)s.n;
}

static bool is_constant_division(const struct op *op)
{
	return (op->code == OP_DIV || op->code == OP_SDIV || op->code == OP_MOD ||
		op->code == OP_SMOD) &&
	       !(op->mode & OP_REG);
}

int rewrite_divide(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		   struct unit **out)
{
	struct op seq[DIVIDE_OPS];
	struct edit e;

	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		const struct op *op = &u->ops[i];
		int n = is_constant_division(op) ? divide_ops(op, opts->scratch, seq) : -1;

		edit_at(&e, i);
		if (n < 0)
			edit_keep(&e);
		for (int k = 0; k < n; k++)
			edit_put(&e, seq[k]);
	}
	return edit_finish(&e, r, out);
}
