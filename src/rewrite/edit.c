/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/edit.h"

#include <errno.h>
#include <string.h>

#include "base/report.h"

void edit_begin(struct edit *e, const struct unit *old)
{
	memset(e, 0, sizeof(*e));
	e->old = old;
	e->first = mem_zalloc((size_t)old->n_ops + 1, sizeof(*e->first));
	if (!e->first || vec_reserve(&e->ops, old->n_ops) || vec_reserve(&e->local, old->n_ops))
		e->err = -ENOMEM;
}

void edit_at(struct edit *e, uint32_t i)
{
	e->now = i;
	if (!e->err)
		e->first[i] = (uint32_t)e->ops.n;
}

static void edit_add(struct edit *e, struct op op, bool local, const struct fact *fact)
{
	const uint32_t *of = e->old->origin ? e->old->origin : e->old->slot;

	if (!e->err &&
	    (vec_push(&e->ops, op) || vec_push(&e->local, local) ||
	     vec_push(&e->origin, of[e->now]) || (e->old->facts && vec_push(&e->facts, *fact))))
		e->err = -ENOMEM;
}

void edit_put_known(struct edit *e, struct op op, const struct fact *fact)
{
	edit_add(e, op, false, fact);
}

void edit_put(struct edit *e, struct op op)
{
	const struct fact fact = fact_unknown();

	edit_add(e, op, false, &fact);
}

void edit_put_local(struct edit *e, struct op op, int32_t ahead)
{
	const struct fact fact = fact_unknown();

	op.off = (int32_t)e->ops.n + ahead;
	edit_add(e, op, true, &fact);
}

void edit_keep(struct edit *e)
{
	const struct fact fact = edit_fact(e, e->now);

	edit_add(e, e->old->ops[e->now], false, &fact);
}

struct fact edit_fact(const struct edit *e, uint32_t i)
{
	return e->old->facts ? e->old->facts[i] : fact_unknown();
}

static bool has_target(const struct op *op)
{
	return op_has(op, P_JUMP) || op->code == OP_CALLSUB || op->code == OP_LDFUNC;
}

/* Old indexes in jumps, calls and line rows become new ones. */
static void edit_retarget(struct edit *e, struct unit *u)
{
	for (size_t i = 0; i < e->ops.n; i++) {
		struct op *op = &e->ops.at[i];

		if (has_target(op) && !e->local.at[i])
			op->off = (int32_t)e->first[op->off];
	}
	for (uint32_t i = 0; i < u->n_lines; i++)
		u->lines[i].op = e->first[u->lines[i].op];
}

int edit_finish(struct edit *e, struct report *r, struct unit **out)
{
	struct unit *u = e->err ? NULL : unit_copy(e->old);
	int err = e->err ? e->err : u ? 0 : -ENOMEM;

	if (!err) {
		e->first[e->old->n_ops] = (uint32_t)e->ops.n;
		edit_retarget(e, u);
		mem_free(u->ops);
		u->ops = e->ops.at;
		u->n_ops = (uint32_t)e->ops.n;
		mem_free(u->origin);
		u->origin = e->origin.at;
		mem_free(u->facts);
		u->facts = e->facts.at;
		memset(&e->ops, 0, sizeof(e->ops));
		memset(&e->origin, 0, sizeof(e->origin));
		memset(&e->facts, 0, sizeof(e->facts));
		err = unit_index(u, r);
	}
	vec_free(&e->ops);
	vec_free(&e->local);
	vec_free(&e->origin);
	vec_free(&e->facts);
	mem_free(e->first);
	if (err) {
		unit_free(u);
		return err;
	}
	*out = u;
	return 0;
}
