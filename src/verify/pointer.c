/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers added to and subtracted from pointers. */
#include "verify/ver.h"

#include <inttypes.h>

static int offset_check(struct ver *v, const struct scalar *s, int32_t off, const struct reg *ptr)
{
	char buf[64];
	const char *kind = kind_text(ptr, buf, sizeof(buf));
	int64_t val = (int64_t)s->d.val;

	if (scalar_is_one(s) && (val >= VAR_OFF_MAX || val <= -VAR_OFF_MAX))
		return fail(v, -EINVAL, "math between %s pointer and %" PRId64 " is not allowed",
			    kind, val);
	if (off >= VAR_OFF_MAX || off <= -VAR_OFF_MAX)
		return fail(v, -EINVAL, "%s pointer offset %d is not allowed", kind, off);
	if (s->d.smin == INT64_MIN)
		return fail(v, -EINVAL,
			    "math between %s pointer and register with unbounded min value is not "
			    "allowed",
			    kind);
	if (s->d.smin >= VAR_OFF_MAX || s->d.smin <= -VAR_OFF_MAX)
		return fail(v, -EINVAL, "value %" PRId64 " makes %s pointer be out of bounds",
			    s->d.smin, kind);
	return 0;
}

static int kind_check(struct ver *v, const struct op *op, unsigned dst, const struct reg *ptr,
		      const struct reg *num)
{
	char buf[64];
	bool known = scalar_is_one(&num->s);

	if (ptr->flags & RF_NULL)
		return fail(v, -EACCES,
			    "R%u pointer arithmetic on %s prohibited, null-check it first", dst,
			    kind_text(ptr, buf, sizeof(buf)));
	if (ptr->kind == KIND_FLOW_KEYS && known)
		return 0;
	if (ptr->kind == KIND_MAP && known && !num->s.d.val && op->code == OP_ADD)
		return 0;
	if (!reg_has(ptr, K_MATH) || ptr->kind == KIND_FLOW_KEYS)
		return fail(v, -EACCES, "R%u pointer arithmetic on %s prohibited", dst,
			    kind_text(ptr, buf, sizeof(buf)));
	return 0;
}

static int op_check(struct ver *v, const struct op *op, unsigned ptr_n, const struct reg *ptr)
{
	switch (op->code) {
	case OP_ADD:
		return 0;
	case OP_SUB:
		if (ptr_n != op->dst)
			return fail(v, -EACCES, "R%u tried to subtract pointer from scalar",
				    op->dst);
		if (ptr->kind == KIND_STACK)
			return fail(v, -EACCES, "R%u subtraction from stack pointer prohibited",
				    op->dst);
		return 0;
	case OP_AND:
	case OP_OR:
	case OP_XOR:
		return fail(v, -EACCES, "R%u bitwise operator %s on pointer prohibited", op->dst,
			    op_row(op)->text);
	default:
		return fail(v, -EACCES, "R%u pointer arithmetic with %s operator prohibited",
			    op->dst, op_row(op)->text);
	}
}

/* The part of the result that is not the pointer's fixed offset. */
static void offset_vary(struct ver *v, const struct op *op, struct reg *r, const struct reg *num)
{
	bool add = op->code == OP_ADD;

	r->s = scalar_alu(add ? ALU_ADD : ALU_SUB, &r->s, &num->s);
	if (!reg_has(r, K_PKT))
		return;
	r->id = id_new(v);
	if (add || num->s.d.smin < 0)
		r->n = 0;
}

/* What hardening needs to know of num, which is marked precise, so that no path is left out. */
static void number_note(struct ver *v, const struct op *op, unsigned ptr_n, const struct reg *ptr,
			const struct reg *num)
{
	uint8_t where = ptr_n == op->dst ? FACT_NUMBER_SRC : FACT_NUMBER_DST;
	int64_t min = num->s.d.smin, max = num->s.d.smax;
	struct fact *f = fact(v);

	if (!(op->mode & OP_REG))
		return;
	f->number_varies |= (f->number && f->number != where) || min < INT32_MIN || max > INT32_MAX;
	f->number_value |= ptr->kind == KIND_MAP_VALUE && !scalar_is_one(&num->s);
	if (!f->number || min < f->number_min)
		f->number_min = (int32_t)min;
	if (!f->number || max > f->number_max)
		f->number_max = (int32_t)max;
	f->number = where;
}

/* dst = ptr + num or ptr - num. ptr and num are copies; ptr_n is the register ptr came from. */
int pointer_math(struct ver *v, const struct op *op, unsigned ptr_n, const struct reg *ptr,
		 const struct reg *num)
{
	struct reg r = *ptr, *dst = reg(v, op->dst);
	int64_t off = op->code == OP_SUB ? ptr->off - (int64_t)num->s.d.val
					 : ptr->off + (int64_t)num->s.d.val;
	int err;

	if (scalar_is_empty(&num->s)) {
		reg_set_unknown(dst);
		return 0;
	}
	if (op->mode & OP_W32) {
		if (op->code != OP_SUB)
			return fail(v, -EACCES, "R%u 32-bit pointer arithmetic prohibited",
				    op->dst);
		reg_set_unknown(dst);
		return 0;
	}
	err = kind_check(v, op, op->dst, ptr, num);
	if (!err)
		err = offset_check(v, &num->s, 0, ptr);
	if (!err)
		err = offset_check(v, &ptr->s, ptr->off, ptr);
	if (!err)
		err = op_check(v, op, ptr_n, ptr);
	if (err)
		return err;
	number_note(v, op, ptr_n, ptr, num);
	if (scalar_is_one(&num->s) && off == (int32_t)off)
		r.off = (int32_t)off;
	else
		offset_vary(v, op, &r, num);
	reg_set(dst, &r);
	return offset_check(v, &dst->s, dst->off, dst);
}
