/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ops that only write a register which nobody reads are left out: what inlined look-ups leave of
 * the preparations of a call, mostly the address of the map. Liveness of registers, backwards,
 * until nothing changes.
 */
#include "base/mem.h"
#include "isa/helper.h"
#include "rewrite/pass.h"

#define BIT(r) (1u << (r))
enum { ARGS = 0x3e, CLOBBERED = 0x3f }; /* r1-r5, r0-r5 */
enum { TRACE_PRINTK = 6 };

/* Registers that a helper's row says are arguments. What follows a format may be one as well,
 * whatever the row says (bpf_trace_printk). */
static uint16_t helper_args(int64_t id)
{
	const struct helper *h = id >= 0 && id <= HELPER_ID_MAX ? helper_find((uint32_t)id) : NULL;
	unsigned args = 0;

	if (!h || id == TRACE_PRINTK)
		return ARGS;
	for (unsigned i = 0; i < 5; i++)
		args |= ARG_KIND(h->arg[i]) != ARG_NONE ? BIT(i + 1) : 0;
	return (uint16_t)args;
}

static bool clobbers(const struct op *op)
{
	return op_has(op, P_CALL) || op_row(op)->form == FORM_LDABS;
}

/* Writes dst and does nothing else. */
static bool is_pure(const struct op *op)
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
	if (is_pure(op) && !(live & op_writes(op)))
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

static uint16_t live_behind(const struct unit *u, const uint16_t *live, uint32_t i)
{
	const struct op *op = &u->ops[i];
	uint16_t behind = 0;

	if (op_has(op, P_JUMP))
		behind |= live[op->off];
	if (!op_has(op, P_EXIT) && (!op_has(op, P_JUMP) || op_has(op, P_COND)) && i + 1 < u->n_ops)
		behind |= live[i + 1];
	return behind;
}

static void live_find(const struct unit *u, uint16_t *live)
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

static bool is_unused(const struct unit *u, const uint16_t *live, uint32_t i)
{
	const struct op *op = &u->ops[i];

	return is_pure(op) && !(live_behind(u, live, i) & op_writes(op));
}

int rewrite_unused(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		   struct unit **out)
{
	uint16_t *live;
	struct edit e;

	if (!u->facts || !opts->jit)
		return 0;
	live = mem_zalloc(u->n_ops, sizeof(*live));
	if (!live)
		return -ENOMEM;
	live_find(u, live);
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		if (!is_unused(u, live, i))
			edit_keep(&e);
	}
	mem_free(live);
	return edit_finish(&e, r, out);
}
