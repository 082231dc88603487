/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which numbers decided something. When the value of a number matters (an offset, a size, a
 * compared operand), the path is walked backwards, op by op, to every place that contributed, and
 * the registers and slots of the states kept on the way are marked precise: only those must match
 * when states are compared. Marking too much costs pruning, marking too little would be unsound;
 * where the walk cannot tell, everything is marked.
 */
#include "verify/ver.h"

#include <inttypes.h>
#include <string.h>

/* What is still looked for, by frame. */
struct want {
	uint32_t frame; /* the frame that the op under the walk runs in */
	uint16_t reg[VERIFY_FRAMES];
	uint64_t slot[VERIFY_FRAMES];
};

enum { ARGS = 0x3e, GIVE_UP = 1 };

static bool want_nothing(const struct want *w)
{
	for (uint32_t i = 0; i <= w->frame; i++) {
		if (w->reg[i] || w->slot[i])
			return false;
	}
	return true;
}

static bool want_has(const struct want *w, unsigned r)
{
	return w->reg[w->frame] >> r & 1;
}

static void want_add(struct want *w, unsigned r)
{
	if (r != BPF_FP)
		w->reg[w->frame] |= (uint16_t)(1u << r);
}

/* Was it wanted? It is not any more. */
static bool want_take(struct want *w, unsigned r)
{
	bool had = want_has(w, r);

	w->reg[w->frame] &= (uint16_t)~(1u << r);
	return had;
}

static bool place_wanted(const struct want *w, uint16_t place)
{
	unsigned f = place >> 8, n = place & 127;

	return place & 128 ? w->slot[f] >> n & 1 : w->reg[f] >> n & 1;
}

/* Of registers and slots that shared an id at this jump, all are wanted when one is: what is
 * learnt of one was put into all. */
static void want_linked(struct want *w, const struct hist *h)
{
	bool any = false;

	for (unsigned i = 0; h && i < h->n_linked; i++)
		any |= place_wanted(w, h->linked[i]);
	for (unsigned i = 0; any && i < h->n_linked; i++) {
		unsigned f = h->linked[i] >> 8, n = h->linked[i] & 127;

		if (h->linked[i] & 128)
			w->slot[f] |= 1ull << n;
		else
			w->reg[f] |= (uint16_t)(1u << n);
	}
}

static int back_load(struct want *w, unsigned dst, const struct hist *h)
{
	if (want_take(w, dst) && h && h->stack)
		w->slot[h->frame] |= 1ull << h->slot;
	return 0;
}

static int back_store(struct want *w, const struct op *op, const struct hist *h)
{
	uint64_t bit;

	if (want_has(w, op->dst))
		return GIVE_UP; /* an address is no number */
	if (!h || !h->stack)
		return 0;
	bit = 1ull << h->slot;
	if (!(w->slot[h->frame] & bit))
		return 0;
	w->slot[h->frame] &= ~bit;
	if (op->mode & OP_REG)
		want_add(w, op->src);
	return 0;
}

/* The new value of the slot comes from the slot, src and (cmpxchg) r0; what is fetched from the
 * slot. */
static int back_atomic(struct want *w, const struct op *op, const struct hist *h)
{
	unsigned out = op->code == OP_CMPXCHG ? 0 : op->src;
	bool fetched = op->mode & OP_FETCH && want_take(w, out);

	if (!h || !h->stack)
		return 0;
	if (fetched)
		w->slot[h->frame] |= 1ull << h->slot;
	if (w->slot[h->frame] >> h->slot & 1) {
		want_add(w, op->src);
		if (op->code == OP_CMPXCHG)
			want_add(w, 0);
	}
	return 0;
}

static int back_move(struct want *w, const struct op *op)
{
	if (want_take(w, op->dst) && op->mode & OP_REG)
		want_add(w, op->src);
	return 0;
}

static int back_alu(struct want *w, const struct op *op)
{
	if (want_has(w, op->dst) && op->mode & OP_REG)
		want_add(w, op->src);
	return 0;
}

static int back_jump(struct want *w, const struct op *op, const struct hist *h)
{
	if (!(op->mode & OP_REG) || (!want_has(w, op->dst) && !want_has(w, op->src)))
		return 0;
	if (!h || !(h->fp & 1))
		want_add(w, op->dst);
	if (!h || !(h->fp & 2))
		want_add(w, op->src);
	return 0;
}

/* Out of a callee, backwards over its start: its arguments were the caller's. */
static int back_leave(struct want *w, bool callback)
{
	uint16_t args = w->reg[w->frame] & ARGS;

	if (!w->frame || (w->reg[w->frame] & ~ARGS) || w->slot[w->frame])
		return GIVE_UP;
	w->reg[w->frame--] = 0;
	if (!callback)
		w->reg[w->frame] |= args;
	return 0;
}

/* Into a callee, backwards over its exit; `direct`: it was called, and its r0 became the
 * caller's. */
static int back_enter(struct want *w, bool direct)
{
	bool r0 = direct && want_take(w, 0);

	if (direct && w->reg[w->frame] & ARGS)
		return GIVE_UP;
	if (++w->frame == VERIFY_FRAMES)
		return GIVE_UP;
	if (r0)
		want_add(w, 0);
	return 0;
}

static bool is_global_call(const struct ver *v, const struct op *op)
{
	return op->code == OP_CALLSUB && v->in->subs &&
	       v->in->subs[unit_sub_of(v->u, (uint32_t)op->off)].global;
}

static int back_call(struct ver *v, struct want *w, uint32_t i, uint32_t after)
{
	const struct op *op = &v->u->ops[i];

	if (op->code == OP_CALLSUB && !is_global_call(v, op))
		return back_leave(w, false);
	if (v->point[i].callback && after != i + 1)
		return back_leave(w, true);
	want_take(w, 0);
	return w->reg[w->frame] & ARGS ? GIVE_UP : 0;
}

static int back_exit(struct ver *v, struct want *w, uint32_t after)
{
	const struct op *call = after ? &v->u->ops[after - 1] : NULL;

	if (v->point[after].callback)
		return back_enter(w, false);
	return back_enter(w, call && call->code == OP_CALLSUB);
}

static int back_form(struct ver *v, struct want *w, uint32_t i, uint32_t after,
		     const struct hist *h)
{
	const struct op *op = &v->u->ops[i];

	switch (op_row(op)->form) {
	case FORM_ALU:
		return back_alu(w, op);
	case FORM_MOV:
	case FORM_CAST:
		return back_move(w, op);
	case FORM_LDIMM:
	case FORM_LDMAP:
	case FORM_LDFUNC:
		want_take(w, op->dst);
		return 0;
	case FORM_LD:
	case FORM_ACQ:
		return back_load(w, op->dst, h);
	case FORM_ST:
	case FORM_REL:
		return back_store(w, op, h);
	case FORM_ATOMIC:
		return back_atomic(w, op, h);
	case FORM_LDABS:
		want_take(w, 0);
		if (after != i + 1) /* it returned from the subprogram */
			return back_exit(v, w, after);
		return w->reg[w->frame] & ARGS ? GIVE_UP : 0;
	case FORM_JCOND:
		return back_jump(w, op, h);
	case FORM_CALL:
	case FORM_CALLSUB:
	case FORM_CALLKFUNC:
	case FORM_TAILCALL:
		return back_call(v, w, i, after);
	case FORM_EXIT:
		return back_exit(v, w, after);
	default:
		return 0;
	}
}

static void log_masks(struct ver *v, uint16_t regs, uint64_t slots)
{
	const char *sep = "";

	note(v, "regs=");
	for (unsigned i = 0; i < BPF_REGS; i++) {
		if (regs >> i & 1) {
			note(v, "%sr%u", sep, i);
			sep = ",";
		}
	}
	note(v, " stack=");
	sep = "";
	for (unsigned i = 0; i < 64; i++) {
		if (slots >> i & 1) {
			note(v, "%s-%u", sep, (i + 1) * 8);
			sep = ",";
		}
	}
}

static void log_back(struct ver *v, const struct want *w, uint32_t i)
{
	char text[256];

	if (!(v->level & LOG_STATES))
		return;
	op_print(v->u, i, PRINT_KERNEL, text, sizeof(text));
	note(v, "mark_precise: frame%u: ", w->frame);
	log_masks(v, w->reg[w->frame], w->slot[w->frame]);
	note(v, " before %u: %s\n", slot_of(v, i), text);
}

static int back_op(struct ver *v, struct want *w, uint32_t i, uint32_t after, const struct hist *h)
{
	int r;

	log_back(v, w, i);
	want_linked(w, h);
	r = back_form(v, w, i, after, h);
	want_linked(w, h);
	return r;
}

static void reg_precise(struct reg *r, void *arg)
{
	r->precise |= r->kind == KIND_SCALAR;
}

/* Everything on the whole path counts. */
static void precise_all(struct ver *v, struct state *s)
{
	if (v->level & LOG_STATES)
		note(v, "mark_precise: frame%u: falling back to forcing all scalars precise\n",
		     v->cur->top);
	for (; s; s = s->parent)
		state_each_reg(s, reg_precise, NULL);
}

/* Marks what is wanted in frame f of a kept state; what is no number or was marked before is not
 * looked for any further. */
static void want_mark_frame(struct want *w, uint32_t i, struct frame *f)
{
	for (unsigned n = 0; n < BPF_FP; n++) {
		if (!(w->reg[i] >> n & 1))
			continue;
		if (f->r[n].kind != KIND_SCALAR || f->r[n].precise)
			w->reg[i] &= (uint16_t)~(1u << n);
		else
			f->r[n].precise = 1;
	}
	for (uint32_t k = 0; k < 64; k++) {
		if (!(w->slot[i] >> k & 1))
			continue;
		if (k >= f->n_slots || !slot_is_spill(&f->slot[k]) ||
		    f->slot[k].spill.kind != KIND_SCALAR || f->slot[k].spill.precise)
			w->slot[i] &= ~(1ull << k);
		else
			f->slot[k].spill.precise = 1;
	}
}

static void want_mark(struct ver *v, struct want *w, struct state *s)
{
	for (uint32_t i = w->frame + 1; i-- > 0;) {
		want_mark_frame(w, i, s->frame[i]);
		if (!(v->level & LOG_STATES))
			continue;
		note(v, "mark_precise: frame%u: parent state ", i);
		log_masks(v, w->reg[i], w->slot[i]);
		note(v, ": ");
		log_frame(v, s, i, true);
	}
}

/* Backwards over the ops of one state, from `i` to its first. `after` is the op that came later.
 * 0: nothing is wanted any more; 1: go on in the parent; GIVE_UP + 1: lost. */
static int back_state(struct ver *v, struct want *w, const struct state *s, uint32_t i,
		      uint32_t after, bool skip)
{
	uint32_t n = s->n_hist;

	for (;;) {
		const struct hist *h = n && s->hist[n - 1].op == i ? &s->hist[n - 1] : NULL;

		if (!skip && back_op(v, w, i, after, h))
			return GIVE_UP + 1;
		skip = false;
		if (want_nothing(w))
			return 0;
		after = i;
		if (!path_back(s, &n, &i) || i >= v->u->n_ops)
			return 1;
	}
}

static int precise_walk(struct ver *v, struct want *w, struct state *s, uint32_t last, bool skip)
{
	uint32_t after = UINT32_MAX;
	struct state *start = s;

	while (!want_nothing(w)) {
		int r;

		if (v->level & LOG_STATES)
			note(v, "mark_precise: frame%u: last_idx %d first_idx %u subseq_idx %d \n",
			     w->frame, last == UINT32_MAX ? -1 : (int)slot_of(v, last),
			     slot_of(v, s->first_op),
			     after == UINT32_MAX ? -1 : (int)slot_of(v, after));
		if (last == UINT32_MAX)
			return 0; /* the program's start: the context and constants */
		r = back_state(v, w, s, last, after, skip);
		if (r == GIVE_UP + 1) {
			precise_all(v, start);
			return 0;
		}
		if (!r || !s->parent)
			break;
		after = s->first_op;
		s = s->parent;
		if (w->frame != s->top) {
			precise_all(v, start);
			return 0;
		}
		want_mark(v, w, s);
		last = s->last_op;
		skip = false;
	}
	return 0;
}

/* The number in register n decides what the running op does. */
int precise_mark(struct ver *v, unsigned n)
{
	struct want w = { .frame = v->cur->top };

	if (reg(v, n)->kind != KIND_SCALAR)
		return 0;
	want_add(&w, n);
	return precise_walk(v, &w, v->cur, v->op, true);
}

int precise_mark_slot(struct ver *v, uint32_t frame, uint32_t slot)
{
	struct want w = { .frame = v->cur->top };

	w.slot[frame] = 1ull << slot;
	return precise_walk(v, &w, v->cur, v->op, true);
}

/* What is precise in frame i of a state, into w. */
static void want_precise(struct ver *v, struct want *w, uint32_t i, const struct frame *f)
{
	bool first = true;

	for (unsigned n = 0; n < BPF_FP; n++) {
		const struct reg *r = &f->r[n];

		if (!r->precise || r->kind != KIND_SCALAR || !(r->live & LIVE_READ))
			continue;
		if (v->level & LOG_STATES && first)
			note(v, "frame %u: propagating r%u", i, n);
		else if (v->level & LOG_STATES)
			note(v, ",r%u", n);
		first = false;
		w->reg[i] |= (uint16_t)(1u << n);
	}
	for (uint32_t k = 0; k < f->n_slots; k++) {
		const struct reg *r = &f->slot[k].spill;

		if (!slot_is_spill(&f->slot[k]) || !r->precise || r->kind != KIND_SCALAR ||
		    !(r->live & LIVE_READ))
			continue;
		if (v->level & LOG_STATES && first)
			note(v, "frame %u: propagating fp%d", i, -8 * ((int)k + 1));
		else if (v->level & LOG_STATES)
			note(v, ",fp%d", -8 * ((int)k + 1));
		first = false;
		w->slot[i] |= 1ull << k;
	}
	if (!first && v->level & LOG_STATES)
		note(v, "\n");
}

/* What is precise in `old`, which covers the current state, is so in the current one's past. The
 * current op has not run yet. */
int precise_propagate(struct ver *v, const struct state *old)
{
	struct want w = { .frame = old->top };

	for (uint32_t i = old->top + 1; i-- > 0;)
		want_precise(v, &w, i, old->frame[i]);
	return precise_walk(v, &w, v->cur, v->op, true);
}
