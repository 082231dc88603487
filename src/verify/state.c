/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/state.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

const struct kind_row kind_rows[KIND_COUNT] = {
#define KIND(id, text, props) [KIND_##id] = { text, props },
#include "verify/kind.def"
};

struct state *state_new(void)
{
	struct state *s = mem_zalloc(1, sizeof(*s));

	if (s)
		s->top = UINT32_MAX;
	return s;
}

static void frame_free(struct frame *f)
{
	if (f)
		mem_free(f->slot);
	mem_free(f);
}

void state_clear(struct state *s)
{
	for (uint32_t i = 0; i < VERIFY_FRAMES; i++)
		frame_free(s->frame[i]);
	mem_free(s->hist);
	mem_free(s->refs.id);
	mem_free(s->refs.op);
}

void state_free(struct state *s)
{
	if (s)
		state_clear(s);
	mem_free(s);
}

int frame_grow(struct frame *f, uint32_t n_slots)
{
	struct slot *p;

	if (n_slots <= f->n_slots)
		return 0;
	p = mem_resize(f->slot, n_slots, sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + f->n_slots, 0, (n_slots - f->n_slots) * sizeof(*p));
	f->slot = p;
	f->n_slots = n_slots;
	return 0;
}

static int frame_copy(struct frame **dst, const struct frame *src)
{
	struct frame *f = *dst ? *dst : mem_zalloc(1, sizeof(*f));
	struct slot *slot;

	if (!f)
		return -ENOMEM;
	*dst = f;
	slot = f->slot;
	if (f->n_slots < src->n_slots) {
		slot = mem_resize(slot, src->n_slots, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
	}
	if (src->n_slots)
		memcpy(slot, src->slot, src->n_slots * sizeof(*slot));
	*f = *src;
	f->slot = slot;
	return 0;
}

static int refs_copy(struct refs *dst, const struct refs *src)
{
	size_t cap = dst->cap, cap2 = dst->cap;

	if (vec_grow((void **)&dst->id, &cap, src->n, sizeof(*dst->id)) ||
	    vec_grow((void **)&dst->op, &cap2, src->n, sizeof(*dst->op)))
		return -ENOMEM;
	dst->cap = (uint32_t)cap;
	dst->n = src->n;
	if (src->n) {
		memcpy(dst->id, src->id, src->n * sizeof(*src->id));
		memcpy(dst->op, src->op, src->n * sizeof(*src->op));
	}
	return 0;
}

int state_copy(struct state *dst, const struct state *src)
{
	struct state old = *dst;

	for (uint32_t i = 0; i <= src->top; i++) {
		int err = frame_copy(&dst->frame[i], src->frame[i]);

		if (err)
			return err;
	}
	for (uint32_t i = src->top + 1; i < VERIFY_FRAMES; i++) {
		frame_free(dst->frame[i]);
		dst->frame[i] = NULL;
	}
	if (refs_copy(&dst->refs, &src->refs))
		return -ENOMEM;
	memcpy(old.frame, dst->frame, sizeof(old.frame));
	old.refs = dst->refs;
	*dst = *src;
	memcpy(dst->frame, old.frame, sizeof(old.frame));
	dst->refs = old.refs;
	dst->hist = old.hist;
	dst->cap_hist = old.cap_hist;
	dst->n_hist = 0;
	return 0;
}

size_t state_bytes(const struct state *s)
{
	size_t n = sizeof(*s) + s->cap_hist * sizeof(*s->hist) +
		   s->refs.cap * (sizeof(*s->refs.id) + sizeof(*s->refs.op));

	for (uint32_t i = 0; i < VERIFY_FRAMES; i++) {
		if (s->frame[i])
			n += sizeof(struct frame) + s->frame[i]->n_slots * sizeof(struct slot);
	}
	return n;
}

int state_push_frame(struct state *s, uint32_t sub, uint32_t callsite)
{
	struct frame *f = mem_zalloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	s->frame[++s->top] = f;
	f->sub = sub;
	f->callsite = callsite;
	reg_set_kind(&f->r[BPF_FP], KIND_STACK, 0);
	f->r[BPF_FP].frame = (uint8_t)s->top;
	return 0;
}

void state_pop_frame(struct state *s)
{
	frame_free(s->frame[s->top]);
	s->frame[s->top--] = NULL;
}

void reg_set(struct reg *dst, const struct reg *src)
{
	struct reg *parent = dst->parent;
	uint8_t live = dst->live;
	uint32_t def = dst->def;

	*dst = *src;
	dst->parent = parent;
	dst->live = live;
	dst->def = def;
}

void reg_set_kind(struct reg *r, enum kind kind, uint8_t flags)
{
	struct reg n = { .kind = (uint8_t)kind, .flags = flags, .s = scalar_one(0) };

	reg_set(r, &n);
}

void reg_set_unknown(struct reg *r)
{
	struct reg n = { .kind = KIND_SCALAR, .s = scalar_any() };

	reg_set(r, &n);
}

void reg_set_const(struct reg *r, uint64_t v)
{
	struct reg n = { .kind = KIND_SCALAR, .s = scalar_one(v) };

	reg_set(r, &n);
}

void reg_set_none(struct reg *r)
{
	struct reg n = { .kind = KIND_NONE, .s = scalar_any() };

	reg_set(r, &n);
}

void state_each_reg(struct state *s, reg_fn f, void *arg)
{
	for (uint32_t i = 0; i <= s->top; i++) {
		for (unsigned r = 0; r < BPF_REGS; r++)
			f(&s->frame[i]->r[r], arg);
		for (uint32_t k = 0; k < s->frame[i]->n_slots; k++) {
			if (slot_is_spill(&s->frame[i]->slot[k]))
				f(&s->frame[i]->slot[k].spill, arg);
		}
	}
}

int refs_add(struct refs *r, uint32_t id, uint32_t op)
{
	size_t cap = r->cap, cap2 = r->cap;

	if (vec_grow((void **)&r->id, &cap, r->n + 1, sizeof(*r->id)) ||
	    vec_grow((void **)&r->op, &cap2, r->n + 1, sizeof(*r->op)))
		return -ENOMEM;
	r->cap = (uint32_t)cap;
	r->id[r->n] = id;
	r->op[r->n++] = op;
	return 0;
}

bool refs_remove(struct refs *r, uint32_t id)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (r->id[i] != id)
			continue;
		memmove(&r->id[i], &r->id[i + 1], (r->n - i - 1) * sizeof(*r->id));
		memmove(&r->op[i], &r->op[i + 1], (r->n - i - 1) * sizeof(*r->op));
		r->n--;
		return true;
	}
	return false;
}
