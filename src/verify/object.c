/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects on the stack that only helpers fill and read: dynptrs and iterators. Each takes whole
 * slots, whose first (the lowest address, so the highest slot) pointers to it point to.
 */
#include "verify/ver.h"

#include <string.h>

/* The first slot of an object of n slots that r points to, -1 with a message when none can lie
 * there. */
int object_slot(struct ver *v, const struct reg *r, const char *what, unsigned n)
{
	int64_t off = r->off + (int64_t)r->s.d.val;

	if (!scalar_is_one(&r->s)) {
		fail(v, -EINVAL, "%s has to be at a constant offset", what);
		return -1;
	}
	if (off % 8 || off > -8 * (int64_t)n || off < -BPF_STACK) {
		fail(v, -EINVAL, "cannot pass in %s at an offset=%d", what, (int)off);
		return -1;
	}
	return (int)(-off / 8 - 1);
}

/* The running op makes an object of n slots at register `addr`: whatever was there is gone. */
int object_clear(struct ver *v, unsigned addr, unsigned n)
{
	int err = 0;

	for (unsigned i = 0; !err && i < n; i++) {
		struct access a = {
			.off = (int32_t)i * 8, .size = 8, .write = true, .reg = -1, .helper = true
		};

		err = mem_access(v, addr, &a);
	}
	return err;
}

void object_set(struct slot *s, enum slot_type type, const struct reg *r, bool first)
{
	memset(s->type, type, sizeof(s->type));
	reg_set(&s->spill, r);
	s->spill.first = first;
	s->spill.live |= LIVE_WRITTEN;
}

void object_end(struct slot *s)
{
	memset(s->type, SLOT_NONE, sizeof(s->type));
	reg_set_none(&s->spill);
	s->spill.live |= LIVE_WRITTEN;
}

/* Slot k of f is written to as data. A dynptr ends with its slices, unless it holds a reference;
 * an iterator's slot becomes data, and what it refers to can no longer be given back. */
int object_overwrite(struct ver *v, struct frame *f, uint32_t k)
{
	struct slot *s = &f->slot[k];

	if (slot_is_dynptr(s))
		return dynptr_overwrite(v, f, k);
	if (!slot_is_iter(s))
		return 0;
	memset(s->type, SLOT_MISC, sizeof(s->type));
	reg_set_none(&s->spill);
	return 0;
}
