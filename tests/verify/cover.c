/* SPDX-License-Identifier: BSD-2-Clause */
#include "cover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "region.h"

enum { CANDIDATES = 16, SEGMENTS = INTERP_FRAMES + 1 };

/* One op of one path. Index 0 stands for none. */
struct node {
	uint32_t op, child, sibling;
	uint32_t cut;	     /* the node of the kept state that covers this one, 0: not cut off */
	struct state *state; /* before the op */
	struct state *last;  /* kept: as it was given up */
};

/* Places of a state that hold something else than it says, by frame. */
struct loose {
	uint16_t reg[VERIFY_FRAMES];
	uint64_t slot[VERIFY_FRAMES];
	bool any, number; /* any place; one that the state has as a number */
};

/* A node where the run may stand. */
struct stand {
	uint32_t node;
	bool cut; /* behind a cut: relations between places need not hold */
	struct loose loose;
};

/* The walk through one graph: of the program, or of a global function that it called. */
struct segment {
	uint32_t base; /* depth of the frame that is frame 0 of its states */
	uint32_t n;
	struct stand at[CANDIDATES];
};

struct cover {
	struct verify_watch watch;
	struct node *node;
	uint32_t n, cap, roots; /* roots: a list by sibling */
	bool whole;
	const struct places *places;
	const struct verify_sub *subs;
	struct segment seg[SEGMENTS];
	uint32_t n_segs;
	bool begun;
	const struct unit *u;
	uint32_t last_op, last_depth;
	uint64_t cuts, loose;
	char text[400];
};

/* -- the graph */

static struct state *copy(const struct state *s)
{
	struct state *out = state_new();

	if (!out || state_copy(out, s))
		abort();
	return out;
}

static int reach(void *arg, uint32_t op, struct state *s)
{
	struct cover *c = arg;
	uint32_t *list = s->watch ? &c->node[s->watch].child : &c->roots;
	struct node *n;

	if (c->n == COVER_NODES) {
		c->whole = false;
		return -E2BIG;
	}
	n = &c->node[c->n];
	*n = (struct node){ .op = op, .sibling = *list, .state = copy(s) };
	*list = s->watch = c->n++;
	return 0;
}

static void prune(void *arg, const struct state *s, const struct state *by)
{
	struct cover *c = arg;

	c->node[s->watch].cut = by->watch;
}

static void forget(void *arg, const struct state *kept)
{
	struct cover *c = arg;

	if (c->whole && !c->node[kept->watch].last)
		c->node[kept->watch].last = copy(kept);
}

struct cover *cover_new(void)
{
	struct cover *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->node = calloc(COVER_NODES, sizeof(*c->node));
	if (!c->node)
		abort();
	c->n = 1;
	c->watch = (struct verify_watch){ c, reach, prune, forget };
	return c;
}

static void clear(struct cover *c)
{
	for (uint32_t i = 1; i < c->n; i++) {
		state_free(c->node[i].state);
		state_free(c->node[i].last);
	}
	c->n = 1;
	c->roots = 0;
	c->whole = true;
}

void cover_free(struct cover *c)
{
	clear(c);
	free(c->node);
	free(c);
}

const struct verify_watch *cover_watch(struct cover *c)
{
	clear(c);
	return &c->watch;
}

bool cover_whole(const struct cover *c)
{
	return c->whole;
}

uint32_t cover_size(const struct cover *c)
{
	return c->n - 1;
}

uint64_t cover_cuts(const struct cover *c)
{
	return c->cuts;
}

uint64_t cover_loose(const struct cover *c)
{
	return c->loose;
}

/* -- values against what is known of them */

/* v is base + off + some member of s. */
static bool apart(const struct reg *r, uint64_t v, uint64_t base)
{
	return scalar_has(&r->s, v - base - (uint64_t)(int64_t)r->off);
}

static bool in_region(const struct places *p, const struct reg *r, uint8_t kind, uint64_t v)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct region *g = &p->region[i];

		if (g->kind == kind && (!r->map || !g->map || g->map == r->map) &&
		    apart(r, v, g->addr))
			return true;
	}
	return false;
}

static bool packet_has(const struct places *p, const struct reg *r, uint64_t v)
{
	struct packet_span s = places_packet(p);
	bool meta = r->kind == KIND_PKT_META;
	uint64_t base = meta ? s.meta : s.data, end = meta ? s.data : s.end;

	if (!apart(r, v, base))
		return false;
	return (int32_t)r->n <= 0 || v - (uint64_t)(int64_t)r->off + r->n <= end;
}

/* Memory of r->n bytes: a record, or what a caller handed to a global function. */
static bool mem_has(const struct places *p, const struct reg *r, uint64_t v)
{
	return in_region(p, r, KIND_MEM, v) ||
	       places_find(p, v - (uint64_t)(int64_t)r->off, r->n) != KIND_NONE;
}

static bool has(const struct cover *c, const struct reg *r, uint64_t v)
{
	const struct places *p = c->places;
	uint32_t base = c->seg[c->n_segs - 1].base;

	if (r->kind == KIND_NONE)
		return true;
	if (r->kind == KIND_SCALAR)
		return scalar_has(&r->s, v);
	if (v == 0)
		return r->flags & RF_NULL;
	switch (r->kind) {
	case KIND_STACK:
		return apart(r, v, (uintptr_t)p->frame[base + r->frame].stack + BPF_STACK);
	case KIND_CTX:
		return apart(r, v, p->ctx);
	case KIND_MAP:
		return v == (uintptr_t)r->map;
	case KIND_MAP_VALUE:
	case KIND_MAP_KEY:
		return in_region(p, r, r->kind, v);
	case KIND_PKT:
	case KIND_PKT_META:
		return packet_has(p, r, v);
	case KIND_PKT_END:
		return v == places_packet(p).end;
	case KIND_MEM:
		return mem_has(p, r, v);
	default:
		return true;
	}
}

static uint64_t stack_bytes(const uint8_t *stack, uint32_t k, unsigned n)
{
	uint64_t v = 0;

	memcpy(&v, stack + BPF_STACK - 8 * (k + 1), n);
	return v;
}

/* How many bytes of the slot, from its lowest, the spilled register fills. */
static unsigned spill_bytes(const struct slot *s)
{
	unsigned n = 0;

	while (n < 8 && s->type[7 - n] == SLOT_SPILL)
		n++;
	return n;
}

/* v is the low n < 8 bytes of some member, as far as bits (and for four bytes ranges) show. */
static bool low_has(const struct scalar *s, uint64_t v, unsigned n)
{
	uint64_t bits = (1ull << 8 * n) - 1;

	if (n == 4 && !dom32_has(&s->w, (uint32_t)v))
		return false;
	return ((v ^ s->d.val) & ~s->d.mask & bits) == 0;
}

static bool slot_has(const struct cover *c, const struct slot *s, const uint8_t *stack, uint32_t k)
{
	const uint8_t *bytes = stack + BPF_STACK - 8 * (k + 1);
	unsigned n = spill_bytes(s);

	if (n == 8 && !has(c, &s->spill, stack_bytes(stack, k, 8)))
		return false;
	if (n && n < 8 && !low_has(&s->spill.s, stack_bytes(stack, k, n), n))
		return false;
	for (unsigned i = n; i < 8; i++) {
		if (s->type[7 - i] == SLOT_ZERO && bytes[i])
			return false;
	}
	return true;
}

/* -- states against the run */

/* Which places of s miss their state. */
static void misses(const struct cover *c, const struct state *s, struct loose *out)
{
	uint32_t base = c->seg[c->n_segs - 1].base;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i <= s->top; i++) {
		const struct frame *f = s->frame[i];
		const uint64_t *r = c->places->frame[base + i].r;
		const uint8_t *stack = c->places->frame[base + i].stack;

		for (unsigned n = 0; n <= BPF_FP; n++) {
			if (has(c, &f->r[n], r[n]))
				continue;
			out->reg[i] |= (uint16_t)(1u << n);
			out->number |= f->r[n].kind == KIND_SCALAR;
		}
		for (uint32_t k = 0; k < f->n_slots; k++) {
			if (slot_has(c, &f->slot[k], stack, k))
				continue;
			out->slot[i] |= 1ull << k;
			out->number |=
			    !slot_is_spill(&f->slot[k]) || f->slot[k].spill.kind == KIND_SCALAR;
		}
		out->any |= out->reg[i] || out->slot[i];
	}
}

static const char *say(struct cover *c, const char *what, uint32_t node, uint32_t frame,
		       const char *place, unsigned n, uint64_t v, const struct reg *r)
{
	snprintf(c->text, sizeof(c->text),
		 "op %u, node %u: %s: frame %u %s%u holds 0x%llx; known: %s off %d, %lld to %lld, "
		 "0x%llx to 0x%llx, (0x%llx; 0x%llx)",
		 c->node[node].op, node, what, frame, place, n, (unsigned long long)v,
		 kind_rows[r->kind].text, r->off, (long long)r->s.d.smin, (long long)r->s.d.smax,
		 (unsigned long long)r->s.d.umin, (unsigned long long)r->s.d.umax,
		 (unsigned long long)r->s.d.val, (unsigned long long)r->s.d.mask);
	return c->text;
}

static const char *say_reg(struct cover *c, const char *what, uint32_t node, uint32_t i, unsigned n)
{
	uint32_t base = c->seg[c->n_segs - 1].base;

	return say(c, what, node, i, "r", n, c->places->frame[base + i].r[n],
		   &c->node[node].state->frame[i]->r[n]);
}

static const char *say_slot(struct cover *c, const char *what, uint32_t node, uint32_t i,
			    unsigned k)
{
	uint32_t base = c->seg[c->n_segs - 1].base;

	return say(c, what, node, i, "slot ", k,
		   stack_bytes(c->places->frame[base + i].stack, k, 8),
		   &c->node[node].state->frame[i]->slot[k].spill);
}

/* Register n of frame i was loose before, there or where it came from. Arguments keep their
 * numbers in the callee; the result is r0 in both. */
static bool was_loose(const struct loose *l, uint32_t i, unsigned n, uint32_t top)
{
	if (l->reg[i] >> n & 1)
		return true;
	if (n == 0 && i == top && i + 1 < VERIFY_FRAMES && l->reg[i + 1] & 1)
		return true;
	return i && i == top && n <= 5 && (l->reg[i - 1] >> n & 1);
}

/* Behind a cut, was this number tied to others? They may no longer be equal, so what a comparison
 * tells of one says nothing of it. */
static bool was_tied(const struct cover *c, const struct stand *from, uint32_t i, unsigned n,
		     bool slot)
{
	const struct state *s = c->node[from->node].state;
	const struct reg *r;

	if (!from->cut || i > s->top || (slot && n >= s->frame[i]->n_slots))
		return false;
	r = slot ? &s->frame[i]->slot[n].spill : &s->frame[i]->r[n];
	return r->kind == KIND_SCALAR && r->id;
}

/* Places that miss their state and were not loose before: NULL when each may. */
static const char *fresh_misses(struct cover *c, uint32_t node, const struct stand *from,
				const struct loose *now)
{
	const struct state *s = c->node[node].state;
	const struct loose *before = &from->loose;

	for (uint32_t i = 0; i <= s->top; i++) {
		const struct frame *f = s->frame[i];

		for (unsigned n = 0; n <= BPF_FP; n++) {
			if (!(now->reg[i] >> n & 1) || was_loose(before, i, n, s->top))
				continue;
			if (f->r[n].kind != KIND_SCALAR ||
			    !(before->number || was_tied(c, from, i, n, false)))
				return say_reg(c, "not in its state", node, i, n);
		}
		for (uint32_t k = 0; k < f->n_slots; k++) {
			bool number =
			    !slot_is_spill(&f->slot[k]) || f->slot[k].spill.kind == KIND_SCALAR;

			if (now->slot[i] >> k & 1 && !(before->slot[i] >> k & 1) &&
			    !(number && (before->number || was_tied(c, from, i, k, true))))
				return say_slot(c, "not in its state", node, i, k);
		}
	}
	return NULL;
}

static bool may_miss(const struct reg *r)
{
	return !(r->live & LIVE_READ) || (r->kind == KIND_SCALAR && !r->precise);
}

static bool slot_may_miss(const struct slot *s)
{
	return !(s->spill.live & LIVE_READ) ||
	       (slot_is_spill(s) && s->spill.kind == KIND_SCALAR && !s->spill.precise);
}

/* The run goes over from a cut to the kept state of `node`. */
static const char *cut_check(struct cover *c, uint32_t node)
{
	const struct state *s = c->node[node].last;
	struct loose now;

	if (!s)
		return "a state that is gone without a word";
	misses(c, s, &now);
	for (uint32_t i = 0; i <= s->top; i++) {
		const struct frame *f = s->frame[i];

		for (unsigned n = 0; n <= BPF_FP; n++) {
			if (now.reg[i] >> n & 1 && !may_miss(&f->r[n]))
				return say_reg(c, "not in the state that covers", node, i, n);
		}
		for (uint32_t k = 0; k < f->n_slots; k++) {
			if (now.slot[i] >> k & 1 && !slot_may_miss(&f->slot[k]))
				return say_slot(c, "not in the state that covers", node, i, k);
		}
	}
	return NULL;
}

/* Numbers of one id are equal, up to their distances. */
static const char *ids_check(struct cover *c, uint32_t node)
{
	uint32_t base = c->seg[c->n_segs - 1].base, top = c->node[node].state->top;
	const struct frame *f = c->node[node].state->frame[top];
	const uint64_t *r = c->places->frame[base + top].r;

	for (unsigned a = 0; a < BPF_FP; a++) {
		for (unsigned b = 0; b < a; b++) {
			const struct reg *x = &f->r[a], *y = &f->r[b];

			if (x->kind != KIND_SCALAR || y->kind != KIND_SCALAR || !x->id ||
			    (x->id ^ y->id) & ~ID_PLUS_OFF)
				continue;
			if (r[a] - (x->id & ID_PLUS_OFF ? (uint64_t)(int64_t)x->off : 0) !=
			    r[b] - (y->id & ID_PLUS_OFF ? (uint64_t)(int64_t)y->off : 0))
				return say_reg(c, "differs from one with its id", node, top, a);
		}
	}
	return NULL;
}

/* -- the walk */

/* The run, coming from `from`, stands before the op of `node`. *to: where it goes on. `call`: it is
 * a call that has called back, and whose helper may have set r0 since. */
static const char *stand_at(struct cover *c, const struct stand *from, uint32_t node, bool call,
			    struct stand *to)
{
	const char *bad;

	*to = (struct stand){ .node = node, .cut = from->cut };
	misses(c, c->node[node].state, &to->loose);
	if (call)
		to->loose.reg[c->node[node].state->top] &= (uint16_t)~1u;
	bad = to->loose.any ? fresh_misses(c, node, from, &to->loose) : NULL;
	if (!bad && !to->cut && !call)
		bad = ids_check(c, node);
	if (call)
		to->loose.reg[c->node[node].state->top] |= 1;
	if (bad || !c->node[node].cut)
		return bad;
	to->node = c->node[node].cut;
	to->cut = true;
	bad = cut_check(c, to->node);
	if (bad)
		return bad;
	misses(c, c->node[to->node].state, &to->loose);
	if (call)
		to->loose.reg[c->node[to->node].state->top] |= 1;
	c->cuts++;
	c->loose += to->loose.any;
	return NULL;
}

/* What a step tries. */
struct step {
	struct segment *out;
	uint32_t op, top;
	bool back; /* the end of a callback: the call itself lies between */
	const char *bad;
};

static void stand_add(struct segment *g, const struct stand *s)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (g->at[i].node == s->node &&
		    !memcmp(&g->at[i].loose, &s->loose, sizeof(s->loose)))
			return;
	}
	if (g->n < CANDIDATES)
		g->at[g->n++] = *s;
}

static void step_from(struct cover *c, struct step *s, const struct stand *from, uint32_t list)
{
	for (uint32_t i = list; i; i = c->node[i].sibling) {
		const struct node *n = &c->node[i];
		struct stand to;
		bool here = n->op == s->op && n->state->top == s->top;
		bool call =
		    s->back && n->op != s->op && op_row(&c->u->ops[n->op])->form == FORM_CALL;
		const char *bad;

		if (!here && !call)
			continue;
		bad = stand_at(c, from, i, call, &to);
		if (bad) {
			s->bad = bad;
		} else if (here) {
			stand_add(s->out, &to);
		} else {
			s->back = false;
			step_from(c, s, &to, c->node[to.node].child);
			s->back = true;
		}
	}
}

static bool ends(const struct op *op)
{
	return op_row(op)->form == FORM_EXIT || op_row(op)->form == FORM_LDABS;
}

static const char *advance(struct cover *c, const struct interp_at *at)
{
	struct segment *g = &c->seg[c->n_segs - 1], out = { .base = g->base };
	struct step s = { .out = &out, .op = at->op, .top = at->depth - g->base };

	s.back = ends(&at->u->ops[c->last_op]);
	for (uint32_t i = 0; i < g->n; i++)
		step_from(c, &s, &g->at[i], c->node[g->at[i].node].child);
	if (!out.n && !s.bad) {
		snprintf(c->text, sizeof(c->text),
			 "from op %u to %u: the verifier never went there", c->last_op, at->op);
		s.bad = c->text;
	}
	*g = out;
	return out.n ? NULL : s.bad;
}

/* At the start of the program, or of a global function. */
static const char *segment_push(struct cover *c, const struct interp_at *at)
{
	struct segment *g = &c->seg[c->n_segs++];
	struct step s = { .out = g, .op = at->op, .top = 0 };
	const struct stand none = { 0 };

	g->base = at->depth;
	g->n = 0;
	step_from(c, &s, &none, c->roots);
	return g->n ? NULL : s.bad ? s.bad : "never explored";
}

static bool enters_global(const struct cover *c, const struct interp_at *at)
{
	const struct op *last = &at->u->ops[c->last_op];

	return last->code == OP_CALLSUB && at->depth == c->last_depth + 1 && c->subs &&
	       c->subs[unit_sub_of(at->u, (uint32_t)last->off)].global;
}

void cover_begin(struct cover *c, const struct places *p, const struct verify_sub *subs)
{
	c->places = p;
	c->subs = subs;
	c->n_segs = 0;
	c->begun = false;
}

const char *cover_op(struct cover *c, const struct interp_at *at)
{
	const char *bad;

	c->u = at->u;
	while (c->begun && c->n_segs > 1 && at->depth < c->seg[c->n_segs - 1].base)
		c->n_segs--;
	bad = !c->begun || enters_global(c, at) ? segment_push(c, at) : advance(c, at);
	c->begun = true;
	c->last_op = at->op;
	c->last_depth = at->depth;
	return bad;
}
