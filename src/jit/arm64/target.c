/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/arm64/arm64.h"

static const struct rule rules[OP_COUNT] = {
	[OP_ADD] = { a64_alu_reg, a64_add_imm, a64_add_fits, A64_ADD, a64_three },
	[OP_SUB] = { a64_alu_reg, a64_add_imm, a64_add_fits, A64_SUB, a64_three },
	[OP_OR] = { a64_alu_reg, a64_logic_imm, a64_logic_fits, A64_ORR, a64_three },
	[OP_AND] = { a64_alu_reg, a64_logic_imm, a64_logic_fits, A64_AND, a64_three },
	[OP_XOR] = { a64_alu_reg, a64_logic_imm, a64_logic_fits, A64_EOR, a64_three },
	[OP_MUL] = { a64_alu_reg, a64_mul_imm, a64_mul_fits, A64_MADD, a64_three },
	[OP_DIV] = { a64_alu_reg, NULL, NULL, A64_UDIV, a64_three },
	[OP_SDIV] = { a64_alu_reg, NULL, NULL, A64_SDIV, a64_three },
	[OP_MOD] = { a64_mod_reg, NULL, NULL, A64_UDIV, a64_three },
	[OP_SMOD] = { a64_mod_reg, NULL, NULL, A64_SDIV, a64_three },
	[OP_LSH] = { a64_alu_reg, a64_shift_imm, NULL, A64_LSLV, a64_three },
	[OP_RSH] = { a64_alu_reg, a64_shift_imm, NULL, A64_LSRV, a64_three },
	[OP_ARSH] = { a64_alu_reg, a64_shift_imm, NULL, A64_ASRV, a64_three },
	[OP_UHMUL] = { a64_high_mul, NULL },
	[OP_SHMUL] = { a64_high_mul, NULL },
	[OP_NEG] = { a64_neg, NULL },
	[OP_MOV] = { a64_mov, NULL },
	[OP_TOLE] = { a64_to_le, NULL },
	[OP_TOBE] = { a64_swap, NULL },
	[OP_BSWAP] = { a64_swap, NULL },
	[OP_LD] = { a64_load, NULL },
	[OP_ST] = { a64_store_reg, a64_store_imm, a64_store_fits },
	[OP_LDACQ] = { a64_load_acquire, NULL },
	[OP_STREL] = { a64_store_release, NULL },
	[OP_AADD] = { a64_atomic, NULL },
	[OP_AOR] = { a64_atomic, NULL },
	[OP_AAND] = { a64_atomic, NULL },
	[OP_AXOR] = { a64_atomic, NULL },
	[OP_XCHG] = { a64_atomic, NULL },
	[OP_CMPXCHG] = { a64_atomic, NULL },
	[OP_JEQ] = { a64_cond_reg, a64_cond_imm, NULL, A64_EQ },
	[OP_JNE] = { a64_cond_reg, a64_cond_imm, NULL, A64_NE },
	[OP_JGT] = { a64_cond_reg, a64_cond_imm, NULL, A64_HI },
	[OP_JGE] = { a64_cond_reg, a64_cond_imm, NULL, A64_HS },
	[OP_JLT] = { a64_cond_reg, a64_cond_imm, NULL, A64_LO },
	[OP_JLE] = { a64_cond_reg, a64_cond_imm, NULL, A64_LS },
	[OP_JSET] = { a64_cond_reg, a64_cond_imm, NULL, A64_NE },
	[OP_JSGT] = { a64_cond_reg, a64_cond_imm, NULL, A64_GT },
	[OP_JSGE] = { a64_cond_reg, a64_cond_imm, NULL, A64_GE },
	[OP_JSLT] = { a64_cond_reg, a64_cond_imm, NULL, A64_LT },
	[OP_JSLE] = { a64_cond_reg, a64_cond_imm, NULL, A64_LE },
};

/* The running slot's base is a thread variable at a fixed distance from the thread pointer. */
void a64_percpu_base(struct builder *b, uint8_t reg)
{
	EMIT(b, MRS, reg, A64_TPIDR_EL0);
	EMIT(b, LDR_X_U, reg, reg, b->percpu_tp);
}

/* The register that holds it. */
static uint8_t percpu_reg(struct builder *b)
{
	if (a64_keeps_percpu(b->frame))
		return a64_percpu_reg(b->frame);
	a64_percpu_base(b, TMP2);
	return TMP2;
}

static void percpu(struct builder *b, uint8_t dst, uint8_t src)
{
	EMIT(b, ADD, 1, dst, a64_value(b, src), percpu_reg(b), A64_LSL, 0);
}

/* Two immediates of 12 bits. */
static bool percpu_at(struct builder *b, uint8_t dst, uint64_t off)
{
	uint8_t base = off >> 24 ? 0 : percpu_reg(b);

	if (off >> 24)
		return false;
	if (off >> 12)
		EMIT(b, ADDI, 1, dst, base, off >> 12, 1);
	if (off & 0xfff || !off)
		EMIT(b, ADDI, 1, dst, off >> 12 ? dst : base, off & 0xfff, 0);
	return true;
}

static bool percpu_load(struct builder *b, const struct args *load)
{
	struct args a = *load;

	a.src = TMP2;
	if (!a64_off_fits(b, &a))
		return false;
	a.src = percpu_reg(b);
	a64_load(b, &a);
	return true;
}

/* System.md J4. */
static void nospec(struct builder *b)
{
	if (b->features & FEAT_SB) {
		EMIT(b, SB, 0);
	} else {
		EMIT(b, DSB, A64_SY);
		EMIT(b, ISB, 0);
	}
}

static bool signs(uint64_t features)
{
	return features & FEAT_PAUTH;
}

static void landing_pad(struct builder *b)
{
	EMIT(b, BTI, A64_BTI_JC);
}

const struct target target_arm64 = {
	.name = "arm64",
	.traits = TRAIT_ZEXT32 | TRAIT_PERCPU | TRAIT_INDEX | TRAIT_DIV0,
	.reg = { 0, 1, 2, 3, 4, 5, 19, 20, 21, 22, FP, 9, 13 },
	.leaf_reg = { 6, 7, 8, 14 },
	.tmp = TMP,
	.address_tmp = ADDRESS,
	.blind_tmp = TMP2,
	.trap = { 0x00, 0x20, 0x20, 0xd4 },
	.insn_size = 4,
	.call_reach = 128 << 20,
	.thread_vars = 16,
	.rules = rules,
	.cpu = a64_cpu,
	.cpus = a64_cpus,
	.signs = signs,
	.mov_imm = a64_mov_imm,
	.mov_address = a64_mov_address,
	.off_fits = a64_off_fits,
	.add3 = a64_add3,
	.jump = a64_jump,
	.call = a64_call,
	.call_table = a64_call_table,
	.call_label = a64_call_label,
	.label_address = a64_label_address,
	.tail_call = a64_tail_call,
	.tail_shared = a64_tail_shared,
	.may_goto = a64_may_goto,
	.percpu = percpu,
	.percpu_at = percpu_at,
	.percpu_load = percpu_load,
	.arena = a64_arena,
	.probe_outside = a64_probe_outside,
	.nospec = nospec,
	.thunk = a64_thunk,
	.catch = a64_catch,
	.private_enter = a64_private_enter,
	.landing_pad = landing_pad,
	.enter = a64_enter,
	.leave = a64_leave,
	.leave_size = a64_leave_size,
	.short_leave = 4,
	.branch_size = a64_branch_size,
	.branch_longest = a64_branch_longest,
	.branch_put = a64_branch_put,
	.fixup = a64_fixup,
};
