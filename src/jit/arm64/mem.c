/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores and atomics. One function chooses the addressing form (system.md J12, J13). */
#include "jit/arm64/arm64.h"

/* The forms of one access. */
struct access {
	enum a64_insn scaled, unscaled, index;
};

#define ACCESS(id) { A64_##id##_U, A64_##id##_N, A64_##id##_R }

static const struct access loads[2][4] = {
	{ ACCESS(LDRB), ACCESS(LDRH), ACCESS(LDR_W), ACCESS(LDR_X) },
	{ ACCESS(LDRSB_X), ACCESS(LDRSH_X), ACCESS(LDRSW), ACCESS(LDR_X) },
};
static const struct access stores[4] = { ACCESS(STRB), ACCESS(STRH), ACCESS(STR_W), ACCESS(STR_X) };

/* What is relative to r10 is relative to another register in the end. */
static int64_t native_off(const struct builder *b, unsigned base, int32_t off)
{
	return base == FP ? (int64_t)a64_frame_off(b->frame) + off : off;
}

static unsigned native_base(const struct builder *b, unsigned base)
{
	return base == FP ? a64_frame_reg(b->frame) : base;
}

static bool off_is_scaled(unsigned size_log, int64_t off)
{
	return off >= 0 && off >> size_log <= 4095 && !(off & ((1 << size_log) - 1));
}

static bool off_is_unscaled(int64_t off)
{
	return off >= -256 && off <= 255;
}

static unsigned base_of(const struct args *a)
{
	return a->op->code == OP_LD || a->op->code == OP_LDACQ ? a->src : a->dst;
}

/* Acquire, release and atomics take a bare register. */
static bool takes_offset(const struct args *a)
{
	return a->op->code == OP_LD || a->op->code == OP_ST;
}

bool a64_off_fits(const struct builder *b, const struct args *a)
{
	int64_t off = native_off(b, base_of(a), a->off);

	if (!takes_offset(a))
		return off == 0 || a64_fits(F_IMM12, off < 0 ? -off : off, true);
	return off_is_scaled(a->size_log, off) || off_is_unscaled(off);
}

/* reg <-> [base + off] or [base + index]. */
static void access_put(struct builder *b, const struct access *k, unsigned reg, unsigned base,
		       const struct args *a)
{
	int64_t off = native_off(b, base, a->off);

	if (a->index != INDEX_NONE && base == FP) {
		base = TMP2;
		a64_mov_reg(b, false, base, FP);
	}
	if (a->index != INDEX_NONE)
		a64_put(b, k->index,
			(const int64_t[A64_OPERANDS]){ reg, base, a->index,
						       a->index32 ? A64_UXTW : A64_UXTX, 0 });
	else
		a64_put(b, off_is_scaled(a->size_log, off) ? k->scaled : k->unscaled,
			(const int64_t[A64_OPERANDS]){ reg, native_base(b, base), off });
}

void a64_load(struct builder *b, const struct args *a)
{
	bool sx = a->op->mode & OP_SX;

	access_put(b, &loads[sx][a->size_log], a->dst, a->src, a);
}

void a64_store_reg(struct builder *b, const struct args *a)
{
	access_put(b, &stores[a->size_log], a64_value(b, a->src), a->dst, a);
}

/* Zero comes from the zero register (J14); other values are the walker's to materialise. */
bool a64_store_fits(const struct args *a)
{
	return a->imm == 0;
}

void a64_store_imm(struct builder *b, const struct args *a)
{
	access_put(b, &stores[a->size_log], A64_ZR, a->dst, a);
}

/* A register that holds base + off. */
static unsigned address_of(struct builder *b, unsigned base, int32_t off)
{
	int64_t n = native_off(b, base, off);

	base = native_base(b, base);
	if (!n && base != A64_SP)
		return base;
	if (n < 0)
		EMIT(b, SUBI, 1, ADDRESS, base, -n, 0);
	else
		EMIT(b, ADDI, 1, ADDRESS, base, n, 0);
	return ADDRESS;
}

/*
 * System.md J15: [base, offset, uxtw]. An offset of the instruction comes on top of the 32-bit one,
 * so that it may lead out of the arena's 4 GiB, where nothing is: the sum is made in 64 bits.
 */
void a64_arena(struct builder *b, struct args *a, uint8_t *base)
{
	unsigned arena = a64_keeps_arena(b->frame) ? a64_arena_reg(b->frame) : TMP2;
	unsigned offset = a64_value(b, *base);

	if (arena == TMP2)
		a64_mov_imm(b, TMP2, b->arena);
	if (!a->off && takes_offset(a)) {
		a->index = (uint8_t)offset;
		a->index32 = true;
		*base = (uint8_t)arena;
		return;
	}
	EMIT(b, ADDX, 1, ADDRESS, arena, offset, A64_UXTW, 0);
	*base = ADDRESS;
	if (!a64_off_fits(b, a)) {
		a64_mov_imm(b, TMP2, (uint64_t)(int64_t)a->off);
		EMIT(b, ADD, 1, ADDRESS, ADDRESS, TMP2, A64_LSL, 0);
		a->off = 0;
	}
}

void a64_probe_outside(struct builder *b, uint8_t base, uint32_t label)
{
	enum { BITS = 48 };

	EMIT(b, SUBI, 1, ADDRESS, base, PROBE_LOW >> 12, 1);
	EMIT(b, UBFM, 1, ADDRESS, ADDRESS, BITS, 63);
	a64_branch_zero(b, false, ADDRESS, false, label);
}

void a64_load_acquire(struct builder *b, const struct args *a)
{
	static const enum a64_insn acquires[4] = { A64_LDAR_B, A64_LDAR_H, A64_LDAR_W, A64_LDAR_X };
	unsigned base = address_of(b, a->src, a->off);

	a64_put(b, acquires[a->size_log], (const int64_t[A64_OPERANDS]){ a->dst, base });
}

void a64_store_release(struct builder *b, const struct args *a)
{
	static const enum a64_insn releases[4] = { A64_STLR_B, A64_STLR_H, A64_STLR_W, A64_STLR_X };
	unsigned base = address_of(b, a->dst, a->off), value = a64_value(b, a->src);

	a64_put(b, releases[a->size_log], (const int64_t[A64_OPERANDS]){ value, base });
}

/* One atomic in its forms: LSE with and without an order, and the ALU op of the loop. */
struct atomic {
	enum a64_insn plain[2], ordered[2]; /* 32, 64 bits */
	enum a64_insn alu;
};

static const struct atomic atomics[OP_COUNT] = {
	[OP_AADD] = { { A64_LDADD_W, A64_LDADD_X }, { A64_LDADDAL_W, A64_LDADDAL_X }, A64_ADD },
	[OP_AOR] = { { A64_LDSET_W, A64_LDSET_X }, { A64_LDSETAL_W, A64_LDSETAL_X }, A64_ORR },
	[OP_AAND] = { { A64_LDCLR_W, A64_LDCLR_X }, { A64_LDCLRAL_W, A64_LDCLRAL_X }, A64_AND },
	[OP_AXOR] = { { A64_LDEOR_W, A64_LDEOR_X }, { A64_LDEORAL_W, A64_LDEORAL_X }, A64_EOR },
	[OP_XCHG] = { { A64_SWPAL_W, A64_SWPAL_X }, { A64_SWPAL_W, A64_SWPAL_X }, A64_ORR },
	[OP_CMPXCHG] = { { A64_CASAL_W, A64_CASAL_X }, { A64_CASAL_W, A64_CASAL_X }, A64_ORR },
};

/* Without FETCH the old value goes to the zero register and no order is due. ldclr clears what its
 * operand has set, so an AND takes the complement. cas has r0 where others have the operand. */
static void atomic_lse(struct builder *b, const struct args *a, unsigned base, unsigned value)
{
	const struct atomic *k = &atomics[a->op->code];
	bool is64 = a->size_log == 3, fetch = a->op->mode & OP_FETCH;

	if (a->op->code == OP_AAND) {
		EMIT(b, ORN, is64, TMP2, A64_ZR, value, A64_LSL, 0);
		value = TMP2;
	}
	if (a->op->code == OP_CMPXCHG)
		a64_put(b, k->ordered[is64], (const int64_t[A64_OPERANDS]){ 0, value, base });
	else
		a64_put(b, fetch ? k->ordered[is64] : k->plain[is64],
			(const int64_t[A64_OPERANDS]){ value, fetch ? a->src : A64_ZR, base });
}

static void exclusive_load(struct builder *b, bool is64, unsigned reg, unsigned base)
{
	if (is64)
		EMIT(b, LDXR_X, reg, base);
	else
		EMIT(b, LDXR_W, reg, base);
}

/* TMP2 is the status: neither the data nor the base (system.md J6, J8). */
static void exclusive_store(struct builder *b, bool is64, bool release, unsigned reg, unsigned base)
{
	static const enum a64_insn store[2][2] = { { A64_STXR_W, A64_STXR_X },
						   { A64_STLXR_W, A64_STLXR_X } };

	a64_put(b, store[release][is64], (const int64_t[A64_OPERANDS]){ TMP2, reg, base });
}

/*
 * The loop: old and new value have registers of their own, apart from base and operand (system.md
 * J6). With FETCH the store releases and a barrier follows, which together order the access fully.
 */
enum { NEW = 15, OLD = 16 };

static void loop_new_value(struct builder *b, const struct args *a, bool is64, unsigned value)
{
	if (a->op->code == OP_XCHG)
		EMIT(b, ORR, is64, NEW, A64_ZR, value, A64_LSL, 0);
	else
		a64_put(b, atomics[a->op->code].alu,
			(const int64_t[A64_OPERANDS]){ is64, NEW, OLD, value, A64_LSL, 0 });
}

/* The last instruction may fault; then the rest up to `resume` is left out. */
static void access_faults(struct builder *b, const struct args *a, struct place at,
			  struct place resume)
{
	at.raw -= sizeof(uint32_t);
	if (a->op->mode & (OP_PROBE | OP_ARENA))
		builder_fault(b, at, resume, 0xff);
}

static void atomic_loop(struct builder *b, const struct args *a, unsigned base, unsigned value)
{
	bool is64 = a->size_log == 3, fetch = a->op->mode & OP_FETCH;
	bool cas = a->op->code == OP_CMPXCHG;
	uint32_t again = builder_labels(b, 2), differs = again + 1;
	struct place loaded, stored;

	builder_bind(b, again);
	exclusive_load(b, is64, OLD, base);
	loaded = builder_here(b);
	if (cas) {
		EMIT(b, SUBS, is64, A64_ZR, OLD, 0, A64_LSL, 0);
		a64_cond(b, A64_NE, differs);
		exclusive_store(b, is64, true, value, base);
	} else {
		loop_new_value(b, a, is64, value);
		exclusive_store(b, is64, fetch, NEW, base);
	}
	stored = builder_here(b);
	a64_branch_zero(b, true, TMP2, false, again);
	builder_bind(b, differs);
	if (fetch) {
		EMIT(b, DMB, A64_ISH);
		EMIT(b, ORR, is64, cas ? 0u : a->src, A64_ZR, OLD, A64_LSL, 0);
	}
	access_faults(b, a, loaded, builder_here(b));
	access_faults(b, a, stored, builder_here(b));
}

void a64_atomic(struct builder *b, const struct args *a)
{
	unsigned base = address_of(b, a->dst, a->off), value = a64_value(b, a->src);

	if (!(b->features & FEAT_LSE)) {
		atomic_loop(b, a, base, value);
		return;
	}
	atomic_lse(b, a, base, value);
	access_faults(b, a, builder_here(b), builder_here(b));
}
