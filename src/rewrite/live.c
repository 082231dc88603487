/* SPDX-License-Identifier: BSD-2-Clause */
/* Backwards, until nothing changes: sets only grow. */
#include "rewrite/live.h"

#include <linux/bpf.h>
#include <stddef.h>

#include "isa/helper.h"

#define BIT(r) (1u << (r))
enum { ARGS = 0x3e, CLOBBERED = 0x3f }; /* r1-r5, r0-r5 */

/* Registers that a helper's row says are arguments. What follows a format may be one as well,
 * whatever the row says (bpf_trace_printk). */
static uint16_t helper_args(int64_t id)
{
	const struct helper *h = id >= 0 && id <= HELPER_ID_MAX ? helper_find((uint32_t)id) : NULL;
	unsigned args = 0;

	if (!h || id == BPF_FUNC_trace_printk)
		return ARGS;
	for (unsigned i = 0; i < 5; i++)
		args |= ARG_KIND(h->arg[i]) != ARG_NONE ? BIT(i + 1) : 0;
	return (uint16_t)args;
}

static bool clobbers(const struct op *op)
{
	return op_has(op, P_CALL) || op_row(op)->form == FORM_LDABS;
}

bool op_is_pure(const struct op *op)
{
	switch (op_row(op)->form) {
	case FORM_ALU:
	case FORM_NEG:
	case FORM_MOV:
	case FORM_END:
	case FORM_LDIMM:
	case FORM_LDMAP:
	case FORM_PERCPU:
		return true;
	case FORM_LD:
		return !(op->mode & OP_PROBE);
	default:
		return false;
	}
}

/* What is live before the op, given what is behind it. An op that will be left out reads
 * nothing. */
static uint16_t live_before(const struct op *op, uint16_t live)
{
	if (op_is_pure(op) && !(live & op_writes(op)))
		return live;
	live &= (uint16_t)~op_writes(op);
	if (clobbers(op))
		live &= (uint16_t)~CLOBBERED;
	if (op->code == OP_CALL)
		live |= helper_args(op->imm);
	else if (op_has(op, P_CALL))
		live |= ARGS;
	return live | op_reads(op);
}

uint16_t live_behind(const struct unit *u, const uint16_t *live, uint32_t i)
{
	const struct op *op = &u->ops[i];
	uint16_t behind = 0;

	if (op_has(op, P_JUMP))
		behind |= live[op->off];
	if (!op_has(op, P_EXIT) && (!op_has(op, P_JUMP) || op_has(op, P_COND)) && i + 1 < u->n_ops)
		behind |= live[i + 1];
	return behind;
}

void live_find(const struct unit *u, uint16_t *live)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t i = u->n_ops; i-- > 0;) {
			uint16_t now = live_before(&u->ops[i], live_behind(u, live, i));

			changed |= now != live[i];
			live[i] = now;
		}
	}
}
