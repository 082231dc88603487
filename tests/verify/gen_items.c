/* SPDX-License-Identifier: BSD-2-Clause */
/* Items of the generator on numbers and the stack. */
#include "gen_impl.h"

static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

void item_alu(struct gen *g)
{
	static const uint8_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_OR,  BPF_AND,
				       BPF_XOR, BPF_AND, BPF_LSH, BPF_RSH, BPF_ARSH,
				       BPF_DIV, BPF_MOD, BPF_ADD, BPF_AND, BPF_NEG };
	uint8_t op = ops[rnd(g, sizeof(ops))], class = rnd(g, 3) ? BPF_ALU64 : BPF_ALU;
	unsigned dst = number(g), src = number(g);
	int32_t imm = constant(g);
	int sign = 0;

	if (op == BPF_NEG) {
		put(g, class | op, dst, 0, 0, 0);
		return;
	}
	if (op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH)
		imm = (int32_t)rnd(g, class == BPF_ALU ? 32 : 64);
	if (op == BPF_DIV || op == BPF_MOD) {
		imm = imm ? imm : 3;
		sign = rnd(g, 3) == 0;
	}
	if (rnd(g, 3))
		put(g, class | op | BPF_K, dst, 0, sign, imm);
	else
		put(g, class | op | BPF_X, dst, src, sign, 0);
}

void item_endian(struct gen *g)
{
	static const int32_t bits[] = { 16, 32, 64 };
	static const uint8_t ops[] = { BPF_ALU | BPF_END | BPF_TO_LE, BPF_ALU | BPF_END | BPF_TO_BE,
				       BPF_ALU64 | BPF_END };

	put(g, ops[rnd(g, 3)], number(g), 0, 0, bits[rnd(g, 3)]);
}

/* A register to be copied: not what is locked. */
static unsigned source(struct gen *g)
{
	unsigned start = rnd(g, 10);

	for (unsigned i = 0; i < 10; i++) {
		unsigned r = (start + i) % 10;

		if (g->has[r] != NOTHING && g->has[r] != LOCKED)
			return r;
	}
	return number(g);
}

static enum what copied(enum what w)
{
	return w == LOCKED ? NUMBER : w;
}

void item_move(struct gen *g)
{
	unsigned src = rnd(g, 6) ? source(g) : 10, dst;

	if (src == 10) {
		dst = target(g, FAR_STACK);
		if (g->loops && dst >= 6)
			return;
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, dst, 10, 0, 0);
		put(g, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, -8 * SLOTS);
		g->has[dst] = FAR_STACK;
		return;
	}
	dst = target(g, copied(g->has[src]));
	if (g->has[src] == CTX && g->loops)
		return;
	if (g->has[src] == NUMBER && rnd(g, 3) == 0) {
		static const int16_t sx[] = { 0, 8, 16 };

		put(g, (rnd(g, 2) ? BPF_ALU : BPF_ALU64) | BPF_MOV | BPF_X, dst, src, sx[rnd(g, 3)],
		    0);
	} else {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
	}
	g->has[dst] = copied(g->has[src]);
}

/* Two numbers that are related; one is compared, the other used. */
void item_linked(struct gen *g)
{
	unsigned a = number(g), b = target(g, NUMBER), p = pick(g, VALUE_PTR), t;
	struct known before;
	uint32_t at;

	if (a == b)
		return;
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, b, a, 0, 0);
	g->has[b] = NUMBER;
	if (rnd(g, 2))
		put(g, (rnd(g, 4) ? BPF_ALU64 : BPF_ALU) | BPF_ADD | BPF_K, b, 0, 0,
		    (int32_t)rnd(g, 12) - (rnd(g, 4) ? 0 : 6));
	at = rnd(g, 2) ? put(g, (rnd(g, 4) ? BPF_JMP : BPF_JMP32) | BPF_JGT | BPF_K, b, 0, 0,
			     (int32_t)rnd(g, 40))
		       : compare(g, b);
	known_save(g, &before);
	t = target(g, VALUE_PTR);
	if (p != NO_REG && t != p && t != a && t != b) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, t, p, 0, 0);
		put(g, BPF_ALU64 | BPF_ADD | BPF_X, t, a, 0, 0);
		put(g, BPF_LDX | BPF_MEM | BPF_B, t, t, (int)rnd(g, 8), 0);
		g->has[t] = NUMBER;
	}
	block(g, 1 + rnd(g, 3));
	jump_here(g, at);
	known_meet(g, &before);
}

/* Any bytes of the slots. */
void item_stack(struct gen *g)
{
	uint8_t size = sizes[rnd(g, 4)];
	int bytes = size == BPF_B ? 1 : size == BPF_H ? 2 : size == BPF_W ? 4 : 8;
	int off = -bytes * (int)(1 + rnd(g, (uint32_t)(8 * SLOTS / bytes)));
	unsigned k = (unsigned)(-off - 1) / 8, r;

	if (rnd(g, 3) == 0) {
		if (g->loops && g->slot[k] != NUMBER)
			return;
		put(g, BPF_ST | BPF_MEM | size, 10, 0, off, constant(g));
		g->slot[k] = NUMBER;
	} else if (rnd(g, 2)) {
		if (g->loops && g->slot[k] != NUMBER)
			return;
		put(g, BPF_STX | BPF_MEM | size, 10, number(g), off, 0);
		g->slot[k] = NUMBER;
	} else if (g->slot[k] == NUMBER || rnd(g, 20) == 0) {
		r = target(g, NUMBER);
		put(g, BPF_LDX | (rnd(g, 4) || size == BPF_DW ? BPF_MEM : 0x80) | size, r, 10, off,
		    0);
		g->has[r] = NUMBER;
	}
}

/* Whole slots: what goes in comes out. */
void item_spill(struct gen *g)
{
	unsigned k = rnd(g, SLOTS), r;
	int off = -8 * (int)(k + 1);

	if (g->slot[k] == NOTHING || rnd(g, 2)) {
		r = source(g);
		if (g->loops && g->slot[k] != copied(g->has[r]))
			return;
		put(g, BPF_STX | BPF_MEM | BPF_DW, 10, r, off, 0);
		g->slot[k] = copied(g->has[r]);
		return;
	}
	if (g->slot[k] == CTX && g->loops)
		return;
	r = target(g, g->slot[k]);
	put(g, BPF_LDX | BPF_MEM | BPF_DW, r, 10, off, 0);
	g->has[r] = g->slot[k];
}

/* The stack at an offset that is not known. */
void item_stack_var(struct gen *g)
{
	unsigned i = number(g), t = target(g, NUMBER);
	static const int32_t masks[] = { 7, 15, 31, 8, 24, 48 };
	uint32_t m = rnd(g, 6);
	uint8_t size = m < 3 && rnd(g, 20) ? BPF_B : sizes[rnd(g, 4)];
	int off = m < 3 ? (int)rnd(g, 25) : 8 * (int)rnd(g, 2);

	if (i == t || g->loops)
		return;
	put(g, BPF_ALU64 | BPF_AND | BPF_K, i, 0, 0, masks[m]);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, t, 10, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, t, 0, 0, -8 * SLOTS);
	put(g, BPF_ALU64 | BPF_ADD | BPF_X, t, i, 0, 0);
	if (rnd(g, 2)) {
		put(g, BPF_STX | BPF_MEM | size, t, i, off, 0);
		for (unsigned k = 0; k < SLOTS; k++)
			g->slot[k] = g->slot[k] ? NUMBER : NOTHING;
		g->has[t] = NOTHING;
	} else {
		put(g, BPF_LDX | BPF_MEM | size, t, t, off, 0);
		g->has[t] = NUMBER;
	}
}
