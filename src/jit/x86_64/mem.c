/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores and atomics. Every offset of BPF fits a displacement. */
#include "jit/x86_64/x86_64.h"

void x86_load(struct builder *b, const struct args *a)
{
	static const enum x_insn loads[2][4] = {
		{ X_movzx8_load, X_movzx16_load, X_mov_load, X_mov_load },
		{ X_movsx8_load, X_movsx16_load, X_movsx32_load, X_mov_load },
	};

	x_put(b, loads[!!(a->op->mode & OP_SX)][a->size_log],
	      &(struct x_args){
		  .w = a->size_log == 3, .reg = a->dst, .base = a->src, .disp = a->off });
}

bool x86_load_swapped(struct builder *b, const struct args *a)
{
	if (!(b->features & FEAT_MOVBE) || !a->size_log)
		return false;
	if (a->size_log == 1) {
		x_movbe_load16(b, 0, a->dst, a->src, a->off);
		x_movzx16(b, 0, a->dst, a->dst);
	} else {
		x_movbe_load(b, a->size_log == 3, a->dst, a->src, a->off);
	}
	return true;
}

void x86_store_reg(struct builder *b, const struct args *a)
{
	static const enum x_insn stores[4] = { X_mov_store8, X_mov_store16, X_mov_store,
					       X_mov_store };

	x_put(b, stores[a->size_log],
	      &(struct x_args){
		  .w = a->size_log == 3, .reg = a->src, .base = a->dst, .disp = a->off });
}

void x86_store_imm(struct builder *b, const struct args *a)
{
	switch (a->size_log) {
	case 0:
		x_mov_mi8(b, 0, a->dst, a->off, (int8_t)a->imm);
		break;
	case 1:
		x_mov_mi16(b, 0, a->dst, a->off, (int16_t)a->imm);
		break;
	default:
		x_mov_mi32(b, a->size_log == 3, a->dst, a->off, (int32_t)a->imm);
	}
}

/* The arena begins at a multiple of 4 GiB: its upper half is put above the offset by turning the
 * sum round twice, which takes no other register. */
void x86_arena(struct builder *b, struct args *a, uint8_t *base)
{
	x_mov_rr(b, 0, TMP2, *base);
	x_rol_ri8(b, 1, TMP2, 32);
	x_add_ri32(b, 1, TMP2, (int64_t)(b->arena >> 32));
	x_rol_ri8(b, 1, TMP2, 32);
	*base = TMP2;
}

void x86_probe_outside(struct builder *b, uint8_t base, uint32_t label)
{
	enum { BITS = 47 };

	x_lea(b, 1, TMP2, base, -(int64_t)PROBE_LOW);
	x_shr_ri8(b, 1, TMP2, BITS);
	x86_jcc(b, CC_NE, label);
}

static bool may_fault(const struct args *a)
{
	return a->op->mode & (OP_PROBE | OP_ARENA);
}

/* When the values are equal, cmpxchg leaves the upper half of rax as it was. */
static void atomic_put(struct builder *b, enum x_insn insn, const struct args *a)
{
	struct place at = builder_here(b);

	x_put(b, insn,
	      &(struct x_args){
		  .w = a->size_log == 3, .reg = a->src, .base = a->dst, .disp = a->off });
	if (insn == X_lock_cmpxchg && a->size_log == 2)
		x_mov_rr(b, 0, RAX, RAX);
	if (may_fault(a))
		builder_fault(b, at, builder_here(b), 0xff);
}

/* Atomics that have one instruction for both forms. */
void x86_atomic(struct builder *b, const struct args *a)
{
	atomic_put(b, a->op->mode & OP_FETCH ? X_lock_xadd : X_lock_add, a);
}

void x86_xchg(struct builder *b, const struct args *a)
{
	atomic_put(b, X_xchg_mr, a);
}

void x86_cmpxchg(struct builder *b, const struct args *a)
{
	atomic_put(b, X_lock_cmpxchg, a);
}

static enum x_insn atomic_plain(const struct op *op)
{
	return op->code == OP_AOR ? X_lock_or : op->code == OP_AAND ? X_lock_and : X_lock_xor;
}

static enum x_insn atomic_alu(const struct op *op)
{
	return op->code == OP_AOR ? X_or_rr : op->code == OP_AAND ? X_and_rr : X_xor_rr;
}

/* The address of an arena access is in TMP2, which the loop needs: it moves to a register that the
 * program has, whose value is on the stack meanwhile. */
static unsigned loop_base_push(struct builder *b, const struct args *a)
{
	unsigned reg = a->src == RCX ? RDX : RCX;

	x_push(b, 0, reg);
	x_mov_rr(b, 1, reg, TMP2);
	return reg;
}

/* Old value by a loop of cmpxchg, which needs rax; whatever was there is in TMP meanwhile, as
 * address or operand, too. */
static void fetch_loop(struct builder *b, const struct args *a)
{
	bool moved = a->dst == TMP2;
	unsigned w = a->size_log == 3, operand = a->src == RAX ? TMP : a->src;
	unsigned base = moved ? loop_base_push(b, a) : a->dst == RAX ? TMP : a->dst;
	uint32_t again = builder_labels(b, 1);
	struct place at;

	x_mov_rr(b, 1, TMP, RAX);
	at = builder_here(b);
	x_mov_load(b, w, RAX, base, a->off);
	builder_bind(b, again);
	x_mov_rr(b, 1, TMP2, RAX);
	x_put(b, atomic_alu(a->op), &(struct x_args){ .w = w, .rm = TMP2, .reg = operand });
	x_lock_cmpxchg(b, w, TMP2, base, a->off);
	x86_jcc(b, CC_NE, again);
	if (a->src != RAX)
		x_mov_rr(b, 1, a->src, RAX);
	if (may_fault(a))
		builder_fault(b, at, builder_here(b), 0xff);
	if (a->src != RAX)
		x_mov_rr(b, 1, RAX, TMP);
	if (moved)
		x_pop(b, 0, base);
}

void x86_atomic_loop(struct builder *b, const struct args *a)
{
	if (a->op->mode & OP_FETCH)
		fetch_loop(b, a);
	else
		atomic_put(b, atomic_plain(a->op), a);
}
