/* SPDX-License-Identifier: BSD-2-Clause */
/* Jumps: what a comparison says on either side. */
#include "verify/ver.h"

/* How a jump's comparison is told to the numbers: cmp of (a, b) or (b, a), wanted or not. */
struct compare {
	enum cmp cmp;
	bool swap, want, half;
};

static struct compare compare_of(const struct op *op)
{
	static const struct compare rows[OP_COUNT] = {
		[OP_JEQ] = { CMP_EQ, false, true },   [OP_JNE] = { CMP_EQ, false, false },
		[OP_JGT] = { CMP_LT, true, true },    [OP_JGE] = { CMP_LE, true, true },
		[OP_JLT] = { CMP_LT, false, true },   [OP_JLE] = { CMP_LE, false, true },
		[OP_JSGT] = { CMP_SLT, true, true },  [OP_JSGE] = { CMP_SLE, true, true },
		[OP_JSLT] = { CMP_SLT, false, true }, [OP_JSLE] = { CMP_SLE, false, true },
		[OP_JSET] = { CMP_SET, false, true },
	};
	struct compare c = rows[op->code];

	c.half = op->mode & OP_W32;
	return c;
}

/* 1: always jumps, 0: never, -1: either. */
static int numbers_decide(const struct op *op, const struct scalar *a, const struct scalar *b)
{
	struct compare c = compare_of(op);
	int r = c.swap ? scalar_cmp(c.cmp, c.half, b, a) : scalar_cmp(c.cmp, c.half, a, b);

	return r < 0 || c.want ? r : !r;
}

static bool never_null(const struct reg *r)
{
	static const bool kinds[KIND_COUNT] = {
		[KIND_SOCK] = true,    [KIND_TCP_SOCK] = true,	  [KIND_MAP_VALUE] = true,
		[KIND_MAP_KEY] = true, [KIND_SOCK_COMMON] = true, [KIND_MEM] = true,
	};

	return !(r->flags & RF_NULL) && (kinds[r->kind] || r->flags & RF_TRUSTED || r->ref);
}

/* A valid pointer against 0. */
static int pointer_decides(const struct op *op, const struct reg *a, const struct reg *b)
{
	const struct reg *ptr = reg_is_ptr(a) ? a : b, *num = reg_is_ptr(a) ? b : a;

	if (reg_is_ptr(num) || op->mode & OP_W32 || !never_null(ptr) || !reg_is_zero(num))
		return -1;
	return op->code == OP_JEQ ? 0 : op->code == OP_JNE ? 1 : -1;
}

/* A packet pointer that a comparison showed to be at or beyond the end, against the end. */
static int packet_decides(const struct op *op, const struct reg *a, const struct reg *b)
{
	bool flip = a->kind == KIND_PKT_END;
	const struct reg *p = flip ? b : a, *end = flip ? a : b;
	struct compare c = compare_of(op);
	bool beyond, below;

	if (end->kind != KIND_PKT_END || (int32_t)p->n >= 0 || op->mode & OP_W32)
		return -1;
	if (c.cmp != CMP_LT && c.cmp != CMP_LE)
		return -1;
	beyond = p->n == PKT_BEYOND;
	below = c.swap == flip; /* the question is whether p is below the end, or above it */
	if (below)
		return c.cmp == CMP_LT ? 0 : beyond ? 0 : -1;
	return c.cmp == CMP_LE ? 1 : beyond ? 1 : -1;
}

static int decide(const struct op *op, const struct reg *a, const struct reg *b)
{
	if (a->kind == KIND_SCALAR && b->kind == KIND_SCALAR)
		return numbers_decide(op, &a->s, &b->s);
	if (a->kind == KIND_PKT_END || b->kind == KIND_PKT_END)
		return packet_decides(op, a, b);
	return pointer_decides(op, a, b);
}

/* Of both numbers, what is left on one side of the jump. Where nothing is left the side cannot be
 * reached; the numbers then become unknown, which is safe. */
static void numbers_refine(const struct op *op, bool taken, struct reg *a, struct reg *b)
{
	struct compare c = compare_of(op);
	bool holds = c.want == taken, some;

	if (a->kind != KIND_SCALAR || b->kind != KIND_SCALAR)
		return;
	some = c.swap ? scalar_assume(c.cmp, c.half, holds, &b->s, &a->s)
		      : scalar_assume(c.cmp, c.half, holds, &a->s, &b->s);
	if (some)
		return;
	a->s = scalar_any();
	b->s = scalar_any();
}

/* The side of the jump in state s. */
static void side_refine(struct ver *v, struct state *s, const struct op *op, bool taken,
			const struct hist *h)
{
	struct frame *f = s->frame[s->top];
	struct reg imm = { .kind = KIND_SCALAR, .s = scalar_one((uint64_t)op->imm) };
	struct reg *a = &f->r[op->dst], *b = op->mode & OP_REG ? &f->r[op->src] : &imm;

	if (a == b)
		return;
	numbers_refine(op, taken, a, b);
	if (h->n_linked < 2)
		return;
	if (b != &imm && b->kind == KIND_SCALAR && b->id)
		link_sync(v, s, b, h);
	if (a->kind == KIND_SCALAR && a->id)
		link_sync(v, s, a, h);
}

/* A pointer that may be NULL equals one that is not. */
static void pointers_equal(struct ver *v, struct state *s, const struct op *op)
{
	const struct frame *f = s->frame[s->top];
	const struct reg *a = &f->r[op->dst], *b = &f->r[op->src];

	if (!reg_is_ptr(a) || !reg_is_ptr(b) || a->kind == KIND_BTF || b->kind == KIND_BTF)
		return;
	if (a->flags & RF_NULL && !(b->flags & RF_NULL))
		null_mark(v, s, op->dst, false);
	else if (b->flags & RF_NULL && !(a->flags & RF_NULL))
		null_mark(v, s, op->src, false);
}

static bool is_packet_start(const struct reg *r)
{
	return r->kind == KIND_PKT && !r->off && scalar_is_one(&r->s) && !r->s.d.val && !r->id;
}

static bool packet_against(const struct reg *p, const struct reg *end)
{
	return (p->kind == KIND_PKT && end->kind == KIND_PKT_END) ||
	       (p->kind == KIND_PKT_META && is_packet_start(end));
}

/* A packet pointer against the end (or metadata against the packet's start): one side shows how
 * many bytes there are. */
static bool packets_compare(struct ver *v, struct state *here, struct state *there,
			    const struct op *op)
{
	struct compare c = compare_of(op);
	const struct reg *a = reg(v, op->dst), *b = reg(v, op->src);
	bool flip = packet_against(b, a), below, strict;
	struct state *good, *bad;
	struct reg p;
	uint32_t n = flip ? op->src : op->dst;

	if (!(op->mode & OP_REG) || op->mode & OP_W32 || (!flip && !packet_against(a, b)))
		return false;
	if (c.cmp != CMP_LT && c.cmp != CMP_LE)
		return false;
	p = flip ? *b : *a;
	below = c.swap == flip;
	/* The good side: taken when the jump asks for "below", else not taken. */
	good = below ? there : here;
	bad = below ? here : there;
	strict = below == (c.cmp == CMP_LT);
	packet_find(v, good, &p, p.kind, strict);
	if (p.kind == KIND_PKT)
		bad->frame[bad->top]->r[n].n = strict ? PKT_AT_END : PKT_BEYOND;
	return true;
}

static int operands_read(struct ver *v, const struct op *op)
{
	bool whole = !(op->mode & OP_W32);
	int err = op->mode & OP_REG ? reg_read(v, op->src, whole) : 0;

	return err ? err : reg_read(v, op->dst, whole);
}

static int decided(struct ver *v, const struct op *op, bool taken)
{
	int err = precise_mark(v, op->dst);

	if (!err && op->mode & OP_REG)
		err = precise_mark(v, op->src);
	if (taken)
		v->next = unit_target(v->u, v->op);
	return err;
}

/* Notes which places share an id with the operands. */
static int linked_note(struct ver *v, const struct op *op, struct hist *h)
{
	const struct reg *a = reg(v, op->dst), *b = reg(v, op->src);
	struct state *s = v->cur;

	if (op->mode & OP_REG && b->kind == KIND_SCALAR && b->id)
		link_collect(s, b->id, h);
	if (a->kind == KIND_SCALAR && a->id)
		link_collect(s, a->id, h);
	h->fp = (uint8_t)((a->kind == KIND_STACK) | (b->kind == KIND_STACK) << 1);
	if (h->n_linked < 2 && !(h->fp && op->mode & OP_REG))
		return 0;
	if (s->n_hist && s->hist[s->n_hist - 1].op == v->op &&
	    s->hist[s->n_hist - 1].prev == v->prev) {
		s->hist[s->n_hist - 1] = *h;
		return 0;
	}
	return hist_push(v, h);
}

static void null_check(struct ver *v, struct state *there, const struct op *op)
{
	bool eq = op->code == OP_JEQ;

	null_mark(v, v->cur, op->dst, !eq);
	null_mark(v, there, op->dst, eq);
}

static int jump_cond(struct ver *v, const struct op *op)
{
	struct reg imm = { .kind = KIND_SCALAR, .s = scalar_one((uint64_t)op->imm) };
	struct hist h = { .op = v->op, .prev = v->prev };
	struct state *there;
	int taken, err = operands_read(v, op);
	bool eq = op->code == OP_JEQ || op->code == OP_JNE;

	if (err)
		return err;
	taken = decide(op, reg(v, op->dst), op->mode & OP_REG ? reg(v, op->src) : &imm);
	fact(v)->jumps |= taken != 0;
	fact(v)->falls |= taken != 1;
	if (taken >= 0)
		return decided(v, op, taken);
	err = linked_note(v, op, &h);
	if (err)
		return err;
	there = state_push(v, unit_target(v->u, v->op), v->op);
	if (!there)
		return -E2BIG;
	if (eq && !(op->mode & (OP_REG | OP_W32)) && !op->imm && reg(v, op->dst)->flags & RF_NULL) {
		null_check(v, there, op);
		return 0;
	}
	side_refine(v, there, op, true, &h);
	side_refine(v, v->cur, op, false, &h);
	if (eq && op->mode & OP_REG && !(op->mode & OP_W32))
		pointers_equal(v, op->code == OP_JEQ ? there : v->cur, op);
	packets_compare(v, v->cur, there, op);
	return 0;
}

/* The latest state above `from` that was kept at op in the same calls, with paths still open. */
struct state *state_before(struct ver *v, const struct state *from, uint32_t op)
{
	for (struct state *s = from ? from->parent : NULL; s; s = s->parent) {
		bool same = s->at == op && s->branches && s->top == v->cur->top;

		for (uint32_t i = 1; same && i <= s->top; i++)
			same = s->frame[i]->callsite == v->cur->frame[i]->callsite;
		if (same)
			return s;
	}
	return NULL;
}

/* Goes on into the loop once more later, and leaves it now. */
static int jump_may(struct ver *v)
{
	struct state *again = state_push(v, v->op + 1, v->op);

	if (!again)
		return -E2BIG;
	again->may_goto++;
	state_widen(state_before(v, v->cur->parent, v->op), again);
	v->next = unit_target(v->u, v->op);
	return 0;
}

int branch_step(struct ver *v)
{
	const struct op *op = op_at(v);
	int err;

	v->jumps++;
	if (op->code == OP_JA) {
		v->next = unit_target(v->u, v->op);
		return 0;
	}
	if (op->code == OP_MAYGOTO)
		return jump_may(v);
	err = jump_cond(v, op);
	if (!err)
		log_changes(v);
	return err;
}
