/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registers as operands, and their liveness (Documentation/bpf/verifier.rst, "Register liveness
 * tracking"): a read marks the same place in the states before, up to the one that wrote it.
 */
#include "verify/ver.h"

void reg_scratch(struct ver *v, unsigned n)
{
	v->scratched |= (uint16_t)(1u << n);
}

/* A reader of the whole register needs the upper half that a 32-bit op left as zero. */
static void upper_used(struct ver *v, struct reg *r, uint8_t live)
{
	if (!(live & LIVE_READ64) || !r->def)
		return;
	v->facts->op[r->def - 1].upper_used = 1;
	r->def = 0;
}

/* Marks from `parent` upwards. With `screened` the first link counts even when r was written. */
static void live_walk(struct ver *v, const struct reg *r, struct reg *parent, uint8_t live)
{
	bool first = true;
	uint32_t steps = 0;

	for (; parent; r = parent, parent = r->parent, first = false) {
		if (!first && r->live & LIVE_WRITTEN)
			break;
		if ((parent->live & LIVE_READ) == live || parent->live & LIVE_READ64)
			break;
		parent->live |= live;
		if (live == LIVE_READ64)
			parent->live &= (uint8_t)~LIVE_READ32;
		steps++;
	}
	if (steps > v->longest_walk)
		v->longest_walk = steps;
}

void live_read(struct ver *v, struct reg *r, uint8_t live)
{
	upper_used(v, r, live);
	if (!(r->live & LIVE_WRITTEN))
		live_walk(v, r, r->parent, live);
}

void slot_live_read(struct ver *v, struct frame *f, uint32_t k)
{
	live_read(v, &f->slot[k].spill, LIVE_READ64);
}

/* The reads that happened after `old`'s place also happen after cur's. */
static void live_join(struct ver *v, struct reg *cur, const struct reg *old)
{
	uint8_t was = old->live & LIVE_READ;

	if (!was)
		return;
	upper_used(v, cur, was);
	live_walk(v, cur, cur, was);
}

static void live_join_frame(struct ver *v, struct frame *cur, const struct frame *old,
			    unsigned first)
{
	uint32_t n = cur->n_slots < old->n_slots ? cur->n_slots : old->n_slots;

	for (unsigned i = first; i < BPF_FP; i++)
		live_join(v, &cur->r[i], &old->r[i]);
	for (uint32_t k = 0; k < n; k++)
		live_join(v, &cur->slot[k].spill, &old->slot[k].spill);
}

int live_propagate(struct ver *v, const struct state *old)
{
	for (uint32_t i = 0; i <= old->top; i++)
		live_join_frame(v, v->cur->frame[i], old->frame[i], frame_first_reg(old, i));
	return 0;
}

int reg_read(struct ver *v, unsigned n, bool whole)
{
	struct reg *r = reg(v, n);

	reg_scratch(v, n);
	if (r->kind == KIND_NONE)
		return fail(v, -EACCES, "R%u !read_ok", n);
	if (n != BPF_FP)
		live_read(v, r, whole || r->kind != KIND_SCALAR ? LIVE_READ64 : LIVE_READ32);
	return 0;
}

int reg_write(struct ver *v, unsigned n, bool whole)
{
	struct reg *r = reg(v, n);

	reg_scratch(v, n);
	if (n == BPF_FP)
		return fail(v, -EACCES, "frame pointer is read only");
	r->live |= LIVE_WRITTEN;
	r->def = whole ? 0 : v->op + 1;
	return 0;
}

/* After a call: r1-r5 are gone. */
void regs_clobber(struct ver *v)
{
	for (unsigned i = 0; i <= 5; i++) {
		reg_set_none(reg(v, i));
		reg(v, i)->live |= LIVE_WRITTEN;
		reg(v, i)->def = 0;
		reg_scratch(v, i);
	}
}
