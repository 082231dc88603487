/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that are known to be related: numbers with one id are equal, up to a fixed distance;
 * pointers with one id are NULL together.
 */
#include "verify/ver.h"

static bool same_id(const struct reg *r, uint32_t id)
{
	return r->kind == KIND_SCALAR && r->id && ((r->id ^ id) & ~ID_PLUS_OFF) == 0;
}

/* One more place; beyond the limit a place loses its link, since the history has no room. */
static void collect_one(struct reg *r, uint32_t id, struct hist *h, uint16_t place)
{
	if (!same_id(r, id))
		return;
	for (unsigned i = 0; i < h->n_linked; i++) {
		if (h->linked[i] == place)
			return;
	}
	if (h->n_linked < LINKED_MAX)
		h->linked[h->n_linked++] = place;
	else
		r->id = 0;
}

/* Puts the places of s that share the id into h. */
void link_collect(struct state *s, uint32_t id, struct hist *h)
{
	for (uint32_t i = s->top + 1; i-- > 0;) {
		struct frame *f = s->frame[i];

		for (unsigned n = 0; n < BPF_REGS; n++)
			collect_one(&f->r[n], id, h, place_pack(i, false, n));
		for (uint32_t k = 0; k < f->n_slots; k++) {
			if (slot_is_spill(&f->slot[k]))
				collect_one(&f->slot[k].spill, id, h, place_pack(i, true, k));
		}
	}
}

static struct reg *place_reg(struct state *s, uint16_t place)
{
	struct frame *f = s->frame[place >> 8];

	return place & 128 ? &f->slot[place & 127].spill : &f->r[place & 127];
}

/* r becomes known + (r's distance - known's distance). */
static void link_follow(struct reg *r, const struct reg *known)
{
	struct reg old = *r;
	struct scalar by = scalar_one((uint64_t)((int64_t)old.off - known->off));

	reg_set(r, known);
	if (!((old.id | known->id) & ID_PLUS_OFF) || old.off == known->off)
		return;
	r->id = old.id;
	r->off = old.off;
	r->s = scalar_alu(ALU_ADD, &known->s, &by);
}

/* What has been learnt of `known` goes to all places of h that share its id. */
void link_sync(struct ver *v, struct state *s, const struct reg *known, const struct hist *h)
{
	struct reg k = *known;

	for (unsigned i = 0; i < h->n_linked; i++) {
		struct reg *r = place_reg(s, h->linked[i]);

		if (r != known && same_id(r, k.id))
			link_follow(r, &k);
	}
}

struct null_arg {
	const struct ver *v;
	uint32_t id;
	bool is_null;
};

/* What a checked look-up result is. */
static void not_null(const struct ver *v, struct reg *r)
{
	r->flags &= (uint8_t)~RF_NULL;
	if (r->kind != KIND_MAP_VALUE) {
		r->id = 0;
		return;
	}
	/* Which look-up it came from counts for locks, and for timers of inner maps. */
	if (r->map->inner) {
		r->kind = KIND_MAP;
		r->map = r->map->inner;
		r->uid = map_has(v, r->map, SPECIAL_TIMER) || map_has(v, r->map, SPECIAL_WORK)
			     ? r->id
			     : 0;
	} else if (r->map->type == BPF_MAP_TYPE_XSKMAP) {
		r->kind = KIND_XDP_SOCK;
	} else if (r->map->type == BPF_MAP_TYPE_SOCKMAP || r->map->type == BPF_MAP_TYPE_SOCKHASH) {
		r->kind = KIND_SOCK;
	}
	if (r->kind != KIND_MAP_VALUE || !map_has(v, r->map, SPECIAL_LOCK))
		r->id = 0;
}

static void null_one(struct reg *r, void *arg)
{
	const struct null_arg *a = arg;

	if (!(r->flags & RF_NULL) || r->id != a->id || r->off || !scalar_is_one(&r->s) ||
	    r->s.d.val)
		return;
	if (a->is_null) {
		reg_set_const(r, 0);
		return;
	}
	not_null(a->v, r);
}

/* Register n of s, and every copy of it, is NULL or is not. */
void null_mark(struct ver *v, struct state *s, uint32_t n, bool is_null)
{
	struct reg *r = &s->frame[s->top]->r[n];
	struct null_arg a = { v, r->id, is_null };

	if (r->ref && r->ref == r->id && is_null)
		refs_remove(&s->refs, r->ref);
	state_each_reg(s, null_one, &a);
}
