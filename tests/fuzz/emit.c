/* SPDX-License-Identifier: BSD-2-Clause */
#include "emit.h"

static uint32_t append(struct gen *g, struct op op, uint8_t pinned)
{
	if (vec_push(&g->ops, op) || vec_push(&g->pinned, pinned))
		g->failed = true;
	return g->failed ? 0 : (uint32_t)g->ops.n - 1;
}

uint32_t emit(struct gen *g, struct op op)
{
	return append(g, op, 0);
}

uint32_t emit_pinned(struct gen *g, struct op op)
{
	return append(g, op, 1);
}

void emit_land(struct gen *g, uint32_t op)
{
	if (!g->failed)
		g->ops.at[op].off = (int32_t)g->ops.n;
}

static uint8_t pick_in(struct gen *g, uint16_t mask)
{
	unsigned n = rng_below(&g->rng, (uint32_t)__builtin_popcount(mask));

	while (n--)
		mask &= (uint16_t)(mask - 1);
	return (uint8_t)__builtin_ctz(mask);
}

uint8_t pick_dst(struct gen *g)
{
	return pick_in(g, g->regs & (uint16_t)~g->reserved);
}

uint8_t pick_src(struct gen *g)
{
	return pick_in(g, g->regs);
}

void emit_const(struct gen *g, uint8_t r, uint64_t v)
{
	const uint32_t way = rng_below(&g->rng, 4);

	if (v == (uint64_t)(int32_t)v && way)
		emit_pinned(g, op_imm(OP_MOV, 0, r, (int64_t)v));
	else if (v == (uint32_t)v && way)
		emit_pinned(g, op_imm(OP_MOV, OP_W32, r, (int32_t)v));
	else
		emit_pinned(g, op_imm(OP_LDIMM, 0, r, (int64_t)v));
}

void emit_value(struct gen *g, uint8_t r)
{
	if (rng_below(&g->rng, 4))
		emit_const(g, r, value_64(&g->rng));
	else
		emit_pinned(g, op_load(r, g->base, value_offset(&g->rng, -32768, 32767, 1),
				       op_mode_size(1u << rng_below(&g->rng, 4))));
}

void emit_define(struct gen *g, uint16_t mask)
{
	const uint16_t kept = g->regs & (uint16_t)~mask;

	for (uint8_t r = 0; r < BPF_REGS; r++) {
		if (!((mask & g->regs) >> r & 1) || r == g->base)
			continue;
		if (kept && rng_below(&g->rng, 2))
			emit_pinned(g, op_reg(OP_MOV, 0, r, pick_in(g, kept)));
		else
			emit_value(g, r);
	}
}
