/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames, calls and addresses. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "jit/arm64/arm64.h"
#include "jit/private.h"

enum {
	CALL_REACH = (128 << 20) - 4096,
	RET_BYTES = 4,
};
#define PAGE_REACH ((1ull << 32) - (1 << 20))

/* A page is one adrp away, anything else an add more. */
void a64_mov_address(struct builder *b, uint8_t dst, uint64_t address)
{
	if (a64_mov_imm_count(address) == 1 || !builder_near(b, address, PAGE_REACH)) {
		a64_mov_imm(b, dst, address);
		return;
	}
	builder_fixup(b, builder_here(b), FIXUP_ADDRESS, address);
	EMIT(b, ADRP, dst, 0);
	if (address & 0xfff)
		EMIT(b, ADDI, 1, dst, dst, address & 0xfff, 0);
}

void a64_call(struct builder *b, uint64_t address)
{
	if (builder_near(b, address, CALL_REACH)) {
		builder_fixup(b, builder_here(b), FIXUP_CALL, address);
		EMIT(b, BL, 0);
	} else {
		a64_mov_address(b, TMP, address);
		EMIT(b, BLR, TMP);
	}
}

int a64_fixup(uint8_t *p, uint8_t kind, uint64_t at, uint64_t address)
{
	uint32_t word;
	int bad;

	memcpy(&word, p, sizeof(word));
	if (kind == FIXUP_CALL)
		word = a64_encode(A64_BL, (const int64_t[A64_OPERANDS]){ (int64_t)(address - at) },
				  &bad);
	else
		word =
		    a64_encode(A64_ADRP,
			       (const int64_t[A64_OPERANDS]){
				   word & 31, (int64_t)((address & ~0xfffull) - (at & ~0xfffull)) },
			       &bad);
	memcpy(p, &word, sizeof(word));
	return bad < 0 ? 0 : -ERANGE;
}

void a64_call_table(struct builder *b, uint8_t dst, const helper_fn *table, uint32_t n)
{
	uint32_t none = builder_labels(b, 2), done = none + 1;

	a64_mov_imm(b, TMP, n);
	EMIT(b, SUBS, 1, A64_ZR, dst, TMP, A64_LSL, 0);
	a64_cond(b, A64_HS, none);
	a64_mov_imm(b, TMP, (uint64_t)(uintptr_t)table);
	EMIT(b, LDR_X_R, TMP, TMP, dst, A64_UXTX, 1);
	a64_branch_zero(b, false, TMP, true, none);
	EMIT(b, BLR, TMP);
	a64_jump(b, done);
	builder_bind(b, none);
	a64_mov_imm(b, 0, (uint64_t)-EOPNOTSUPP);
	builder_bind(b, done);
}

void a64_call_label(struct builder *b, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_BL });
}

void a64_label_address(struct builder *b, uint8_t dst, uint32_t label)
{
	builder_branch(b, (struct branch){ .label = label, .kind = BRANCH_ADR, .reg = dst });
}

/* Before the return address is saved, and when it is back and sp is as it was. */
static void sign(struct builder *b)
{
	if (b->sign)
		EMIT(b, PACIASP, 0);
}

static void authenticate(struct builder *b)
{
	if (b->sign)
		EMIT(b, AUTIASP, 0);
}

/* x23 is kept by everything that is called. */
void a64_thunk(struct builder *b, uint32_t label)
{
	sign(b);
	EMIT(b, STP_X_PRE, KEPT, LINK, A64_SP, -16);
	EMIT(b, MRS, TMP, A64_TPIDR_EL0);
	EMIT(b, LDR_X_U, KEPT, TMP, b->tail_tp);
	EMIT(b, STR_X_U, A64_ZR, TMP, b->tail_tp);
	a64_call_label(b, label);
	EMIT(b, MRS, TMP, A64_TPIDR_EL0);
	EMIT(b, STR_X_U, KEPT, TMP, b->tail_tp);
	EMIT(b, LDP_X_POST, KEPT, LINK, A64_SP, 16);
	authenticate(b);
	EMIT(b, RET, LINK);
}

/* The arguments stay; what to run is the C function's sixth. x16 is what a landing pad of C's lets
 * in from a br. */
void a64_catch(struct builder *b, uint32_t label, uint64_t address)
{
	enum { SIXTH = 6, SCRATCH = 16 };

	a64_label_address(b, SIXTH, label);
	a64_mov_address(b, SCRATCH, address);
	EMIT(b, BR, SCRATCH);
}

/* TMP = address of the offset of the area in use. */
static void private_head(struct builder *b)
{
	a64_percpu_base(b, TMP);
	a64_mov_imm(b, ADDRESS, b->private.off);
	EMIT(b, ADD, 1, TMP, TMP, ADDRESS, A64_LSL, 0);
}

void a64_private_enter(struct builder *b, uint32_t label)
{
	uint32_t none = builder_labels(b, 2), out = none + 1, stride = private_stride(b);

	sign(b);
	EMIT(b, STR_X_PRE, LINK, A64_SP, -16);
	private_head(b);
	EMIT(b, LDR_X_U, ADDRESS, TMP, 0);
	a64_mov_imm(b, TMP2, stride * (PRIVATE_AREAS - 1));
	EMIT(b, SUBS, 1, A64_ZR, ADDRESS, TMP2, A64_LSL, 0);
	a64_cond(b, A64_HS, none);
	a64_mov_imm(b, TMP2, stride);
	EMIT(b, ADD, 1, ADDRESS, ADDRESS, TMP2, A64_LSL, 0);
	EMIT(b, STR_X_U, ADDRESS, TMP, 0);
	a64_call_label(b, label);
	private_head(b);
	EMIT(b, LDR_X_U, ADDRESS, TMP, 0);
	a64_mov_imm(b, TMP2, stride);
	EMIT(b, SUB, 1, ADDRESS, ADDRESS, TMP2, A64_LSL, 0);
	EMIT(b, STR_X_U, ADDRESS, TMP, 0);
	a64_jump(b, out);
	builder_bind(b, none);
	a64_mov_imm(b, 0, 0);
	builder_bind(b, out);
	EMIT(b, LDR_X_POST, LINK, A64_SP, 16);
	authenticate(b);
	EMIT(b, RET, LINK);
}

/* r10 of a frame in the area in use. */
static void private_base(struct builder *b, const struct frame *f)
{
	private_head(b);
	EMIT(b, LDR_X_U, ADDRESS, TMP, 0);
	EMIT(b, ADD, 1, PRIVATE, TMP, ADDRESS, A64_LSL, 0);
	a64_mov_imm(b, TMP, f->private_off);
	EMIT(b, ADD, 1, PRIVATE, PRIVATE, TMP, A64_LSL, 0);
}

/* What a frame saves: the link register where it calls, and of r6-r9 those that it writes, unless
 * it calls nothing and has them in registers that nobody keeps. In pairs; an odd one is paired
 * with the zero register. */
struct saved {
	uint8_t reg[10];
	unsigned pairs;
};

static struct saved saved_of(const struct frame *f)
{
	struct saved s = { .pairs = 0 };
	unsigned n = 0;

	if (f->calls)
		s.reg[n++] = LINK;
	for (unsigned r = 6; r <= 9 && f->calls; r++) {
		if (f->writes >> r & 1)
			s.reg[n++] = (uint8_t)(19 + r - 6);
	}
	if (f->calls && a64_keeps_percpu(f))
		s.reg[n++] = KEPT;
	if (f->calls && a64_keeps_arena(f))
		s.reg[n++] = ARENA;
	if (f->is_private)
		s.reg[n++] = PRIVATE;
	s.reg[n] = A64_ZR;
	s.pairs = (n + 1) / 2;
	return s;
}

/* From sp up: the saved pairs, the loop budget, the BPF stack. sp stays a multiple of 16. */
static int32_t frame_size(const struct frame *f)
{
	uint32_t local = f->fp && !f->is_private ? f->stack + 8u * f->loops : 0;

	return (int32_t)(((local + 15) & ~15u) + 16 * saved_of(f).pairs);
}

unsigned a64_frame_reg(const struct frame *f)
{
	return f->is_private ? PRIVATE : A64_SP;
}

int32_t a64_frame_off(const struct frame *f)
{
	return f->is_private ? 0 : frame_size(f);
}

/* [base] or [base - n]: what lies below x25 takes the unscaled form or an address of its own. */
void a64_budget(struct builder *b, const struct frame *f, bool store)
{
	int64_t at = a64_frame_off(f) - (int32_t)f->stack - 8;
	unsigned base = a64_frame_reg(f);

	if (at < 0) {
		EMIT(b, SUBI, 1, ADDRESS, base, -at, 0);
		base = ADDRESS;
		at = 0;
	}
	if (store)
		EMIT(b, STR_X_U, TMP, base, at);
	else
		EMIT(b, LDR_X_U, TMP, base, at);
}

/* Whether one stp or ldp with write-back moves sp by the whole frame. */
static bool one_step(int32_t top)
{
	return top <= 504;
}

void a64_enter(struct builder *b, const struct frame *f)
{
	struct saved s = saved_of(f);
	int32_t top = frame_size(f);

	if (f->calls)
		sign(b);
	if (top && !(s.pairs && one_step(top)))
		EMIT(b, SUBI, 1, A64_SP, A64_SP, top, 0);
	for (unsigned i = 0; i < s.pairs; i++) {
		if (i == 0 && one_step(top))
			EMIT(b, STP_X_PRE, s.reg[0], s.reg[1], A64_SP, -top);
		else
			EMIT(b, STP_X_O, s.reg[2 * i], s.reg[2 * i + 1], A64_SP, 16 * i);
	}
	if (a64_keeps_percpu(f))
		a64_percpu_base(b, a64_percpu_reg(f));
	if (a64_keeps_arena(f))
		a64_mov_imm(b, a64_arena_reg(f), b->arena);
	if (f->is_private)
		private_base(b, f);
	if (f->loops) {
		a64_mov_imm(b, TMP, 8 << 20);
		a64_budget(b, f, true);
	}
}

/* An odd register is loaded alone: ldp may not load into the zero register's partner twice, and
 * loading one register needs no second. */
static void restore(struct builder *b, const struct saved *s, unsigned i, int32_t post)
{
	bool odd = s->reg[2 * i + 1] == A64_ZR;

	if (odd && post && post <= 255)
		EMIT(b, LDR_X_POST, s->reg[2 * i], A64_SP, post);
	else if (odd && !post)
		EMIT(b, LDR_X_U, s->reg[2 * i], A64_SP, 16 * i);
	else if (post)
		EMIT(b, LDP_X_POST, s->reg[2 * i], s->reg[2 * i + 1], A64_SP, post);
	else
		EMIT(b, LDP_X_O, s->reg[2 * i], s->reg[2 * i + 1], A64_SP, 16 * i);
}

/* Pops the frame: sp and the link register are as they were at entry. */
static void frame_pop(struct builder *b, const struct frame *f)
{
	struct saved s = saved_of(f);
	int32_t top = frame_size(f);

	for (unsigned i = s.pairs; i-- > 0;)
		restore(b, &s, i, i == 0 && one_step(top) ? top : 0);
	if (top && !(s.pairs && one_step(top)))
		EMIT(b, ADDI, 1, A64_SP, A64_SP, top, 0);
	if (f->calls)
		authenticate(b);
}

void a64_leave(struct builder *b, const struct frame *f)
{
	frame_pop(b, f);
	EMIT(b, RET, LINK);
}

unsigned a64_leave_size(const struct frame *f)
{
	struct saved s = saved_of(f);
	int32_t top = frame_size(f);

	return RET_BYTES + 4 * s.pairs + 4 * (top && !(s.pairs && one_step(top))) + 4 * f->calls;
}

/* r1: context, r2: map, r3: index, a 32-bit value. The callee is entered as if it had been called
 * in place of the running subprogram; the count of tail calls is thread memory. Else: `out`. */
static void tail_enter(struct builder *b, const struct frame *f, uint32_t out)
{
	enum { TAIL = TAIL_ARRAY_OFFSET, R2 = 2, R3 = 3 };

	EMIT(b, LDR_W_U, TMP, R2, TAIL + offsetof(struct tail_array, n));
	EMIT(b, SUBS, 0, A64_ZR, R3, TMP, A64_LSL, 0);
	a64_cond(b, A64_HS, out);
	EMIT(b, MRS, ADDRESS, A64_TPIDR_EL0);
	EMIT(b, LDR_X_U, TMP2, ADDRESS, b->tail_tp);
	EMIT(b, SUBSI, 0, A64_ZR, TMP2, TAIL_CALL_LIMIT, 0);
	a64_cond(b, A64_HS, out);
	EMIT(b, ADDI, 1, TMP, R2, TAIL_SLOTS_OFFSET, 0);
	EMIT(b, LDR_X_R, TMP, TMP, R3, A64_UXTW, 1);
	a64_branch_zero(b, false, TMP, true, out);
	EMIT(b, LDR_X_U, TMP, TMP, offsetof(struct callee, native));
	a64_branch_zero(b, false, TMP, true, out);
	EMIT(b, ADDI, 0, TMP2, TMP2, 1, 0);
	EMIT(b, STR_X_U, TMP2, ADDRESS, b->tail_tp);
	frame_pop(b, f);
	EMIT(b, BR, TMP);
}

/* Where several tail calls share the sequence, each says in BACK where it goes on. */
void a64_tail_call(struct builder *b, const struct frame *f)
{
	uint32_t out = builder_labels(b, 1);

	if (f->tail_calls > 1) {
		a64_label_address(b, BACK, out);
		a64_jump(b, f->tail);
	} else {
		tail_enter(b, f, out);
	}
	builder_bind(b, out);
	if (f->tail_calls > 1 && b->opts->landing_pads)
		EMIT(b, BTI, A64_BTI_J);
}

void a64_tail_shared(struct builder *b, const struct frame *f)
{
	uint32_t out = builder_labels(b, 1);

	tail_enter(b, f, out);
	builder_bind(b, out);
	EMIT(b, BR, BACK);
}
