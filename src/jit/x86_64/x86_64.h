/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the back end's files share.
 *
 * Register map: r0 is C's result, r1-r5 are C's first five arguments, r6-r9 are kept by calls and
 * r10 is rbp, so that a call moves nothing. The rewrites' scratch registers are r9 and r12; r10 and
 * r11 are free for sequences, of which r10 is the walker's. The count of tail calls is a thread
 * variable: it is shared by all that runs below one entry from C, callbacks of helpers included.
 */
#ifndef SKEP_JIT_X86_64_X86_64_H
#define SKEP_JIT_X86_64_X86_64_H

#include "jit/x86_64/insn.h"

enum {
#define FEATURE(id, ...) FEAT_##id##_BIT,
#include "jit/x86_64/cpu.def"
};

enum {
#define FEATURE(id, ...) FEAT_##id = 1 << FEAT_##id##_BIT,
#include "jit/x86_64/cpu.def"
};

enum { TMP = R10, TMP2 = R11 };

/* Conditions as jcc encodes them; the lowest bit inverts. */
enum { CC_B = 2, CC_AE, CC_E, CC_NE, CC_BE, CC_A, CC_S, CC_NS, CC_L = 12, CC_GE, CC_LE, CC_G };

enum branch_kind { BRANCH_JMP, BRANCH_JCC, BRANCH_CALL, BRANCH_LEA };

enum fixup_kind { FIXUP_CALL = 1, FIXUP_LEA };

static inline bool fits_s8(int64_t v)
{
	return v == (int8_t)v;
}

static inline bool fits_s32(int64_t v)
{
	return v == (int32_t)v;
}

int x86_cpu(const char *name, uint64_t *features);

/* alu.c */
void x86_mov_imm(struct builder *b, uint8_t dst, uint64_t imm);
void x86_mov_reg(struct builder *b, unsigned dst, unsigned src); /* 64 bits; nothing if equal */
void x86_mov(struct builder *b, const struct args *a);
void x86_alu_reg(struct builder *b, const struct args *a);
void x86_alu_imm(struct builder *b, const struct args *a);
void x86_mul_reg(struct builder *b, const struct args *a);
void x86_mul_imm(struct builder *b, const struct args *a);
void x86_shift_reg(struct builder *b, const struct args *a);
void x86_shift_imm(struct builder *b, const struct args *a);
void x86_neg(struct builder *b, const struct args *a);
void x86_to_le(struct builder *b, const struct args *a);
void x86_swap(struct builder *b, const struct args *a);
/* cmp/test by immediate in the shortest form. */
void x86_cmp_imm(struct builder *b, unsigned w, unsigned reg, int64_t imm);
void x86_test_imm(struct builder *b, unsigned w, unsigned reg, int64_t imm);

/* Three operands. */
bool x86_add_three(struct builder *b, const struct args *a);
bool x86_sub_three(struct builder *b, const struct args *a);
bool x86_and_three(struct builder *b, const struct args *a);
bool x86_mul_three(struct builder *b, const struct args *a);
bool x86_shift_three(struct builder *b, const struct args *a);

/* div.c */
void x86_div_reg(struct builder *b, const struct args *a);
void x86_div_imm(struct builder *b, const struct args *a);
void x86_high_mul(struct builder *b, const struct args *a);

/* mem.c */
void x86_load(struct builder *b, const struct args *a);
bool x86_load_swapped(struct builder *b, const struct args *a);
void x86_store_reg(struct builder *b, const struct args *a);
void x86_store_imm(struct builder *b, const struct args *a);
void x86_atomic(struct builder *b, const struct args *a);
void x86_atomic_loop(struct builder *b, const struct args *a);
void x86_xchg(struct builder *b, const struct args *a);
void x86_cmpxchg(struct builder *b, const struct args *a);
void x86_arena(struct builder *b, struct args *a, uint8_t *base);
void x86_probe_outside(struct builder *b, uint8_t base, uint32_t label);

/* jump.c */
void x86_jump(struct builder *b, uint32_t label);
void x86_jcc(struct builder *b, unsigned cc, uint32_t label);
void x86_cond_reg(struct builder *b, const struct args *a);
void x86_cond_imm(struct builder *b, const struct args *a);
void x86_may_goto(struct builder *b, const struct frame *f, uint32_t label);
unsigned x86_branch_size(const struct branch *br, int64_t dist, bool ahead);
unsigned x86_branch_longest(const struct branch *br);
int x86_branch_put(const struct branch *br, int64_t dist, uint8_t *out);

/* call.c */
void x86_mov_address(struct builder *b, uint8_t dst, uint64_t address);
void x86_call(struct builder *b, uint64_t address);
void x86_call_table(struct builder *b, uint8_t dst, const helper_fn *table, uint32_t n);
void x86_call_label(struct builder *b, uint32_t label);
void x86_label_address(struct builder *b, uint8_t dst, uint32_t label);
void x86_tail_call(struct builder *b, const struct frame *f);
void x86_tail_shared(struct builder *b, const struct frame *f);
void x86_thunk(struct builder *b, uint32_t label);
void x86_catch(struct builder *b, uint32_t label, uint64_t address);
void x86_private_enter(struct builder *b, uint32_t label);
int32_t x86_bias(const struct frame *f, const uint32_t *depth, uint32_t moves);
void x86_enter(struct builder *b, const struct frame *f);
void x86_leave(struct builder *b, const struct frame *f);
unsigned x86_leave_size(const struct frame *f);
int x86_fixup(uint8_t *p, uint8_t kind, uint64_t at, uint64_t address);

#endif
