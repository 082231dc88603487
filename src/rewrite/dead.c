/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What control never reaches is left out: ops, subprograms, the way that a conditional jump never
 * takes, and jumps to what follows them anyway.
 */
#include "base/mem.h"
#include "rewrite/pass.h"

enum { GONE, KEPT, GOTO, EMPTY };

struct dead {
	const struct unit *u;
	uint8_t *fate;	/* of each op: GONE; KEPT; GOTO: a jump that is always taken; EMPTY: the
			 * start of a subprogram that is named but not entered */
	uint32_t *next; /* the first op at or behind that is put; n_ops + 1 values */
};

/* An LDFUNC that is reached needs its subprogram even where no helper calls it. */
static void starts_mark(struct dead *d)
{
	for (uint32_t i = 0; i < d->u->n_ops; i++) {
		const struct op *op = &d->u->ops[i];

		if (d->u->facts[i].seen && (op->code == OP_LDFUNC || op->code == OP_CALLSUB) &&
		    !d->u->facts[op->off].seen)
			d->fate[op->off] = EMPTY;
	}
}

static uint8_t fate_of(const struct op *op, const struct fact *f)
{
	bool conditional = op_row(op)->form == FORM_JCOND;

	if (!f->seen || (conditional && !f->jumps))
		return GONE;
	return op->code == OP_JA || (conditional && !f->falls) ? GOTO : KEPT;
}

/* From the end backwards, so that what lies between a jump and its target is decided first. */
static void fates_find(struct dead *d)
{
	const struct unit *u = d->u;

	d->next[u->n_ops] = u->n_ops;
	for (uint32_t i = u->n_ops; i-- > 0;) {
		uint32_t to = unit_target(u, i);

		if (d->fate[i] != EMPTY)
			d->fate[i] = fate_of(&u->ops[i], &u->facts[i]);
		if (d->fate[i] == GOTO && to > i && d->next[to] == d->next[i + 1])
			d->fate[i] = GONE;
		d->next[i] = d->fate[i] == GONE ? d->next[i + 1] : i;
	}
}

static void dead_put(struct edit *e, const struct dead *d, uint32_t i)
{
	const struct op *op = &d->u->ops[i];

	switch (d->fate[i]) {
	case KEPT:
		edit_keep(e);
		break;
	case GOTO:
		if (op->code == OP_JA)
			edit_keep(e);
		else
			edit_put(e, (struct op){ .code = OP_JA, .off = op->off });
		break;
	case EMPTY:
		edit_put(e, (struct op){ .code = OP_MOV, .mode = OP_W32, .dst = 0 });
		edit_put(e, (struct op){ .code = OP_EXIT });
		break;
	}
}

int rewrite_dead(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		 struct unit **out)
{
	struct dead d = { .u = u };
	struct edit e;

	if (!u->facts)
		return 0;
	d.fate = mem_zalloc(u->n_ops, 1);
	d.next = mem_zalloc((size_t)u->n_ops + 1, sizeof(*d.next));
	edit_begin(&e, u);
	if (!d.fate || !d.next) {
		e.err = -ENOMEM;
	} else {
		starts_mark(&d);
		fates_find(&d);
	}
	for (uint32_t i = 0; i < u->n_ops && !e.err; i++) {
		edit_at(&e, i);
		dead_put(&e, &d, i);
	}
	mem_free(d.fate);
	mem_free(d.next);
	return edit_finish(&e, r, out);
}
