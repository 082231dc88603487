/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kept states: what was found safe at an op need not be walked again. A state becomes comparable
 * once all paths from it have ended (branches == 0), or by the rules for loops that converge.
 */
#include "verify/ver.h"

#include <string.h>

#include "base/mem.h"

enum { MISS_LIMIT = 3, MISS_LIMIT_LOOP = 64, HIST_LONG = 40 };

static struct state *loop_entry(struct state *s)
{
	struct state *e = s->loop_entry;

	while (e && e->loop_entry && e->loop_entry != e)
		e = e->loop_entry;
	s->loop_entry = e;
	return e;
}

/* s is part of a loop through `head`, an unfinished state above it. */
static void loop_enter(struct state *s, struct state *head)
{
	struct state *s1 = loop_entry(s), *h1 = loop_entry(head);

	s1 = s1 ? s1 : s;
	h1 = h1 ? h1 : head;
	if (!h1->branches || h1->dfs_depth > s1->dfs_depth)
		return;
	s->loop_entry = head;
	head->used_as_loop_entry = true;
}

/* A path from s ended. */
void branches_done(struct ver *v, struct state *s)
{
	for (; s; s = s->parent) {
		if (--s->branches)
			break;
		if (s->parent && s->loop_entry)
			loop_enter(s->parent, s->loop_entry);
	}
}

static bool same_calls(const struct state *a, const struct state *b)
{
	if (a->top != b->top)
		return false;
	for (uint32_t i = 0; i <= a->top; i++) {
		if (a->frame[i]->callsite != b->frame[i]->callsite)
			return false;
	}
	return true;
}

static void reg_clean(struct reg *r)
{
	r->live |= LIVE_DONE;
	if (!(r->live & LIVE_READ))
		reg_set_none(r);
}

/* Forgets what no path from the finished state s has read. */
static void state_clean(struct state *s)
{
	for (uint32_t i = 0; i <= s->top; i++) {
		struct frame *f = s->frame[i];

		for (unsigned r = 0; r < BPF_FP; r++)
			reg_clean(&f->r[r]);
		for (uint32_t k = 0; k < f->n_slots; k++) {
			reg_clean(&f->slot[k].spill);
			if (!(f->slot[k].spill.live & LIVE_READ))
				memset(f->slot[k].type, SLOT_NONE, 8);
		}
	}
	s->cleaned = true;
}

static void states_clean(struct ver *v)
{
	for (struct seen *s = v->seen[v->op]; s; s = s->next) {
		struct state *head;

		if (s->state.branches || s->state.cleaned || !same_calls(&s->state, v->cur))
			continue;
		head = loop_entry(&s->state);
		if (!head || !head->branches)
			state_clean(&s->state);
	}
}

static void seen_free_one(struct ver *v, struct seen *s)
{
	if (v->in->watch)
		v->in->watch->forget(v->in->watch->arg, &s->state);
	v->bytes -= s->bytes;
	state_clear(&s->state);
	mem_free(s);
}

void seen_free(struct ver *v)
{
	for (uint32_t i = 0; v->seen && i < v->u->n_ops; i++) {
		while (v->seen[i]) {
			struct seen *s = v->seen[i];

			v->seen[i] = s->next;
			seen_free_one(v, s);
		}
	}
	while (v->evicted) {
		struct seen *s = v->evicted;

		v->evicted = s->next;
		seen_free_one(v, s);
	}
}

/* Takes a state that rarely matches out of its list. It lives on while others refer to it. */
static void seen_evict(struct ver *v, struct seen **at)
{
	struct seen *s = *at;

	*at = s->next;
	if (!s->state.branches && !s->state.used_as_loop_entry) {
		seen_free_one(v, s);
		v->peak_states--;
		return;
	}
	s->next = v->evicted;
	v->evicted = s;
}

/* Cheap: could cur be the same as old, one round later? */
static bool may_loop(const struct state *old, const struct state *cur)
{
	const struct frame *a, *b;

	if (old->top != cur->top)
		return false;
	a = old->frame[old->top];
	b = cur->frame[cur->top];
	for (unsigned i = 0; i < BPF_REGS; i++) {
		if (a->r[i].kind != b->r[i].kind || a->r[i].off != b->r[i].off ||
		    memcmp(&a->r[i].s, &b->r[i].s, sizeof(a->r[i].s)))
			return false;
	}
	return true;
}

static int loop_refuse(struct ver *v, const struct state *old)
{
	log_source(v);
	fail(v, -EINVAL, "infinite loop detected at insn %u", slot_of(v, v->op));
	note(v, "cur state:");
	log_state(v, v->cur, true);
	note(v, "old state:");
	log_state(v, old, true);
	return -EINVAL;
}

enum verdict { MISS, HIT, REFUSE };

/* s is a state on the path that leads here, or has a sibling still to be walked. */
static enum verdict unfinished(struct ver *v, struct seen *s, bool force, bool *add)
{
	struct state *old = &s->state, *cur = v->cur;

	if (v->u->ops[v->op].code == OP_MAYGOTO && old->may_goto != cur->may_goto &&
	    state_equal(v, old, cur, MATCH_WITHIN)) {
		loop_enter(cur, old);
		return HIT;
	}
	if (v->point[v->op].iter) {
		if (!state_equal(v, old, cur, MATCH_WITHIN) || !iter_runs(v))
			return MISS;
		loop_enter(cur, old);
		return HIT;
	}
	if (v->point[v->op].callback)
		return state_equal(v, old, cur, MATCH_WITHIN) ? HIT : MISS;
	/* A timer's callback that was entered anew; the state before has not come to its end. */
	if (cur->frame[0]->async && old->frame[0]->async_entry != cur->frame[0]->async_entry)
		return MISS;
	if (may_loop(old, cur) && old->may_goto == cur->may_goto &&
	    old->callback_unroll == cur->callback_unroll && !iter_depths_differ(old, cur) &&
	    state_equal(v, old, cur, MATCH_EXACT)) {
		loop_refuse(v, old);
		return REFUSE;
	}
	if (!force && v->jumps - v->prev_jumps < 20 && v->insns - v->prev_insns < 100)
		*add = false;
	return MISS;
}

static enum verdict finished(struct ver *v, struct seen *s)
{
	struct state *head = loop_entry(&s->state);
	bool loop = head && head->branches;

	if (!state_equal(v, &s->state, v->cur, loop ? MATCH_WITHIN : MATCH_SAFE))
		return MISS;
	if (loop)
		loop_enter(v->cur, head);
	return HIT;
}

static int hit(struct ver *v, struct seen *s)
{
	struct hist h = { .op = v->op, .prev = v->prev };
	int err;

	s->hits++;
	err = live_propagate(v, &s->state);
	if (!err && v->point[v->op].jump)
		err = hist_push(v, &h);
	if (!err)
		err = precise_propagate(v, &s->state);
	if (!err && v->in->watch)
		v->in->watch->prune(v->in->watch->arg, v->cur, &s->state);
	return err ? err : 1;
}

static void reg_imprecise(struct reg *r, void *arg)
{
	r->precise = 0;
}

static void reg_link(struct reg *cur, struct reg *kept)
{
	cur->parent = kept;
	cur->live = 0;
}

/* cur goes on as a child of the state that was kept. */
static void state_link(struct state *cur, struct state *kept)
{
	for (uint32_t i = 0; i <= cur->top; i++) {
		struct frame *c = cur->frame[i], *k = kept->frame[i];

		for (unsigned r = 0; r < BPF_REGS; r++)
			c->r[r].live = 0;
		for (unsigned r = frame_first_reg(cur, i); r < BPF_FP; r++)
			reg_link(&c->r[r], &k->r[r]);
		for (uint32_t n = 0; n < c->n_slots; n++)
			reg_link(&c->slot[n].spill, &k->slot[n].spill);
	}
}

static int state_keep(struct ver *v)
{
	struct seen *s = mem_zalloc(1, sizeof(*s));
	struct state *cur = v->cur;

	if (!s)
		return -ENOMEM;
	v->total_states++;
	v->peak_states++;
	v->prev_jumps = v->jumps;
	v->prev_insns = v->insns;
	state_each_reg(cur, reg_imprecise, NULL);
	s->next = v->seen[v->op];
	v->seen[v->op] = s;
	s->state.top = UINT32_MAX;
	if (state_copy(&s->state, cur))
		return -ENOMEM;
	s->state.at = v->op;
	s->state.hist = cur->hist;
	s->state.n_hist = cur->n_hist;
	s->state.cap_hist = cur->cap_hist;
	cur->hist = NULL;
	cur->n_hist = cur->cap_hist = 0;
	cur->parent = &s->state;
	cur->first_op = v->op;
	cur->dfs_depth = s->state.dfs_depth + 1;
	cur->loop_entry = NULL;
	state_link(cur, &s->state);
	return state_count(v, &s->state, &s->bytes);
}

int prune_visit(struct ver *v)
{
	bool force = v->in->test_states || v->point[v->op].force || v->cur->n_hist > HIST_LONG;
	bool add = force || (v->jumps - v->prev_jumps >= 2 && v->insns - v->prev_insns >= 8);
	struct seen **at = &v->seen[v->op];
	uint32_t n = 0;

	states_clean(v);
	while (*at) {
		struct seen *s = *at;
		bool open = s->state.branches != 0;
		uint32_t limit = v->point[v->op].force && open ? MISS_LIMIT_LOOP : MISS_LIMIT;
		enum verdict r;

		n++;
		r = open ? unfinished(v, s, force, &add) : finished(v, s);
		if (r == REFUSE)
			return -EINVAL;
		if (r == HIT)
			return hit(v, s);
		s->misses += add;
		if (s->misses > s->hits * limit + limit)
			seen_evict(v, at);
		else
			at = &s->next;
	}
	v->max_states = v->max_states > n ? v->max_states : n;
	return add ? state_keep(v) : 0;
}
