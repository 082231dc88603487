/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "base/percpu.h"
#include "jit/x86_64/x86_64.h"

static const struct rule rules[OP_COUNT] = {
	[OP_ADD] = { x86_alu_reg, x86_alu_imm, .three = x86_add_three },
	[OP_SUB] = { x86_alu_reg, x86_alu_imm, .three = x86_sub_three },
	[OP_OR] = { x86_alu_reg, x86_alu_imm },
	[OP_AND] = { x86_alu_reg, x86_alu_imm, .three = x86_and_three },
	[OP_XOR] = { x86_alu_reg, x86_alu_imm },
	[OP_MUL] = { x86_mul_reg, x86_mul_imm, .three = x86_mul_three },
	[OP_DIV] = { x86_div_reg, x86_div_imm },
	[OP_SDIV] = { x86_div_reg, x86_div_imm },
	[OP_MOD] = { x86_div_reg, x86_div_imm },
	[OP_SMOD] = { x86_div_reg, x86_div_imm },
	[OP_LSH] = { x86_shift_reg, x86_shift_imm, .three = x86_shift_three },
	[OP_RSH] = { x86_shift_reg, x86_shift_imm, .three = x86_shift_three },
	[OP_ARSH] = { x86_shift_reg, x86_shift_imm, .three = x86_shift_three },
	[OP_UHMUL] = { x86_high_mul, NULL },
	[OP_SHMUL] = { x86_high_mul, NULL },
	[OP_NEG] = { x86_neg, NULL },
	[OP_MOV] = { x86_mov, NULL },
	[OP_TOLE] = { x86_to_le, NULL },
	[OP_TOBE] = { x86_swap, NULL },
	[OP_BSWAP] = { x86_swap, NULL },
	[OP_LD] = { x86_load, NULL },
	[OP_ST] = { x86_store_reg, x86_store_imm },
	[OP_LDACQ] = { x86_load, NULL },
	[OP_STREL] = { x86_store_reg, NULL },
	[OP_AADD] = { x86_atomic, NULL },
	[OP_AOR] = { x86_atomic_loop, NULL },
	[OP_AAND] = { x86_atomic_loop, NULL },
	[OP_AXOR] = { x86_atomic_loop, NULL },
	[OP_XCHG] = { x86_xchg, NULL },
	[OP_CMPXCHG] = { x86_cmpxchg, NULL },
	[OP_JEQ] = { x86_cond_reg, x86_cond_imm, .code = CC_E },
	[OP_JNE] = { x86_cond_reg, x86_cond_imm, .code = CC_NE },
	[OP_JGT] = { x86_cond_reg, x86_cond_imm, .code = CC_A },
	[OP_JGE] = { x86_cond_reg, x86_cond_imm, .code = CC_AE },
	[OP_JLT] = { x86_cond_reg, x86_cond_imm, .code = CC_B },
	[OP_JLE] = { x86_cond_reg, x86_cond_imm, .code = CC_BE },
	[OP_JSET] = { x86_cond_reg, x86_cond_imm, .code = CC_NE },
	[OP_JSGT] = { x86_cond_reg, x86_cond_imm, .code = CC_G },
	[OP_JSGE] = { x86_cond_reg, x86_cond_imm, .code = CC_GE },
	[OP_JSLT] = { x86_cond_reg, x86_cond_imm, .code = CC_L },
	[OP_JSLE] = { x86_cond_reg, x86_cond_imm, .code = CC_LE },
};

static bool off_fits(const struct builder *b, const struct args *a)
{
	return true;
}

static void add3(struct builder *b, uint8_t dst, uint8_t src, int64_t imm)
{
	x_lea(b, 1, dst, src, imm);
}

/* The running slot's base is a thread variable at a fixed distance from the thread pointer. */
static void percpu(struct builder *b, uint8_t dst, uint8_t src)
{
	x86_mov_reg(b, dst, src);
	x_add_load_fs(b, dst, b->percpu_tp);
}

/* The slot's number, which is what is loaded most, is a thread variable, too. */
static bool percpu_load(struct builder *b, const struct args *load)
{
	struct args a = *load;

	if (a.off == offsetof(struct percpu_head, cpu) && a.size_log == 2 &&
	    !(a.op->mode & OP_SX)) {
		x_mov_load32_fs(b, a.dst, b->cpu_tp);
		return true;
	}
	x_mov_load_fs(b, a.dst, b->percpu_tp);
	a.src = a.dst;
	x86_load(b, &a);
	return true;
}

static void nospec(struct builder *b)
{
	x_lfence(b);
}

static void landing_pad(struct builder *b)
{
	x_endbr64(b);
}

const struct target target_x86_64 = {
	.name = "x86_64",
	.traits = TRAIT_ZEXT32 | TRAIT_PERCPU | TRAIT_DIV0,
	.leaf_reg = { RBX, R13, R14, R15 },
	.reg = { RAX, RDI, RSI, RDX, RCX, R8, RBX, R13, R14, R15, RBP, R9, R12 },
	.tmp = TMP,
	.address_tmp = TMP2,
	.blind_tmp = TMP2,
	.trap = { 0xcc, 0xcc, 0xcc, 0xcc },
	.call_reach = INT32_MAX,
	.thread_vars = -16,
	.rules = rules,
	.cpu = x86_cpu,
	.cpus = " baseline x86-64-v2 x86-64-v3 x86-64-v4",
	.mov_imm = x86_mov_imm,
	.mov_address = x86_mov_address,
	.off_fits = off_fits,
	.add3 = add3,
	.load_swapped = x86_load_swapped,
	.bias = x86_bias,
	.jump = x86_jump,
	.call = x86_call,
	.call_table = x86_call_table,
	.call_label = x86_call_label,
	.label_address = x86_label_address,
	.tail_call = x86_tail_call,
	.tail_shared = x86_tail_shared,
	.may_goto = x86_may_goto,
	.percpu = percpu,
	.percpu_load = percpu_load,
	.arena = x86_arena,
	.probe_outside = x86_probe_outside,
	.nospec = nospec,
	.thunk = x86_thunk,
	.catch = x86_catch,
	.private_enter = x86_private_enter,
	.landing_pad = landing_pad,
	.enter = x86_enter,
	.leave = x86_leave,
	.leave_size = x86_leave_size,
	.short_leave = 3,
	.branch_size = x86_branch_size,
	.branch_longest = x86_branch_longest,
	.branch_put = x86_branch_put,
	.fixup = x86_fixup,
};
