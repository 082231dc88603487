/* SPDX-License-Identifier: BSD-2-Clause */
/* References that a program must give back: sockets, ring buffer records. */
#include "verify/ver.h"

static void forget_one(struct reg *r, void *arg)
{
	const uint32_t *id = arg;

	if (r->ref == *id)
		reg_set_unknown(r);
}

/* How many of the oldest references are the caller's of the callback that runs, which must not
 * give them back: it may run any number of times. */
static uint32_t refs_outer(const struct ver *v)
{
	for (uint32_t i = v->cur->top + 1; i-- > 0;) {
		if (v->cur->frame[i]->callback)
			return v->cur->frame[i]->n_refs;
	}
	return 0;
}

/* The reference is given back; every copy of the pointer is an unknown number from now on. */
int ref_release(struct ver *v, uint32_t id)
{
	const struct refs *r = &v->cur->refs;

	for (uint32_t i = 0; i < refs_outer(v); i++) {
		if (r->id[i] == id)
			return -EINVAL;
	}
	if (!refs_remove(&v->cur->refs, id))
		return -EINVAL;
	state_each_reg(v->cur, forget_one, &id);
	return 0;
}

/* At the end of a program, or of a callback for what it acquired itself. */
int refs_leak_check(struct ver *v)
{
	const struct refs *r = &v->cur->refs;
	uint32_t from = top(v)->callback ? top(v)->n_refs : 0;

	if (v->cur->top && !top(v)->callback)
		return 0;
	for (uint32_t i = from; i < r->n; i++)
		fail(v, -EINVAL, "Unreleased reference id=%u alloc_insn=%u", r->id[i],
		     slot_of(v, r->op[i]));
	return r->n > from ? -EINVAL : 0;
}
