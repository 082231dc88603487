/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of the program, plain or blinded. With blinding a number that the program's author chose
 * is in no instruction, so that nobody can spray code that is meant to be entered at odd places:
 * what is in the code is a random key and the number xor that key. Zero is left as it is, and so
 * are offsets of accesses, which have 16 bits, and addresses, which are the engine's.
 */
#include "jit/lower.h"

/* splitmix64 from the seed of this compile. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t v = *state += 0x9e3779b97f4a7c15;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9;
	v = (v ^ v >> 27) * 0x94d049bb133111eb;
	return v ^ v >> 31;
}

/* A number none of whose 16-bit parts is 0 or all ones: such a part would show one of the value. */
static uint64_t key_next(uint64_t *state)
{
	uint64_t key = 0;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t part;

		do {
			part = random_next(state) & 0xffff;
		} while (part == 0 || part == 0xffff);
		key |= part << 16 * i;
	}
	return key;
}

bool lower_blinds(const struct walk *w, int64_t imm)
{
	return w->b->opts->blind && imm;
}

/* A key that keeps the number in the form that it has: 32 bits, zero- or sign-extended. */
static uint64_t key_for(struct walk *w, uint64_t imm)
{
	uint64_t key = key_next(&w->b->blind);

	if (imm <= UINT32_MAX)
		return (uint32_t)key;
	return (int64_t)imm == (int32_t)imm ? (uint64_t)(int64_t)(int32_t)key : key;
}

void lower_constant(struct walk *w, uint8_t dst, uint64_t imm)
{
	static const struct op by_imm = { .code = OP_XOR }, by_reg = { OP_XOR, OP_REG, 0, 0, 0, 0 };
	struct args a = { .rule = &w->t->rules[OP_XOR], .op = &by_reg, .dst = dst, .first = dst };
	uint64_t key;

	if (!lower_blinds(w, (int64_t)imm)) {
		w->t->mov_imm(w->b, dst, imm);
		return;
	}
	key = key_for(w, imm);
	w->t->mov_imm(w->b, dst, imm ^ key);
	a.w32 = imm <= UINT32_MAX;
	a.imm = a.w32 ? (int32_t)key : (int64_t)key;
	if (!a.rule->fits && a.imm == (int32_t)a.imm) {
		a.op = &by_imm;
		a.rule->imm(w->b, &a);
		return;
	}
	a.src = w->t->blind_tmp;
	w->t->mov_imm(w->b, a.src, key);
	a.rule->reg(w->b, &a);
}

/* Where a blinded operand goes: shifts and compares may need `tmp` for themselves, divisions the
 * other. */
static uint8_t operand_reg(const struct walk *w, const struct op *op)
{
	bool shift = op->code == OP_LSH || op->code == OP_RSH || op->code == OP_ARSH;

	return shift || op_has(op, P_JUMP) ? w->t->address_tmp : w->t->tmp;
}

/* The immediate form where there is one for this value, else the value in a register. */
static void emit_imm(struct walk *w, struct args a)
{
	bool blinded = lower_blinds(w, a.imm);

	if (!blinded && a.rule->imm && (!a.rule->fits || a.rule->fits(&a))) {
		a.rule->imm(w->b, &a);
		return;
	}
	a.src = blinded ? operand_reg(w, a.op) : w->t->tmp;
	lower_constant(w, a.src, a.w32 ? (uint32_t)a.imm : (uint64_t)a.imm);
	a.rule->reg(w->b, &a);
}

void lower_emit(struct walk *w, const struct args *a)
{
	if (a->op->mode & OP_REG)
		a->rule->reg(w->b, a);
	else
		emit_imm(w, *a);
}
