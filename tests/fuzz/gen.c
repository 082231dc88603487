/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units, functions and control flow of generated programs.
 */
#include "gen.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "calls.h"
#include "emit.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum { LOOPS_MAX = 2, STACK_MAX = BPF_STACK - 8 * LOOPS_MAX, LEVELS_MAX = 4 };

static void block(struct gen *g, unsigned max_items);

/* A compare-and-jump whose target is still open. Half of them compare with what is near. */
static uint32_t branch(struct gen *g)
{
	struct op op = op_imm((uint8_t)rng_between(&g->rng, OP_JEQ, OP_JSLE), 0, pick_src(g),
			      value_32(&g->rng));

	if (rng_below(&g->rng, 2))
		op.mode |= OP_W32;
	if (rng_below(&g->rng, 2)) {
		op.dst = pick_dst(g);
		emit_const(g, op.dst, (uint64_t)(op.imm + rng_between(&g->rng, -1, 1)));
	}
	if (rng_once_in(&g->rng, 3)) {
		op.mode |= OP_REG;
		op.src = pick_src(g);
		op.imm = 0;
	}
	return emit(g, op);
}

static uint32_t jump(struct gen *g)
{
	return emit_pinned(g, op_imm(OP_JA, rng_below(&g->rng, 2) ? OP_W32 : 0, 0, 0));
}

static void item_if(struct gen *g)
{
	uint32_t over, end;

	if (g->level >= LEVELS_MAX)
		return item_plain(g);
	over = branch(g);
	block(g, 5);
	if (rng_below(&g->rng, 2)) {
		end = jump(g);
		emit_land(g, over);
		block(g, 5);
		emit_land(g, end);
	} else {
		emit_land(g, over);
	}
}

/* Jumps back to `top` while the counter in r, that runs from n down to 0, is not 0. */
static void loop_down(struct gen *g, uint8_t r, uint32_t top)
{
	static const struct {
		uint8_t code;
		int64_t imm;
	} ends[] = { { OP_JNE, 0 }, { OP_JSGT, 0 }, { OP_JSGE, 1 },
		     { OP_JGE, 1 }, { OP_JGT, 0 },  { OP_JSET, 15 } };
	const uint32_t way = rng_below(&g->rng, COUNT(ends));
	const uint8_t w32 = rng_below(&g->rng, 2) ? OP_W32 : 0;
	struct op op = op_imm(ends[way].code, w32, r, ends[way].imm);

	op.off = (int32_t)top;
	emit_pinned(g, op_imm(OP_ADD, w32, r, -1));
	emit_pinned(g, op);
}

/* As many ops as a conditional jump of BPF spans, of those that become longest: without LSE arm64's
 * code for them is more than the 1 MB that its conditional branches span. Jumped over, or back. */
static void huge(struct gen *g)
{
	enum { OPS = 32000, OFF = 4104, PLACES = 2000 };
	const uint8_t r = pick_dst(g);
	const bool back = r >= 6 && r <= 9;
	const uint32_t first = back ? emit_pinned(g, op_imm(OP_MOV, 0, r, 2)) : branch(g);

	g->reserved |= (uint16_t)(back << r);
	for (uint32_t i = 0; i < OPS; i++)
		emit(g, (struct op){ .code = OP_CMPXCHG,
				     .mode = op_mode_size(8) | OP_FETCH,
				     .dst = g->base,
				     .src = pick_src(g),
				     .off = OFF + (int32_t)(i % PLACES) * 8 });
	g->reserved &= (uint16_t)~(back << r);
	if (back)
		loop_down(g, r, first + 1);
	else
		emit_land(g, first);
}

/* Many ops, so that jumps across them need their long form. */
static void item_far(struct gen *g)
{
	const uint32_t n =
	    rng_once_in(&g->rng, 20) ? rng_below(&g->rng, 3000) : rng_below(&g->rng, 60);
	uint32_t over;

	if (rng_once_in(&g->rng, 60) && !g->loops && !g->sub && !g->callee)
		return huge(g);
	over = rng_below(&g->rng, 2) ? branch(g) : jump(g);
	for (uint32_t i = 0; i < n; i++)
		item_plain(g);
	emit_land(g, over);
}

/* Two ops that a back end may join, with a jump that lands between them half the time. */
static void item_pair(struct gen *g)
{
	const bool split = rng_below(&g->rng, 2);
	const uint32_t into = split ? branch(g) : 0;
	const uint8_t r = item_pair_first(g);

	if (split)
		emit_land(g, into);
	item_pair_second(g, r);
}

/* Out of one or more of the blocks around. */
static void item_break(struct gen *g)
{
	const struct exit_jump out = {
		.level = 1 + rng_below(&g->rng, g->level),
		.op = rng_once_in(&g->rng, 4)	? jump(g)
		      : rng_once_in(&g->rng, 8) ? emit(g, op_imm(OP_MAYGOTO, 0, 0, 0))
						: branch(g),
	};

	if (vec_push(&g->exits, out))
		g->failed = true;
}

/* A counter in a register that nothing in the body writes; it survives calls. */
static void loop_register(struct gen *g, uint8_t r, uint32_t n)
{
	uint32_t top;

	emit_pinned(g, op_imm(OP_MOV, 0, r, n));
	top = (uint32_t)g->ops.n;
	g->reserved |= (uint16_t)(1u << r);
	block(g, 4);
	g->reserved &= (uint16_t)~(1u << r);
	loop_down(g, r, top);
}

/* A counter on the stack, below what the body may write. */
static void loop_stack(struct gen *g, uint32_t n)
{
	const int32_t off = -g->stack - 8 * (int32_t)g->loops;
	const uint8_t r = pick_dst(g);
	struct op init = op_store(BPF_FP, off, 0, 8);
	uint32_t top;

	init.mode &= (uint8_t)~OP_REG;
	init.imm = n;
	emit_pinned(g, init);
	top = (uint32_t)g->ops.n;
	block(g, 4);
	emit_pinned(g, op_load(r, BPF_FP, off, op_mode_size(8)));
	emit_pinned(g, op_imm(OP_ADD, 0, r, -1));
	emit_pinned(g, op_store(BPF_FP, off, r, 8));
	emit_pinned(g, (struct op){ .code = OP_JNE, .dst = r, .off = (int32_t)top });
}

static void item_loop(struct gen *g)
{
	const uint8_t r = pick_dst(g);
	const uint32_t n = 1 + rng_below(&g->rng, 5);

	if (g->level >= LEVELS_MAX || g->loops >= LOOPS_MAX)
		return item_plain(g);
	g->loops++;
	if (r >= 6 && r <= 9 && rng_below(&g->rng, 4))
		loop_register(g, r, n);
	else
		loop_stack(g, n);
	g->loops--;
}

/* may_goto until its budget is used up: seldom, it takes millions of ops. */
static void item_exhaust(struct gen *g)
{
	const uint8_t r = pick_dst(g);
	const uint32_t top = (uint32_t)g->ops.n;
	uint32_t out;

	if (g->loops || g->sub || g->callee || !rng_once_in(&g->rng, 400))
		return item_plain(g);
	g->out->long_run = true;
	emit(g, op_imm(OP_ADD, 0, r, 3));
	out = emit_pinned(g, op_imm(OP_MAYGOTO, 0, 0, 0));
	emit_pinned(g, (struct op){ .code = OP_JA, .off = (int32_t)top });
	emit_land(g, out);
}

/* All registers into r0, so that each counts. */
static void fold(struct gen *g)
{
	static const uint8_t codes[] = { OP_ADD, OP_XOR, OP_SUB };

	for (uint8_t r = 1; r < BPF_REGS; r++)
		if (g->regs >> r & 1)
			emit(g, op_reg(codes[r % COUNT(codes)], 0, 0, r));
}

static void leave(struct gen *g)
{
	const int32_t out = value_offset(&g->rng, 0, 32000, 8);

	for (uint8_t r = 0; r < BPF_REGS && g->sub == 0; r++)
		if (g->regs >> r & 1)
			emit(g, op_store(g->base, out + 8 * r, r, 8));
	if (rng_below(&g->rng, 4))
		fold(g);
	emit_pinned(g, op_imm(OP_EXIT, 0, 0, 0));
}

static void item_exit(struct gen *g)
{
	uint32_t over;

	if (!rng_once_in(&g->rng, 4))
		return item_plain(g);
	over = branch(g);
	leave(g);
	emit_land(g, over);
}

static bool skipped(const struct gen *g, uint64_t id)
{
	for (size_t i = 0; g->skip && i < g->skip->v.n; i++)
		if (g->skip->v.at[i] == id)
			return true;
	return false;
}

static void item(struct gen *g)
{
	static const struct item_kind kinds[] = {
		{ 60, item_plain },    { 10, item_if },		{ 5, item_loop },
		{ 4, item_break },     { 1, item_exit },	{ 1, item_exhaust },
		{ 1, item_far },       { 6, item_call_helper }, { 6, item_call_sub },
		{ 2, item_call_back }, { 3, item_call_tail },	{ 2, item_load_packet },
		{ 8, item_call_map },  { 8, item_pair },
	};

	item_any(g, kinds, COUNT(kinds));
}

/* An item has its own stream of random numbers, whose seed is its name: without it, all others
 * stay what they are. */
static void item_or_skip(struct gen *g)
{
	const uint64_t id = rng_next(&g->rng);
	const struct rng outer = g->rng;

	if (skipped(g, id))
		return;
	if (vec_push(&g->out->items.v, id))
		g->failed = true;
	g->rng.s = id;
	item(g);
	g->rng = outer;
}

/* Jumps out of the block of this level land behind it. */
static void land_exits(struct gen *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->exits.n; i++) {
		if (g->exits.at[i].level == g->level)
			emit_land(g, g->exits.at[i].op);
		else
			g->exits.at[kept++] = g->exits.at[i];
	}
	g->exits.n = kept;
}

static void block(struct gen *g, unsigned max_items)
{
	const unsigned n = 1 + rng_below(&g->rng, max_items);

	g->level++;
	for (unsigned i = 0; i < n; i++)
		item_or_skip(g);
	land_exits(g);
	g->level--;
}

/* The address in r2 of a function: 16 bytes below and above are the caller's. */
static void use_pointer_argument(struct gen *g)
{
	const int32_t off = 8 * rng_between(&g->rng, -2, 1);

	if (g->sub == 0 || rng_below(&g->rng, 2))
		return;
	if (rng_below(&g->rng, 2))
		emit(g, op_store(2, off, (uint8_t)rng_between(&g->rng, 3, 5), 8));
	else
		emit(
		    g,
		    (struct op){
			.code = OP_AADD, .mode = op_mode_size(8), .dst = 2, .src = 3, .off = off });
}

static void pick_registers(struct gen *g)
{
	g->leaf = rng_once_in(&g->rng, 4);
	g->base = (uint8_t)rng_between(&g->rng, g->leaf ? 1 : 6, 9);
	g->regs = (uint16_t)(rng_below(&g->rng, 2) ? 0x3ff : rng_next(&g->rng) & 0x3ff);
	g->regs |= (uint16_t)(1u << g->base | 1);
	if (rng_once_in(&g->rng, 4))
		g->regs |= (uint16_t)(rng_below(&g->rng, 4) << BPF_AX);
	g->reserved = (uint16_t)(1u << g->base);
}

/* Gives each word of the stack a value, through r10 or a copy of it. */
static void pick_stack(struct gen *g)
{
	const int large = 8 * rng_between(&g->rng, 0, STACK_MAX / 8);
	const uint8_t at = rng_below(&g->rng, 2) ? BPF_FP : pick_dst(g);

	g->stack = rng_once_in(&g->rng, 8) ? large : 8 * rng_between(&g->rng, 0, 6);
	if (at != BPF_FP)
		emit_pinned(g, op_reg(OP_MOV, 0, at, BPF_FP));
	for (int off = 8; off <= g->stack; off += 8) {
		struct op op = op_store(at, -off, pick_src(g), 8);

		if (rng_below(&g->rng, 2) || op.src == at) {
			op.mode &= (uint8_t)~OP_REG;
			op.imm = value_32(&g->rng);
			op.src = 0;
		}
		emit_pinned(g, op);
	}
	if (at != BPF_FP)
		emit_define(g, (uint16_t)(1u << at));
}

/* Registers that hold arguments which are numbers. */
static uint16_t defined_arguments(const struct gen *g)
{
	return g->sub ? 0x38 : g->callee ? 0 : 0x3c;
}

static void function(struct gen *g, unsigned sub)
{
	uint16_t keep;

	g->sub = sub;
	g->subs[sub].first = (uint32_t)g->ops.n;
	pick_registers(g);
	use_pointer_argument(g);
	if (g->base != 1)
		emit_pinned(g, op_reg(OP_MOV, 0, g->base, 1));
	keep = defined_arguments(g) & (uint16_t)rng_next(&g->rng);
	for (uint8_t r = 0; r < BPF_REGS; r++)
		if ((g->regs & ~keep & ~g->reserved) >> r & 1)
			emit_value(g, r);
	pick_stack(g);
	block(g, sub == 0 && !g->callee ? 40 : 12);
	leave(g);
}

/* Calls name the function's number until all have their place. */
static void link_calls(struct gen *g)
{
	for (size_t i = 0; i < g->ops.n; i++) {
		struct op *op = &g->ops.at[i];

		if (op->code == OP_CALLSUB || op->code == OP_LDFUNC)
			op->off = (int32_t)g->subs[op->off].first;
	}
}

static struct unit *finish(struct gen *g)
{
	struct unit *u = mem_zalloc(1, sizeof(*u));

	if (!u || g->failed)
		goto fail;
	u->ops = mem_dup(g->ops.at, g->ops.n * sizeof(struct op));
	u->n_ops = (uint32_t)g->ops.n;
	if (!u->ops || unit_index(u, NULL))
		goto fail;
	return u;
fail:
	unit_free(u);
	return NULL;
}

static void gen_free(struct gen *g)
{
	vec_free(&g->ops);
	vec_free(&g->pinned);
	vec_free(&g->exits);
}

/* Unit number i of the case. Frames of a tail-called program come on top of its caller's. */
static int gen_unit(struct gen_case *c, const struct item_set *skip, unsigned i)
{
	struct gen g = { .skip = skip, .out = c, .callee = i > 0, .n_targets = c->n_units - 1 };

	g.rng.s = c->seed ^ (uint64_t)i << 60;
	g.n_subs = 1 + rng_below(&g.rng, i ? 3 : GEN_SUBS);
	g.subs[0] = (struct sub){ .wanted = true, .depth = i ? CALLEE_DEPTH : 1 };
	for (unsigned sub = 0; sub < g.n_subs; sub++) {
		const struct rng rng = { rng_next(&g.rng) };
		const struct rng outer = g.rng;

		g.rng = rng;
		if (g.subs[sub].wanted)
			function(&g, sub);
		g.rng = outer;
	}
	link_calls(&g);
	c->unit[i] = finish(&g);
	c->pinned[i] = g.failed ? NULL : mem_dup(g.pinned.at, g.pinned.n);
	gen_free(&g);
	return c->unit[i] && c->pinned[i] ? 0 : -ENOMEM;
}

int gen_case_new(uint64_t seed, const struct item_set *skip, struct gen_case *out)
{
	struct rng rng = { seed };
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->seed = rng_next(&rng);
	out->n_units = rng_below(&rng, 2) ? 1 : 1 + rng_below(&rng, GEN_UNITS);
	for (unsigned i = 0; i < out->n_units && !err; i++)
		err = gen_unit(out, skip, i);
	if (err)
		gen_case_free(out);
	return err;
}

void gen_case_free(struct gen_case *c)
{
	for (unsigned i = 0; i < GEN_UNITS; i++) {
		unit_free(c->unit[i]);
		mem_free(c->pinned[i]);
	}
	vec_free(&c->items.v);
	memset(c, 0, sizeof(*c));
}
