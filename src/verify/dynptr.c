/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynptrs: two stack slots that only helpers fill and read. Memory got from one (a slice) carries
 * its id and ends with it.
 */
#include "verify/ver.h"

enum { HALVES = 2 };

const char *dyn_text(enum dyn_type type)
{
	static const char *const text[] = { [DYN_NONE] = "invalid",
					    [DYN_LOCAL] = "local",
					    [DYN_RINGBUF] = "ringbuf",
					    [DYN_SKB] = "skb",
					    [DYN_XDP] = "xdp" };

	return text[type];
}

static bool is_counted(uint8_t type)
{
	return type == DYN_RINGBUF;
}

static enum dyn_type arg_type(uint32_t arg)
{
	return arg & ARGF_LOCAL	    ? DYN_LOCAL
	       : arg & ARGF_RINGBUF ? DYN_RINGBUF
	       : arg & ARGF_SKB	    ? DYN_SKB
	       : arg & ARGF_XDP	    ? DYN_XDP
				    : DYN_NONE;
}

static int slot_find(struct ver *v, const struct reg *r)
{
	return object_slot(v, r, "dynptr", HALVES);
}

/* -- the end of a dynptr */

static void slice_end(struct reg *r, void *arg)
{
	const uint32_t *id = arg;

	if (r->kind == KIND_MEM && r->dyn_id == *id)
		reg_set_unknown(r);
}

int dynptr_overwrite(struct ver *v, struct frame *f, uint32_t k)
{
	uint32_t upper, id;

	if (f->slot[k].spill.ref)
		return fail(v, -EINVAL, "cannot overwrite referenced dynptr");
	upper = f->slot[k].spill.first ? k : k + 1;
	id = f->slot[k].spill.id;
	object_end(&f->slot[upper]);
	object_end(&f->slot[upper - 1]);
	state_each_reg(v->cur, slice_end, &id);
	return 0;
}

/* The helper gives up the dynptr argument: with a reference, every dynptr that shares it. */
void dynptr_end(struct ver *v, const struct call *c)
{
	for (uint32_t i = 0; i <= v->cur->top; i++) {
		struct frame *f = v->cur->frame[i];

		for (uint32_t k = 0; k < f->n_slots; k++) {
			uint32_t id = f->slot[k].spill.id;

			if (!slot_is_dynptr(&f->slot[k]) || f->slot[k].spill.ref != c->dynptr.ref)
				continue;
			object_end(&f->slot[k]);
			state_each_reg(v->cur, slice_end, &id);
		}
	}
}

/* -- arguments */

/* The helper fills the slots. */
static int out_arg(struct ver *v, struct call *c, unsigned n, enum dyn_type type)
{
	const struct reg *r = reg(v, n);
	struct reg d = { .kind = KIND_DYNPTR, .dyn = (uint8_t)type, .s = scalar_one(0) };
	int k = r->kind == KIND_STACK ? slot_find(v, r) : -1, err;
	struct frame *f;

	if (k < 0)
		return fail(v, -EINVAL, "Dynptr has to be an uninitialized dynptr");
	err = object_clear(v, n, HALVES);
	if (err)
		return err;
	f = v->cur->frame[r->frame];
	d.id = id_new(v);
	if (c->dynptr.ref)
		d.ref = c->dynptr.ref; /* a copy of a counted one */
	else if (is_counted((uint8_t)type) && refs_add(&v->cur->refs, d.ref = id_new(v), v->op))
		return -ENOMEM;
	object_set(&f->slot[k], SLOT_DYNPTR, &d, true);
	object_set(&f->slot[k - 1], SLOT_DYNPTR, &d, false);
	v->scratched_slots |= 3ull << (k - 1);
	return 0;
}

/* The dynptr that r points to, or is; NULL when there is none. */
static const struct reg *dynptr_find(struct ver *v, const struct reg *r)
{
	struct frame *f = v->cur->frame[r->frame];
	int k;

	if (r->kind == KIND_DYNPTR)
		return r;
	k = slot_find(v, r);
	if (k < 0 || (uint32_t)k >= f->n_slots || !slot_is_dynptr(&f->slot[k]) ||
	    !f->slot[k].spill.first)
		return NULL;
	slot_live_read(v, f, (uint32_t)k);
	slot_live_read(v, f, (uint32_t)k - 1);
	return &f->slot[k].spill;
}

static int release_check(struct ver *v, struct call *c, unsigned n)
{
	const struct reg *r = reg(v, n), *d;

	if (r->kind != KIND_STACK)
		return fail(v, -EINVAL, "cannot release unowned const bpf_dynptr");
	d = dynptr_find(v, r);
	if (!d || !d->ref)
		return fail(v, -EINVAL, "arg %u is an unacquired reference", n);
	c->released = n;
	c->ref = d->ref;
	return 0;
}

int dynptr_arg(struct ver *v, struct call *c, unsigned n, uint32_t arg)
{
	const struct reg *r = reg(v, n), *d;
	enum dyn_type type = arg_type(arg);
	int err = arg & ARGF_RELEASE ? release_check(v, c, n) : 0;

	if (err)
		return err;
	if (r->kind != KIND_STACK && r->kind != KIND_DYNPTR)
		return fail(v, -EINVAL,
			    "arg#%u expected pointer to stack or const struct bpf_dynptr", n - 1);
	if (arg & ARGF_UNINIT)
		return out_arg(v, c, n, type ? type : (enum dyn_type)c->dynptr.dyn);
	if (r->kind == KIND_DYNPTR && !(arg & ARGF_RDONLY))
		return fail(v, -EINVAL,
			    "cannot pass pointer to const bpf_dynptr, the helper mutates it");
	d = dynptr_find(v, r);
	if (!d)
		return fail(v, -EINVAL, "Expected an initialized dynptr as arg #%u", n - 1);
	if (type && d->dyn != type)
		return fail(v, -EINVAL, "Expected a dynptr of type %s as arg #%u", dyn_text(type),
			    n - 1);
	c->dynptr = *d;
	return 0;
}

/* A dynptr that a helper hands to its callback. */
void dynptr_callback_reg(struct ver *v, struct reg *r, enum dyn_type type)
{
	reg_set_kind(r, KIND_DYNPTR, 0);
	r->id = id_new(v);
	r->dyn = (uint8_t)type;
	r->first = true;
}
