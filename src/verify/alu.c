/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic on numbers, and moves of any value. */
#include "verify/ver.h"

/* The operations whose results are tracked; -1: any number may come out. */
static int alu_of(const struct op *op)
{
	static const int8_t map[OP_COUNT] = {
		[OP_ADD] = 1 + ALU_ADD, [OP_SUB] = 1 + ALU_SUB, [OP_MUL] = 1 + ALU_MUL,
		[OP_AND] = 1 + ALU_AND, [OP_OR] = 1 + ALU_OR,	[OP_XOR] = 1 + ALU_XOR,
		[OP_LSH] = 1 + ALU_LSH, [OP_RSH] = 1 + ALU_RSH, [OP_ARSH] = 1 + ALU_ARSH,
	};

	return map[op->code] - 1;
}

static bool is_shift(const struct op *op)
{
	return op->code == OP_LSH || op->code == OP_RSH || op->code == OP_ARSH;
}

static struct scalar number_alu(const struct op *op, const struct scalar *a, const struct scalar *b)
{
	bool half = op->mode & OP_W32;
	int alu = alu_of(op);

	if (alu < 0)
		return scalar_any();
	if (is_shift(op) && (half ? !dom32_is_one(&b->w) : !scalar_is_one(b)))
		return scalar_any();
	if (is_shift(op) && b->d.umax >= (half ? 32 : 64))
		return scalar_any();
	return half ? scalar_alu_w((enum alu)alu, a, b) : scalar_alu((enum alu)alu, a, b);
}

/* A copy of a number shares its id, so that what is learnt of one is learnt of both. */
static void number_share(struct ver *v, struct reg *r)
{
	if (r->kind != KIND_SCALAR)
		return;
	if (r->id & ID_PLUS_OFF) {
		r->id = 0;
		r->off = 0;
	}
	if (!r->id && !scalar_is_one(&r->s))
		r->id = id_new(v);
}

static void number_unlink(struct reg *r)
{
	r->id = 0;
	if (r->kind == KIND_SCALAR)
		r->off = 0;
}

/* dst += constant keeps the link to copies of the old dst, at a distance. */
static void number_relink(const struct op *op, struct reg *dst, const struct scalar *src)
{
	bool plus = op->code == OP_ADD && !(op->mode & OP_W32) && dst->id && scalar_is_one(src);

	if (!plus || dst->id & ID_PLUS_OFF || src->d.val > INT32_MAX) {
		number_unlink(dst);
		return;
	}
	dst->id |= ID_PLUS_OFF;
	dst->off = (int32_t)src->d.val;
}

/* dst &= constant, where dst is 0 or -1 (what an arithmetic shift by the width makes of a sign):
 * compilers write conditions so. Both are walked by themselves, 0 later. */
static int number_fork(struct ver *v, const struct op *op, const struct scalar *src)
{
	struct reg *dst = reg(v, op->dst), *other;
	bool whole = dst->s.d.smin == -1 && dst->s.d.smax == 0;
	bool half = dst->s.w.smin == -1 && dst->s.w.smax == 0;
	struct state *later;

	if (op->code != OP_AND || !scalar_is_one(src) || (!whole && !half))
		return 0;
	later = state_push(v, v->op + 1, v->op);
	if (!later)
		return -E2BIG;
	other = &later->frame[later->top]->r[op->dst];
	if (whole) {
		other->s = scalar_one(0);
		dst->s = scalar_one(UINT64_MAX);
	} else {
		other->s.w = dom32_one(0);
		dst->s.w = dom32_one(UINT32_MAX);
		scalar_sync(&other->s);
		scalar_sync(&dst->s);
	}
	other->s = number_alu(op, &other->s, src);
	number_unlink(other);
	return 0;
}

static int two_pointers(struct ver *v, const struct op *op)
{
	if (op->code != OP_SUB)
		return fail(v, -EACCES, "R%u pointer %s pointer prohibited", op->dst,
			    op_row(op)->text);
	reg_set_unknown(reg(v, op->dst));
	return 0;
}

static int alu_regs(struct ver *v, const struct op *op)
{
	struct reg *dst = reg(v, op->dst), *src = reg(v, op->src);
	struct reg old = *dst, other = *src;
	int err;

	if (reg_is_ptr(src) && reg_is_ptr(dst))
		return two_pointers(v, op);
	if (reg_is_ptr(src)) {
		err = precise_mark(v, op->dst);
		return err ? err : pointer_math(v, op, op->src, &other, &old);
	}
	if (reg_is_ptr(dst)) {
		err = precise_mark(v, op->src);
		return err ? err : pointer_math(v, op, op->dst, &old, &other);
	}
	fact(v)->number_varies = 1;
	err = dst->precise ? precise_mark(v, op->src) : 0;
	if (!err)
		err = number_fork(v, op, &other.s);
	if (err)
		return err;
	dst->s = number_alu(op, &dst->s, &other.s);
	number_relink(op, dst, &other.s);
	return 0;
}

static int alu_imm(struct ver *v, const struct op *op)
{
	struct reg *dst = reg(v, op->dst);
	struct reg old = *dst, imm = { .kind = KIND_SCALAR, .s = scalar_one((uint64_t)op->imm) };
	int err;

	if (reg_is_ptr(dst))
		return pointer_math(v, op, op->dst, &old, &imm);
	err = number_fork(v, op, &imm.s);
	if (err)
		return err;
	dst->s = number_alu(op, &dst->s, &imm.s);
	number_relink(op, dst, &imm.s);
	return 0;
}

static int alu_imm_check(struct ver *v, const struct op *op)
{
	int64_t bits = op->mode & OP_W32 ? 32 : 64;

	if (op->mode & OP_REG)
		return 0;
	if ((op->code == OP_DIV || op->code == OP_MOD || op->code == OP_SDIV ||
	     op->code == OP_SMOD) &&
	    !op->imm)
		return fail(v, -EINVAL, "div by zero");
	if (is_shift(op) && (op->imm < 0 || op->imm >= bits))
		return fail(v, -EINVAL, "invalid shift %d", (int)op->imm);
	return 0;
}

static int alu_two(struct ver *v, const struct op *op)
{
	bool whole = !(op->mode & OP_W32);
	int err = 0;

	if (op->mode & OP_REG)
		err = reg_read(v, op->src, whole);
	if (!err)
		err = reg_read(v, op->dst, whole);
	if (!err)
		err = alu_imm_check(v, op);
	if (!err)
		err = reg_write(v, op->dst, whole);
	if (err)
		return err;
	return op->mode & OP_REG ? alu_regs(v, op) : alu_imm(v, op);
}

/* -dst, byte swaps: any number comes out. */
static int alu_one(struct ver *v, const struct op *op)
{
	bool whole = op_row(op)->form == FORM_END ? op->imm == 64 : !(op->mode & OP_W32);
	int err = reg_read(v, op->dst, whole);

	if (!err)
		err = reg_write(v, op->dst, whole);
	if (!err)
		reg_set_unknown(reg(v, op->dst));
	return err;
}

static int move_imm(struct ver *v, const struct op *op)
{
	bool whole = !(op->mode & OP_W32);
	int err = reg_write(v, op->dst, whole);

	if (!err)
		reg_set_const(reg(v, op->dst),
			      whole ? (uint64_t)op->imm : (uint64_t)(uint32_t)op->imm);
	return err;
}

/* Whether the number is unchanged when only its low n bits are kept. */
static bool number_fits(const struct reg *r, unsigned n)
{
	return n == 64 || r->s.d.umax < 1ull << n;
}

/* A part of a pointer is any number. */
static int move_pointer(struct ver *v, const struct op *op)
{
	struct reg *dst = reg(v, op->dst);

	if (op->mode & (OP_SX | OP_W32))
		reg_set_unknown(dst);
	else
		reg_set(dst, reg(v, op->src));
	if (op->mode & OP_W32)
		scalar_zext(&dst->s);
	return 0;
}

static struct scalar number_move(const struct op *op, const struct scalar *s)
{
	struct scalar r = op->mode & OP_SX ? scalar_sext(s, 8 * op_size(op)) : *s;

	if (op->mode & OP_W32)
		scalar_zext(&r);
	return r;
}

static int move_reg(struct ver *v, const struct op *op)
{
	bool whole = !(op->mode & OP_W32);
	struct reg *src = reg(v, op->src), *dst = reg(v, op->dst);
	int err = reg_read(v, op->src, whole);
	bool same;

	if (!err)
		err = reg_write(v, op->dst, whole);
	if (err)
		return err;
	if (reg_is_ptr(src))
		return move_pointer(v, op);
	same = op->mode & OP_SX ? number_fits(src, 8 * op_size(op) - 1)
				: number_fits(src, whole ? 64 : 32);
	if (same)
		number_share(v, src);
	reg_set(dst, src);
	if (!same)
		number_unlink(dst);
	dst->s = number_move(op, &src->s);
	return 0;
}

int alu_step(struct ver *v)
{
	const struct op *op = op_at(v);

	switch (op_row(op)->form) {
	case FORM_MOV:
		return op->mode & OP_REG ? move_reg(v, op) : move_imm(v, op);
	case FORM_NEG:
	case FORM_END:
		return alu_one(v, op);
	default:
		return alu_two(v, op);
	}
}
