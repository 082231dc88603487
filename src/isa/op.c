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

bool op_reads_src(const struct op *op)
{
	switch (op_row(op)->form) {
	case FORM_LD:
	case FORM_ACQ:
	case FORM_REL:
	case FORM_ATOMIC:
	case FORM_CAST:
	case FORM_PERCPU:
		return true;
	case FORM_LDABS:
		return op->code == OP_LDIND;
	case FORM_ALU:
	case FORM_MOV:
	case FORM_ST:
	case FORM_JCOND:
		return op->mode & OP_REG;
	default:
		return false;
	}
}

uint16_t op_reads(const struct op *op)
{
	unsigned reads = 0;

	if (op_has(op, P_READS_DST) || op->code == OP_CALLX)
		reads |= 1u << op->dst;
	if (op_reads_src(op))
		reads |= 1u << op->src;
	if (op->code == OP_CMPXCHG || op->code == OP_EXIT)
		reads |= 1u << 0;
	if (op_row(op)->form == FORM_LDABS)
		reads |= 1u << 6;
	return (uint16_t)reads;
}

uint16_t op_writes(const struct op *op)
{
	unsigned writes = 0;

	if (op_has(op, P_WRITES_DST))
		writes |= 1u << op->dst;
	if (op_has(op, P_ATOMIC) && op->mode & OP_FETCH)
		writes |= op->code == OP_CMPXCHG ? 1u : 1u << op->src;
	return (uint16_t)writes;
}
