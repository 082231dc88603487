/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the back end's files share.
 *
 * Register map: r0-r5 are x0-x5, so that neither the arguments nor the result of a call move: a
 * helper is a C function whose first parameter is not used (isa/abi.h). r6-r9 are x19-x22, or, in
 * a subprogram that calls nothing, x6-x8 and x14, which nobody saves. r10 is not kept: the stack
 * lies at the top of the frame, so a stack access is relative to sp. x9 and x13 are the rewrites'
 * scratch registers, x10-x12, x15 and x16 are free for sequences. The running slot's base, where it
 * is used more than once, is in x23, or x17 in a subprogram that calls nothing; likewise the
 * arena's in x24 or x17. Where the BPF stack is private, r10 is in x25.
 */
#ifndef SKEP_JIT_ARM64_ARM64_H
#define SKEP_JIT_ARM64_ARM64_H

#include "jit/arm64/insn.h"
#include "jit/target.h"

enum {
#define FEATURE(id, ...) FEAT_##id##_BIT,
#define CPU(...)
#include "jit/arm64/cpu.def"
};

enum {
#define FEATURE(id, ...) FEAT_##id = 1 << FEAT_##id##_BIT,
#define CPU(...)
#include "jit/arm64/cpu.def"
};

enum {
	TMP = 10,
	ADDRESS = 11,
	TMP2 = 12,
	BACK = 15,
	LEAF_KEPT = 17,
	KEPT = 23,
	ARENA = 24,
	PRIVATE = 25,
	LINK = 30,
	FP = A64_SP
};

enum branch_kind { BRANCH_B, BRANCH_COND, BRANCH_CBZ, BRANCH_TBZ, BRANCH_BL, BRANCH_ADR };

enum fixup_kind { FIXUP_CALL = 1, FIXUP_ADDRESS };

/* Emits one instruction; operands that do not fit are the builder's error. */
void a64_put(struct builder *b, enum a64_insn id, const int64_t *operand);
#define EMIT(b, id, ...) a64_put(b, A64_##id, (const int64_t[A64_OPERANDS]){ __VA_ARGS__ })

int a64_cpu(const char *name, uint64_t *features);
extern const char a64_cpus[];

/* imm.c: constants. */
void a64_mov_imm(struct builder *b, uint8_t dst, uint64_t imm);
unsigned a64_mov_imm_count(uint64_t imm); /* instructions that it takes */

/* alu.c */
void a64_mov_reg(struct builder *b, bool w32, unsigned dst, unsigned src);
/* The register itself, or TMP with the address that r10 stands for. */
unsigned a64_value(struct builder *b, unsigned reg);
void a64_mov(struct builder *b, const struct args *a);
void a64_alu_reg(struct builder *b, const struct args *a);
void a64_add_imm(struct builder *b, const struct args *a);
void a64_logic_imm(struct builder *b, const struct args *a);
void a64_shift_imm(struct builder *b, const struct args *a);
void a64_mul_imm(struct builder *b, const struct args *a);
void a64_mod_reg(struct builder *b, const struct args *a);
void a64_high_mul(struct builder *b, const struct args *a);
void a64_neg(struct builder *b, const struct args *a);
void a64_to_le(struct builder *b, const struct args *a);
void a64_swap(struct builder *b, const struct args *a);
bool a64_mul_fits(const struct args *a);
bool a64_logic_fits(const struct args *a);
bool a64_add_fits(const struct args *a);
bool a64_three(struct builder *b, const struct args *a);
void a64_add3(struct builder *b, uint8_t dst, uint8_t src, int64_t imm);

/* mem.c */
bool a64_off_fits(const struct builder *b, const struct args *a);
void a64_load(struct builder *b, const struct args *a);
void a64_store_reg(struct builder *b, const struct args *a);
void a64_store_imm(struct builder *b, const struct args *a);
bool a64_store_fits(const struct args *a);
void a64_load_acquire(struct builder *b, const struct args *a);
void a64_store_release(struct builder *b, const struct args *a);
void a64_atomic(struct builder *b, const struct args *a);
void a64_arena(struct builder *b, struct args *a, uint8_t *base);
void a64_probe_outside(struct builder *b, uint8_t base, uint32_t label);

/* jump.c */
void a64_jump(struct builder *b, uint32_t label);
void a64_cond(struct builder *b, enum a64_cond cond, uint32_t label);
void a64_cond_reg(struct builder *b, const struct args *a);
void a64_cond_imm(struct builder *b, const struct args *a);
void a64_may_goto(struct builder *b, const struct frame *f, uint32_t label);
unsigned a64_branch_size(const struct branch *br, int64_t dist, bool ahead);
unsigned a64_branch_longest(const struct branch *br);
int a64_branch_put(const struct branch *br, int64_t dist, uint8_t *out);
/* A branch on a register being zero (or not), or on one of its bits. */
void a64_branch_zero(struct builder *b, bool w32, unsigned reg, bool if_zero, uint32_t label);
void a64_branch_bit(struct builder *b, unsigned reg, unsigned bit, bool if_zero, uint32_t label);

/* Bases that a subprogram which uses them more than once keeps in a register: the arena's, and the
 * running slot's. One that calls nothing has one register for that, and the arena comes first. */
static inline bool a64_keeps_arena(const struct frame *f)
{
	return f->arenas > 1;
}
static inline uint8_t a64_arena_reg(const struct frame *f)
{
	return f->calls ? ARENA : LEAF_KEPT;
}
static inline bool a64_keeps_percpu(const struct frame *f)
{
	return f->percpus && (f->calls || !a64_keeps_arena(f));
}
static inline uint8_t a64_percpu_reg(const struct frame *f)
{
	return f->calls ? KEPT : LEAF_KEPT;
}
void a64_percpu_base(struct builder *b, uint8_t reg); /* target.c */

/* call.c */
void a64_mov_address(struct builder *b, uint8_t dst, uint64_t address);
void a64_call(struct builder *b, uint64_t address);
void a64_call_table(struct builder *b, uint8_t dst, const helper_fn *table, uint32_t n);
void a64_call_label(struct builder *b, uint32_t label);
void a64_label_address(struct builder *b, uint8_t dst, uint32_t label);
void a64_thunk(struct builder *b, uint32_t label);
void a64_enter(struct builder *b, const struct frame *f);
void a64_leave(struct builder *b, const struct frame *f);
unsigned a64_leave_size(const struct frame *f);
void a64_tail_call(struct builder *b, const struct frame *f);
void a64_tail_shared(struct builder *b, const struct frame *f);
/* TMP from or to the loop budget, below the BPF stack. */
void a64_budget(struct builder *b, const struct frame *f, bool store);
void a64_catch(struct builder *b, uint32_t label, uint64_t address);
void a64_private_enter(struct builder *b, uint32_t label);
/* The register that r10 is relative to, and how far below r10 that is. */
unsigned a64_frame_reg(const struct frame *f);
int32_t a64_frame_off(const struct frame *f);
int a64_fixup(uint8_t *p, uint8_t kind, uint64_t at, uint64_t address);

#endif
