/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls.h"

#include "emit.h"
#include "world.h"

/* Registers: the arguments; what a call leaves undefined besides r0. */
enum { R0 = 1, ARGS = 0x3e, LOST = ARGS | 1 << BPF_AX | 1 << BPF_BX };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Numbers into the argument registers of `mask`. */
static void arguments(struct gen *g, uint16_t mask)
{
	for (uint8_t r = 1; r <= 5; r++) {
		const bool defined = g->regs >> r & 1;

		if (!(mask >> r & 1) || (defined && rng_below(&g->rng, 2)))
			continue;
		if (rng_below(&g->rng, 2))
			emit_pinned(g, op_reg(OP_MOV, 0, r, pick_src(g)));
		else
			emit_const(g, r, value_64(&g->rng));
	}
}

static void argument_base(struct gen *g, uint8_t r)
{
	emit_pinned(g, op_reg(OP_MOV, 0, r, g->base));
}

static void argument_stack(struct gen *g, uint8_t r, int32_t off)
{
	emit_pinned(g, op_reg(OP_MOV, 0, r, BPF_FP));
	emit_pinned(g, op_imm(OP_ADD, 0, r, off));
}

/* By number, or through a register. */
static void call_number(struct gen *g, int32_t number)
{
	const uint8_t r = pick_dst(g);

	if (rng_once_in(&g->rng, 8) && (r == 0 || (r > 5 && r < BPF_FP))) {
		emit_pinned(g, op_imm(OP_MOV, 0, r, number));
		emit(g, op_imm(OP_CALLX, 0, r, 0));
	} else {
		emit(g, op_imm(OP_CALL, 0, 0, number));
	}
}

static void call_pure(struct gen *g)
{
	static const int32_t numbers[] = { HELPER_MIX, HELPER_SCRIBBLE, HELPER_FIRST,
					   HELPER_MINUS };

	arguments(g, ARGS);
	call_number(g, numbers[rng_below(&g->rng, COUNT(numbers))]);
}

static void call_xor(struct gen *g)
{
	arguments(g, 1 << 2 | 1 << 3);
	if (g->stack >= 8 && rng_below(&g->rng, 2)) {
		const int32_t n = g->stack < WORLD_SPAN ? g->stack : WORLD_SPAN;

		emit_pinned(g, op_imm(OP_MOV, 0, 2, rng_between(&g->rng, 0, n)));
		argument_stack(g, 1, -g->stack);
	} else {
		argument_base(g, 1);
	}
	call_number(g, HELPER_XOR);
}

void item_call_helper(struct gen *g)
{
	if (g->leaf)
		return item_plain(g);
	if (rng_once_in(&g->rng, 3))
		call_xor(g);
	else
		call_pure(g);
	emit_define(g, LOST);
}

/* A function that may be called from here, or 0. Only functions behind this one, so that nothing
 * recurs. */
static unsigned pick_sub(struct gen *g)
{
	const unsigned left = g->n_subs - g->sub - 1;
	unsigned to;

	if (g->leaf || left == 0 || g->subs[g->sub].depth >= GEN_FRAMES)
		return 0;
	to = g->sub + 1 + (rng_below(&g->rng, 2) ? 0 : rng_below(&g->rng, left));
	if (g->subs[to].depth < g->subs[g->sub].depth + 1)
		g->subs[to].depth = g->subs[g->sub].depth + 1;
	g->subs[to].wanted = true;
	return to;
}

void item_call_sub(struct gen *g)
{
	const unsigned to = pick_sub(g);

	if (!to)
		return item_plain(g);
	arguments(g, 0x38);
	if (g->stack >= 32 && rng_below(&g->rng, 2))
		argument_stack(g, 2, -16);
	else
		argument_base(g, 2);
	argument_base(g, 1);
	emit_pinned(g, (struct op){ .code = OP_CALLSUB, .off = (int32_t)to });
	emit_define(g, LOST);
}

void item_call_back(struct gen *g)
{
	const unsigned to = pick_sub(g);
	const bool twice = rng_once_in(&g->rng, 3);

	if (!to)
		return item_plain(g);
	arguments(g, ARGS);
	argument_base(g, twice ? 2 : 3);
	emit_pinned(g, (struct op){ .code = OP_LDFUNC, .dst = twice ? 1 : 2, .off = (int32_t)to });
	emit_pinned(g, op_imm(OP_CALL, 0, 0, twice ? HELPER_TWICE : HELPER_LOOP));
	emit_define(g, LOST);
}

/* The slot behind the last program is empty, the one behind that does not exist. The upper half
 * of the index does not count. */
static uint64_t pick_slot(struct gen *g)
{
	const uint64_t slot = rng_below(&g->rng, g->n_targets + 2);

	return rng_once_in(&g->rng, 4) ? rng_next(&g->rng) << 32 | slot : slot;
}

void item_call_tail(struct gen *g)
{
	const struct sub *sub = &g->subs[g->sub];

	if (g->leaf || sub->depth > CALLEE_DEPTH || (g->callee && g->sub))
		return item_plain(g);
	for (uint32_t n = rng_once_in(&g->rng, 4) ? 2 : 1; n > 0; n--) {
		argument_base(g, 1);
		emit_pinned(g, op_imm(OP_LDMAP, 0, 2, 0));
		emit_const(g, 3, pick_slot(g));
		emit(g, op_imm(OP_TAILCALL, 0, 0, 0));
		emit_define(g, LOST | R0);
	}
}

/* Something with the value at r0, and r0 is a number again. */
static void use_value(struct gen *g)
{
	const int32_t off = 8 * rng_between(&g->rng, 0, MAP_VALUE / 8 - 1);
	const uint8_t r = pick_dst(g);
	const uint32_t missing = emit_pinned(g, op_imm(OP_JEQ, 0, 0, 0));

	if (rng_once_in(&g->rng, 3))
		emit(g, op_load(r == 0 || r > 5 ? r : 0, 0, off, op_mode_size(4)));
	else if (rng_below(&g->rng, 2))
		emit(g, op_store(0, off, g->base, 4));
	else
		emit(g, (struct op){
			    .code = OP_AADD, .mode = op_mode_size(8), .src = g->base, .off = off });
	emit_const(g, 0, value_64(&g->rng));
	emit_land(g, missing);
}

/* The key is the word below r10, the value the two below that. */
static void call_map(struct gen *g)
{
	static const int32_t calls[] = { HELPER_MAP_LOOKUP, HELPER_MAP_LOOKUP, HELPER_MAP_UPDATE,
					 HELPER_MAP_UPDATE, HELPER_MAP_UPDATE, HELPER_MAP_ERASE };
	const int32_t call = calls[rng_below(&g->rng, COUNT(calls))];
	struct op key = op_store(BPF_FP, -8, 0, 8);

	key.mode &= (uint8_t)~OP_REG;
	key.imm = rng_between(&g->rng, 0, MAP_KEYS - 1);
	emit_pinned(g, key);
	emit_const(g, 4, rng_below(&g->rng, 4) ? 0 : rng_below(&g->rng, 4));
	argument_stack(g, 3, -8 - MAP_VALUE);
	argument_stack(g, 2, -8);
	emit_pinned(g, op_imm(OP_LDMAP, 0, 1, GEN_REF_MAPS + rng_between(&g->rng, 0, MAPS - 1)));
	emit_pinned(g, op_imm(OP_CALL, 0, 0, call));
	if (call == HELPER_MAP_LOOKUP)
		use_value(g);
	emit_define(g, LOST);
}

void item_call_map(struct gen *g)
{
	if (g->leaf || g->stack < 8 + MAP_VALUE)
		return item_plain(g);
	for (uint32_t n = 1 + rng_below(&g->rng, 4); n > 0; n--)
		call_map(g);
}

void item_load_packet(struct gen *g)
{
	const bool usable = g->base == 6 || (g->regs & ~g->reserved) >> 6 & 1;
	struct op op = op_imm(OP_LDABS, op_mode_size(1u << rng_below(&g->rng, 3)), 0,
			      rng_between(&g->rng, 0, WORLD_PACKET - 4));

	if (g->leaf || !usable)
		return item_plain(g);
	if (g->base != 6)
		argument_base(g, 6);
	if (rng_once_in(&g->rng, 16))
		op.imm = value_32(&g->rng);
	if (rng_below(&g->rng, 2)) {
		op.code = OP_LDIND;
		op.src = g->base == 6 ? pick_dst(g) : 0;
		emit_const(g, op.src, (uint64_t)(int64_t)rng_between(&g->rng, -2, 4));
	}
	emit(g, op);
	emit_define(g, LOST);
}
