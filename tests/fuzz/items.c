/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items without control flow: arithmetic, memory, atomics.
 */
#include <stddef.h>

#include "emit.h"
#include "world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static uint8_t pick_of(struct gen *g, const uint8_t *codes, size_t n)
{
	return codes[rng_below(&g->rng, (uint32_t)n)];
}

static uint8_t pick_w32(struct gen *g)
{
	return rng_below(&g->rng, 2) ? OP_W32 : 0;
}

static void item_alu(struct gen *g)
{
	static const uint8_t codes[] = { OP_ADD, OP_SUB,  OP_MUL,  OP_DIV,   OP_SDIV,
					 OP_MOD, OP_SMOD, OP_OR,   OP_AND,   OP_XOR,
					 OP_LSH, OP_RSH,  OP_ARSH, OP_UHMUL, OP_SHMUL };
	const uint8_t code = pick_of(g, codes, COUNT(codes));

	if (rng_below(&g->rng, 2))
		emit(g, op_imm(code, pick_w32(g), pick_dst(g), value_32(&g->rng)));
	else
		emit(g, op_reg(code, pick_w32(g), pick_dst(g), pick_src(g)));
}

/* A register operand that is at an edge of the operation, which random values seldom are. */
static void item_alu_edge(struct gen *g)
{
	static const uint8_t codes[] = {
		OP_DIV, OP_SDIV, OP_MOD, OP_SMOD, OP_LSH, OP_RSH, OP_ARSH
	};
	static const uint64_t left[] = { INT64_MIN, INT32_MIN, 0x80000000, UINT64_MAX, 1, 0 };
	static const uint64_t right[] = { 0,  UINT64_MAX, UINT32_MAX, 1ull << 32, 1,
					  31, 32,	  63,	      64,	  65 };
	const uint8_t dst = pick_dst(g), src = pick_dst(g);

	emit_const(g, dst, left[rng_below(&g->rng, COUNT(left))]);
	emit_const(g, src, right[rng_below(&g->rng, COUNT(right))]);
	emit(g, op_reg(pick_of(g, codes, COUNT(codes)), pick_w32(g), dst, src));
}

static void item_unary(struct gen *g)
{
	static const uint8_t swaps[] = { OP_TOLE, OP_TOBE, OP_BSWAP };

	if (rng_once_in(&g->rng, 3))
		emit(g, op_imm(OP_NEG, pick_w32(g), pick_dst(g), 0));
	else
		emit(g, op_imm(pick_of(g, swaps, COUNT(swaps)), 0, pick_dst(g),
			       16 << rng_below(&g->rng, 3)));
}

static void item_mov(struct gen *g)
{
	const uint8_t w32 = pick_w32(g);
	const unsigned bytes = 1u << rng_below(&g->rng, w32 ? 2 : 3);

	if (rng_below(&g->rng, 2))
		emit(g,
		     op_reg(OP_MOV, w32 | OP_SX | op_mode_size(bytes), pick_dst(g), pick_src(g)));
	else
		emit(g, op_reg(OP_MOV, w32, pick_dst(g), pick_src(g)));
}

static void item_const(struct gen *g)
{
	emit_const(g, pick_dst(g), value_64(&g->rng));
}

/* Addresses that are the same for every engine, as numbers. */
static void item_address(struct gen *g)
{
	struct op op = op_imm(OP_LDVALUE, 0, pick_dst(g), 1);

	if (rng_below(&g->rng, 2))
		op.off = value_32(&g->rng);
	else
		op = op_imm(OP_LDBTF, 0, op.dst, 2);
	emit(g, op);
}

static void item_engine(struct gen *g)
{
	struct op op = op_imm(OP_CAST, 0, pick_dst(g), rng_below(&g->rng, 2) ? 1 : 1 << 16);

	op.src = pick_src(g);
	emit(g, rng_once_in(&g->rng, 4) ? op_imm(OP_NOSPEC, 0, 0, 0) : op);
}

/* [reg + off]: `size` bytes that the program owns. */
struct place {
	uint8_t reg;
	int32_t off;
	bool temporary; /* reg was made for it */
	bool stack;
};

/* An address in `reg` plus a constant k, in one of the ways. */
static void emit_shift(struct gen *g, uint8_t reg, int32_t k)
{
	if (rng_below(&g->rng, 2))
		emit_pinned(g, op_imm(OP_ADD, 0, reg, k));
	else
		emit_pinned(g, op_imm(OP_SUB, 0, reg, -(int64_t)k));
}

/* On the stack, through r10 or a copy of it that is moved by k. */
static struct place place_stack(struct gen *g, int32_t size, int32_t align)
{
	struct place p = { .reg = BPF_FP, .stack = true };
	int32_t k;

	p.off = value_offset(&g->rng, -g->stack, -size, align);
	if (rng_below(&g->rng, 2))
		return p;
	k = value_offset(&g->rng, -20000, 20000, 8);
	p.temporary = true;
	p.reg = pick_dst(g);
	p.off -= k;
	emit_pinned(g, op_reg(OP_MOV, 0, p.reg, BPF_FP));
	emit_shift(g, p.reg, k);
	return p;
}

static struct place place_memory(struct gen *g, int32_t size, int32_t align)
{
	struct place p = { .reg = g->base };

	p.off = value_offset(&g->rng, -32768, 32767, align);
	if (rng_below(&g->rng, 2))
		return p;
	p.temporary = true;
	p.reg = pick_dst(g);
	emit_pinned(g, op_reg(OP_MOV, 0, p.reg, g->base));
	emit_shift(g, p.reg, value_offset(&g->rng, -8000, 8000, 8));
	return p;
}

static struct place place_any(struct gen *g, int32_t size, int32_t align)
{
	if (g->stack >= 8 && rng_once_in(&g->rng, 3))
		return place_stack(g, size, align);
	return place_memory(g, size, align);
}

/* A stack address must not stay in a register. */
static void place_done(struct gen *g, const struct place *p)
{
	if (p->temporary && p->stack)
		emit_define(g, (uint16_t)(1u << p->reg));
}

/* A register whose value may be written to p. */
static uint8_t pick_stored(struct gen *g, const struct place *p)
{
	uint8_t r = pick_src(g);

	while (p->stack && p->temporary && r == p->reg)
		r = pick_src(g);
	return r;
}

static void item_load(struct gen *g)
{
	const unsigned size = 1u << rng_below(&g->rng, 4);
	const struct place p = place_any(g, (int32_t)size, 1);
	const bool sx = size < 8 && rng_once_in(&g->rng, 3);
	const bool same = p.temporary && rng_once_in(&g->rng, 3);

	emit(g, op_load(same ? p.reg : pick_dst(g), p.reg, p.off,
			op_mode_size(size) | (sx ? OP_SX : 0)));
	place_done(g, &p);
}

static void item_store(struct gen *g)
{
	const unsigned size = 1u << rng_below(&g->rng, 4);
	const struct place p = place_any(g, (int32_t)size, 1);
	struct op op = op_store(p.reg, p.off, 0, size);

	if (rng_below(&g->rng, 2)) {
		op.src = pick_stored(g, &p);
	} else {
		op.mode &= (uint8_t)~OP_REG;
		op.imm = value_32(&g->rng);
	}
	emit(g, op);
	place_done(g, &p);
}

static void item_atomic(struct gen *g)
{
	static const uint8_t codes[] = { OP_AADD, OP_AOR, OP_AAND, OP_AXOR, OP_XCHG, OP_CMPXCHG };
	const unsigned size = rng_below(&g->rng, 2) ? 8 : 4;
	const struct place p = place_any(g, (int32_t)size, (int32_t)size);
	struct op op = { .code = pick_of(g, codes, COUNT(codes)),
			 .mode = op_mode_size(size),
			 .dst = p.reg,
			 .off = p.off,
			 .src = pick_stored(g, &p) };

	if (op.code == OP_XCHG || op.code == OP_CMPXCHG || rng_below(&g->rng, 2))
		op.mode |= OP_FETCH;
	if ((op.mode & OP_FETCH) && op.code != OP_CMPXCHG && (g->reserved >> op.src & 1))
		op.mode &= (uint8_t)~OP_FETCH, op.code = OP_AADD;
	emit(g, op);
	place_done(g, &p);
}

/* A compare-and-exchange that finds what it expects. */
static void item_cmpxchg_hit(struct gen *g)
{
	const unsigned size = rng_below(&g->rng, 2) ? 8 : 4;
	const int32_t off = value_offset(&g->rng, -32768, 32767, (int32_t)size);
	struct op op = { .code = OP_CMPXCHG,
			 .mode = op_mode_size(size) | OP_FETCH,
			 .dst = g->base,
			 .off = off,
			 .src = pick_src(g) };

	emit(g, op_load(0, g->base, off, op_mode_size(size)));
	emit(g, op);
}

static void item_ordered(struct gen *g)
{
	const unsigned size = 1u << rng_below(&g->rng, 4);
	const struct place p = place_any(g, (int32_t)size, (int32_t)size);
	struct op op = { .mode = op_mode_size(size), .off = p.off };

	if (rng_below(&g->rng, 2)) {
		op.code = OP_LDACQ;
		op.dst = pick_dst(g);
		op.src = p.reg;
	} else {
		op.code = OP_STREL;
		op.dst = p.reg;
		op.src = pick_stored(g, &p);
	}
	emit(g, op);
	place_done(g, &p);
}

/* A load that may fault and, half the time, does. */
static void item_probe(struct gen *g)
{
	static const uint64_t nowhere[] = { 0, 8, 0x900000000000, 0xffff888000000000, 1ull << 63 };
	const unsigned size = 1u << rng_below(&g->rng, 4);
	const uint8_t mode =
	    op_mode_size(size) | OP_PROBE | (size < 8 && rng_below(&g->rng, 2) ? OP_SX : 0);
	const bool good = rng_below(&g->rng, 2), same = rng_below(&g->rng, 2);
	struct place p = { .temporary = true };

	if (good) {
		p = place_any(g, (int32_t)size, 1);
	} else {
		p.reg = pick_dst(g);
		p.off = value_offset(&g->rng, 0, 32767, 1);
		emit_const(g, p.reg, nowhere[rng_below(&g->rng, COUNT(nowhere))]);
	}
	emit(g, op_load(p.temporary && same ? p.reg : pick_dst(g), p.reg, p.off, mode));
	place_done(g, &p);
}

/* The running slot's memory lies elsewhere in each process, so its address does not stay. */
static void item_percpu(struct gen *g)
{
	const uint8_t src = pick_dst(g), dst = pick_dst(g), to = pick_dst(g);
	const int32_t off = value_offset(&g->rng, -32768, 32767, 1);
	struct op op = { .code = OP_PERCPU, .dst = dst, .src = src };

	emit_const(g, src,
		   (uint64_t)((int64_t)world_percpu() + rng_between(&g->rng, 0, 511) * 8 - off));
	emit_pinned(g, op);
	emit(g, op_load(to, dst, off, op_mode_size(8)));
	emit_define(g, (uint16_t)(1u << dst));
}

/* An offset, and whether there is memory at it. Aligned, so that no access is half outside. */
static int64_t arena_offset(struct gen *g, unsigned size)
{
	static const int64_t nowhere[] = { 0, -8, WORLD_HALF - 8, WORLD_HALF + WORLD_ARENA,
					   0x7ffffff8 };
	const int64_t in = WORLD_HALF + rng_between(&g->rng, 0, WORLD_ARENA / 8 - 1) * 8;
	const int64_t bad = nowhere[rng_below(&g->rng, COUNT(nowhere))];

	return (rng_once_in(&g->rng, 4) ? bad : in) + rng_between(&g->rng, 0, 7) / size * size;
}

/* What an arena access does, but for its address. */
static struct op arena_op(struct gen *g, unsigned log)
{
	static const uint8_t codes[] = { OP_LD,	  OP_LD,  OP_ST,   OP_ST,   OP_LDACQ, OP_STREL,
					 OP_AADD, OP_AOR, OP_AAND, OP_AXOR, OP_XCHG,  OP_CMPXCHG };
	struct op op = { .code = pick_of(g, codes, log < 2 ? 6 : COUNT(codes)) };

	op.mode = (uint8_t)(op_mode_size(1u << log) | OP_ARENA | OP_PROBE);
	if (op.code == OP_LD && log < 3 && rng_below(&g->rng, 2))
		op.mode |= OP_SX;
	if (op.code == OP_XCHG || op.code == OP_CMPXCHG ||
	    (op_has(&op, P_ATOMIC) && op_row(&op)->form == FORM_ATOMIC && rng_below(&g->rng, 2)))
		op.mode |= OP_FETCH;
	if (op.code == OP_ST && rng_below(&g->rng, 2))
		op.imm = value_32(&g->rng);
	else if (op.code == OP_ST)
		op.mode |= OP_REG;
	return op;
}

/* An access to the arena; the upper half of the address does not count. */
static void item_arena(struct gen *g)
{
	const unsigned log = rng_below(&g->rng, 4);
	struct op op = arena_op(g, log);
	const bool load = op.code == OP_LD || op.code == OP_LDACQ;
	const uint8_t at = pick_dst(g);

	op.off = rng_below(&g->rng, 2) ? 0 : value_offset(&g->rng, -32768, 32767, 8);
	emit_const(g, at,
		   (rng_next(&g->rng) << 32 & -(uint64_t)rng_below(&g->rng, 2)) |
		       (uint32_t)(arena_offset(g, 1u << log) - op.off));
	op.src = load ? at : op.mode & OP_FETCH ? pick_dst(g) : pick_src(g);
	op.dst = load ? pick_dst(g) : at;
	if (op.code == OP_ST && !(op.mode & OP_REG))
		op.src = 0;
	emit(g, op);
}

/* The end of the program, wherever it is. */
static void item_throw(struct gen *g)
{
	uint32_t over;

	if (g->leaf || !rng_once_in(&g->rng, 12))
		return item_alu(g);
	over = emit_pinned(g, op_imm(OP_JNE, 0, pick_src(g), value_32(&g->rng)));
	if (g->base != 1)
		emit_const(g, 1, value_64(&g->rng));
	emit_pinned(g, op_imm(OP_MOV, 0, 2, 0));
	emit_pinned(g, op_imm(OP_THROW, 0, 0, 0));
	emit_land(g, over);
}

uint8_t item_pair_first(struct gen *g)
{
	const uint8_t r = pick_dst(g);

	if (rng_once_in(&g->rng, 3))
		emit(g, op_load(r, g->base, value_offset(&g->rng, -32768, 32767, 1),
				op_mode_size(1u << rng_below(&g->rng, 4))));
	else if (rng_once_in(&g->rng, 3))
		emit_const(g, r, value_64(&g->rng));
	else
		emit(g, op_reg(OP_MOV, pick_w32(g), r, pick_src(g)));
	return r;
}

void item_pair_second(struct gen *g, uint8_t r)
{
	static const uint8_t alus[] = { OP_ADD, OP_SUB, OP_MUL,	 OP_OR,	 OP_AND, OP_XOR,
					OP_LSH, OP_RSH, OP_ARSH, OP_DIV, OP_SMOD };
	static const uint8_t swaps[] = { OP_TOLE, OP_TOBE, OP_BSWAP };
	const uint8_t code = pick_of(g, alus, COUNT(alus));

	if (rng_once_in(&g->rng, 4))
		emit(g, op_imm(pick_of(g, swaps, COUNT(swaps)), 0, r, 16 << rng_below(&g->rng, 3)));
	else if (rng_below(&g->rng, 2))
		emit(g, op_imm(code, pick_w32(g), r, value_32(&g->rng)));
	else
		emit(g, op_reg(code, pick_w32(g), r, pick_src(g)));
}

void item_any(struct gen *g, const struct item_kind *kinds, size_t n)
{
	unsigned sum = 0, at;
	size_t i;

	for (i = 0; i < n; i++)
		sum += kinds[i].weight;
	at = rng_below(&g->rng, sum);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	kinds[i].make(g);
}

void item_plain(struct gen *g)
{
	static const struct item_kind kinds[] = {
		{ 30, item_alu },    { 6, item_alu_edge },    { 8, item_unary },
		{ 10, item_mov },    { 8, item_const },	      { 2, item_address },
		{ 3, item_engine },  { 18, item_load },	      { 18, item_store },
		{ 10, item_atomic }, { 2, item_cmpxchg_hit }, { 4, item_ordered },
		{ 2, item_probe },   { 2, item_percpu },      { 3, item_arena },
		{ 1, item_throw },
	};

	item_any(g, kinds, COUNT(kinds));
}
