/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/op.h"

const struct op_row op_rows[OP_COUNT] = {
#define OP(id, form, text, props, doc) [OP_##id] = { #id, text, doc, FORM_##form, props },
#include "isa/ops.def"
};

/* Atomics that fetch write the old value to src; CMPXCHG writes it to r0. */
static bool op_writes_src(const struct op *op)
{
	return (op->mode & OP_FETCH) && op->code != OP_CMPXCHG;
}

bool op_writes_fp(const struct op *op)
{
	return (op_has(op, P_WRITES_DST) && op->dst == BPF_FP) ||
	       (op_writes_src(op) && op->src == BPF_FP);
}
