/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparison of states. Under MATCH_SAFE an old state that led to no error covers a current one
 * when everything that the old path read is as wide or wider there, and numbers count only where
 * their value decided something (precise). MATCH_WITHIN compares everything, ranges by inclusion;
 * MATCH_EXACT everything by equality.
 */
#include "verify/ver.h"

#include <string.h>

enum { IDS_MAX = VERIFY_FRAMES * (BPF_REGS + BPF_STACK / 8) + 64 };

/* Ids differ from path to path; what counts is that equal ones correspond to equal ones. */
struct idmap {
	uint32_t n, temp;
	struct {
		uint32_t old, cur;
	} at[IDS_MAX];
};

static bool ids_pair(struct idmap *m, uint32_t old, uint32_t cur)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->at[i].old == old)
			return m->at[i].cur == cur;
		if (m->at[i].cur == cur)
			return false;
	}
	if (m->n == IDS_MAX)
		return false;
	m->at[m->n].old = old;
	m->at[m->n++].cur = cur;
	return true;
}

static bool ids_match(struct idmap *m, uint32_t old, uint32_t cur)
{
	if (!old != !cur)
		return false;
	return !old || ids_pair(m, old, cur);
}

/* A number without an id is like one whose id nothing else has. */
static bool ids_match_numbers(struct idmap *m, uint32_t old, uint32_t cur)
{
	old = old ? old : ++m->temp;
	cur = cur ? cur : ++m->temp;
	return ids_pair(m, old, cur);
}

static bool same_base(const struct reg *a, const struct reg *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->off == b->off && a->n == b->n &&
	       a->map == b->map && a->uid == b->uid && a->frame == b->frame && a->dyn == b->dyn &&
	       a->first == b->first;
}

static bool same_value(const struct reg *a, const struct reg *b)
{
	return memcmp(&a->s, &b->s, sizeof(a->s)) == 0;
}

static bool within(const struct reg *old, const struct reg *cur)
{
	return dom64_within(&old->s.d, &cur->s.d) && dom32_within(&old->s.w, &cur->s.w) &&
	       dom64_bits_within(&old->s.d, &cur->s.d);
}

static bool same_ids(struct idmap *m, const struct reg *old, const struct reg *cur)
{
	return ids_match(m, old->id, cur->id) && ids_match(m, old->ref, cur->ref) &&
	       ids_match(m, old->dyn_id, cur->dyn_id);
}

static bool exact(struct idmap *m, const struct reg *old, const struct reg *cur)
{
	return same_base(old, cur) && same_value(old, cur) && same_ids(m, old, cur);
}

static bool number_covers(struct idmap *m, const struct reg *old, const struct reg *cur,
			  enum match how)
{
	if (how == MATCH_SAFE && !old->precise)
		return true;
	if ((old->id & ID_PLUS_OFF) != (cur->id & ID_PLUS_OFF))
		return false;
	if (old->id & ID_PLUS_OFF && old->off != cur->off)
		return false;
	return within(old, cur) && ids_match_numbers(m, old->id, cur->id);
}

static bool reg_covers(struct idmap *m, const struct reg *old, const struct reg *cur,
		       enum match how)
{
	if (how == MATCH_EXACT)
		return exact(m, old, cur);
	if (how == MATCH_SAFE && (!(old->live & LIVE_READ) || old->kind == KIND_NONE))
		return true;
	if (old->kind != cur->kind || old->flags != cur->flags)
		return false;
	switch (old->kind) {
	case KIND_NONE:
		return true;
	case KIND_SCALAR:
		return number_covers(m, old, cur, how);
	case KIND_MAP_VALUE:
	case KIND_MAP_KEY:
	case KIND_MEM:
	case KIND_BUF:
	case KIND_TP_BUF:
		return same_base(old, cur) && within(old, cur) && same_ids(m, old, cur);
	case KIND_PKT:
	case KIND_PKT_META:
		/* Below 0 it says that the end was passed, which decided branches. */
		return ((int32_t)old->n < 0 ? old->n == cur->n
					    : (int32_t)cur->n >= (int32_t)old->n) &&
		       old->off == cur->off && ids_match(m, old->id, cur->id) && within(old, cur);
	default:
		return exact(m, old, cur);
	}
}

/* A slot as one number: a spilled one, or any when all bytes are unknown. NULL otherwise. */
static const struct reg *slot_number(const struct slot *s)
{
	static const struct reg unknown = {
		.kind = KIND_SCALAR,
		.live = LIVE_READ,
		.s = { { 0, UINT64_MAX, 0, UINT64_MAX, INT64_MIN, INT64_MAX },
		       { 0, UINT32_MAX, 0, UINT32_MAX, INT32_MIN, INT32_MAX } },
	};

	if (slot_is_scalar(s))
		return &s->spill;
	for (int i = 0; i < 8; i++) {
		if (s->type[i] != SLOT_MISC && s->type[i] != SLOT_NONE)
			return NULL;
	}
	return &unknown;
}

static bool byte_covers(uint8_t old, uint8_t cur, enum match how)
{
	if (how != MATCH_SAFE || cur == SLOT_DYNPTR || cur == SLOT_ITER)
		return old == cur;
	/* Uninitialised bytes may be read as unknown numbers. */
	return old == SLOT_NONE || old == SLOT_MISC || old == cur;
}

/* How many rounds it has made does not count. */
static bool iter_same(struct idmap *m, const struct reg *old, const struct reg *cur)
{
	return old->iter == cur->iter && old->first == cur->first && old->drained == cur->drained &&
	       ids_match(m, old->ref, cur->ref);
}

static bool slot_covers(struct idmap *m, const struct slot *old, const struct slot *cur,
			enum match how)
{
	static const struct slot none;
	const struct reg *a, *b;

	if (how == MATCH_SAFE && !(old->spill.live & LIVE_READ))
		return true;
	a = slot_number(old);
	b = cur ? slot_number(cur) : NULL;
	cur = cur ? cur : &none;
	if (how == MATCH_SAFE && a && b)
		return a == b || reg_covers(m, a, b, how);
	for (int i = 0; i < 8; i++) {
		if (!byte_covers(old->type[i], cur->type[i], how))
			return false;
	}
	if (slot_is_iter(old))
		return iter_same(m, &old->spill, &cur->spill);
	if (slot_is_dynptr(old))
		return exact(m, &old->spill, &cur->spill);
	if (!slot_is_spill(old))
		return true;
	return slot_is_spill(cur) && reg_covers(m, &old->spill, &cur->spill, how);
}

static bool frame_covers(struct idmap *m, const struct frame *old, const struct frame *cur,
			 enum match how)
{
	if (old->callsite != cur->callsite || old->sub != cur->sub ||
	    old->callback != cur->callback || old->async != cur->async ||
	    old->callback_depth > cur->callback_depth)
		return false;
	for (unsigned i = 0; i < BPF_REGS; i++) {
		if (!reg_covers(m, &old->r[i], &cur->r[i], how))
			return false;
	}
	for (uint32_t k = 0; k < old->n_slots; k++) {
		if (!slot_covers(m, &old->slot[k], k < cur->n_slots ? &cur->slot[k] : NULL, how))
			return false;
	}
	return true;
}

static bool refs_match(struct idmap *m, const struct refs *old, const struct refs *cur)
{
	if (old->n != cur->n)
		return false;
	for (uint32_t i = 0; i < old->n; i++) {
		if (!ids_match(m, old->id[i], cur->id[i]))
			return false;
	}
	return true;
}

bool state_equal(struct ver *v, struct state *old, struct state *cur, enum match how)
{
	struct idmap m;

	if (old->top != cur->top || old->lock != cur->lock || old->rcu != cur->rcu ||
	    old->preempt != cur->preempt)
		return false;
	m.n = 0;
	m.temp = v->id_gen;
	if (!ids_match(&m, old->lock_id, cur->lock_id))
		return false;
	for (uint32_t i = 0; i <= old->top; i++) {
		if (!frame_covers(&m, old->frame[i], cur->frame[i], how))
			return false;
	}
	return refs_match(&m, &old->refs, &cur->refs);
}

static void widen_one(struct idmap *m, const struct reg *old, struct reg *cur)
{
	if (old->kind != KIND_SCALAR || cur->kind != KIND_SCALAR || old->precise || cur->precise)
		return;
	if (!exact(m, old, cur))
		reg_set_unknown(cur);
}

/* Numbers that have decided nothing so far and that change from round to round may be anything:
 * so a loop without a known end converges. */
void state_widen(const struct state *old, struct state *cur)
{
	struct idmap m;

	m.n = 0;
	for (uint32_t i = 0; old && i <= old->top && i <= cur->top; i++) {
		const struct frame *a = old->frame[i];
		struct frame *b = cur->frame[i];

		for (unsigned n = 0; n < BPF_REGS; n++)
			widen_one(&m, &a->r[n], &b->r[n]);
		for (uint32_t k = 0; k < a->n_slots && k < b->n_slots; k++) {
			if (slot_is_spill(&a->slot[k]) && slot_is_spill(&b->slot[k]))
				widen_one(&m, &a->slot[k].spill, &b->slot[k].spill);
		}
	}
}
