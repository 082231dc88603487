/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open-coded iterators. NEXT either ends the loop (the iterator is drained) or gives an element;
 * both are walked, and a state at NEXT that lies within one of the rounds before needs no walk.
 */
#include "verify/ver.h"

static int slot_of_iter(struct ver *v, const struct reg *r, enum iter_type type)
{
	return object_slot(v, r, "iter", iter_slots(type));
}

/* Are the slots free of iterators? */
static bool slots_free(const struct frame *f, int k, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t at = (uint32_t)k - i;

		if (at < f->n_slots && slot_is_iter(&f->slot[at]))
			return false;
	}
	return true;
}

static bool slots_valid(const struct frame *f, int k, enum iter_type type)
{
	for (unsigned i = 0; i < iter_slots(type); i++) {
		uint32_t at = (uint32_t)k - i;

		if (at >= f->n_slots || !slot_is_iter(&f->slot[at]) ||
		    f->slot[at].spill.iter != type || f->slot[at].spill.first != (i == 0))
			return false;
	}
	return true;
}

static int iter_new(struct ver *v, unsigned n, enum iter_type type)
{
	const struct reg *r = reg(v, n);
	struct reg it = { .kind = KIND_ITER, .iter = (uint8_t)type, .s = scalar_one(0) };
	int k = slot_of_iter(v, r, type), err;
	struct frame *f = v->cur->frame[r->frame];
	uint32_t ref;

	if (k < 0 || !slots_free(f, k, iter_slots(type)))
		return fail(v, -EINVAL, "expected uninitialized iter_%s as arg #%u",
			    iter_name(type), n - 1);
	err = object_clear(v, n, iter_slots(type));
	if (err)
		return err;
	ref = id_new(v);
	if (refs_add(&v->cur->refs, ref, v->op))
		return -ENOMEM;
	for (unsigned i = 0; i < iter_slots(type); i++) {
		it.ref = i ? 0 : ref;
		object_set(&f->slot[(unsigned)k - i], SLOT_ITER, &it, i == 0);
		v->scratched_slots |= 1ull << ((unsigned)k - i);
	}
	return 0;
}

int iter_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n);
	enum iter_type type = (enum iter_type)ARG_NUMBER(arg);
	struct frame *f = v->cur->frame[r->frame];
	int k;

	if (r->kind != KIND_STACK)
		return fail(v, -EINVAL, "arg#%u expected pointer to an iterator on stack", n - 1);
	if (arg & ARGF_UNINIT)
		return iter_new(v, n, type);
	k = slot_of_iter(v, r, type);
	if (k < 0 || !slots_valid(f, k, type))
		return fail(v, -EINVAL, "expected an initialized iter_%s as arg #%u",
			    iter_name(type), n - 1);
	for (unsigned i = 0; i < iter_slots(type); i++)
		slot_live_read(v, f, (uint32_t)k - i);
	c->ref = f->slot[k].spill.ref;
	c->iter_frame = r->frame;
	c->iter_slot = (uint32_t)k;
	if (!(arg & ARGF_RELEASE))
		return 0;
	for (unsigned i = 0; i < iter_slots(type); i++)
		object_end(&f->slot[(unsigned)k - i]);
	return ref_release(v, c->ref);
}

/* r0 may be NULL: the walk goes on with the loop's end, and later with one more round. */
int iter_next(struct ver *v, const struct call *c)
{
	struct reg *it = &v->cur->frame[c->iter_frame]->slot[c->iter_slot].spill;
	struct state *before = v->cur->parent ? state_before(v, v->cur->parent, v->op) : NULL;
	struct state *s;

	v->scratched_slots |= c->iter_frame == v->cur->top ? 1ull << c->iter_slot : 0;
	if (!it->drained) {
		s = state_push(v, v->op + 1, v->op);
		if (!s)
			return -E2BIG;
		s->frame[c->iter_frame]->slot[c->iter_slot].spill.n++;
		state_widen(before, s);
		state_top(s)->r[0].flags &= (uint8_t)~RF_NULL;
	}
	it->drained = true;
	reg_set_const(reg(v, 0), 0);
	return 0;
}

/* May the round that begins in the current state be left out, when an older one covers it? Only
 * if it is one: a drained iterator has none. */
bool iter_runs(const struct ver *v)
{
	const struct reg *r = reg(v, 1);
	int64_t off = r->off + (int64_t)r->s.d.val;
	const struct frame *f = r->kind == KIND_STACK ? v->cur->frame[r->frame] : NULL;
	uint32_t k = (uint32_t)(-off / 8 - 1);

	return f && off < 0 && k < f->n_slots && slot_is_iter(&f->slot[k]) &&
	       !f->slot[k].spill.drained;
}

/* Are the rounds different ones? Then equal states are no endless loop. */
bool iter_depths_differ(const struct state *old, const struct state *cur)
{
	for (uint32_t i = 0; i <= old->top; i++) {
		const struct frame *a = old->frame[i], *b = cur->frame[i];

		for (uint32_t k = 0; k < a->n_slots && k < b->n_slots; k++) {
			if (slot_is_iter(&a->slot[k]) && !a->slot[k].spill.drained &&
			    a->slot[k].spill.n != b->slot[k].spill.n)
				return true;
		}
	}
	return false;
}
