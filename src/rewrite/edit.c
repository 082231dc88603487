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
	if (old->stack)
		e->stack = mem_dup(old->stack, old->n_subs * sizeof(*old->stack));
	if (!e->first || (old->stack && !e->stack) || vec_reserve(&e->ops, old->n_ops) ||
	    vec_reserve(&e->local, old->n_ops))
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
	if (!e->err &&
	    (vec_push(&e->ops, op) || vec_push(&e->local, local) || vec_push(&e->from, e->now) ||
	     (e->old->facts && vec_push(&e->facts, *fact))))
		e->err = -ENOMEM;
}

void edit_put_known(struct edit *e, struct op op, const struct fact *fact)
{
	e->changed = true;
	edit_add(e, op, false, fact);
}

void edit_put(struct edit *e, struct op op)
{
	const struct fact fact = fact_unknown();

	edit_put_known(e, op, &fact);
}

void edit_put_local(struct edit *e, struct op op, int32_t ahead)
{
	const struct fact fact = fact_unknown();

	e->changed = true;
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

int32_t edit_stack(struct edit *e, uint32_t bytes)
{
	uint32_t sub = unit_sub_of(e->old, e->now), have;

	if (e->err || !e->old->stack) {
		e->err = e->err ? e->err : -EINVAL;
		return 0;
	}
	have = (e->old->stack[sub] + 7) & ~7u;
	if (e->stack[sub] < have + bytes)
		e->stack[sub] = have + bytes;
	return -(int32_t)(have + bytes);
}

static bool ref_same(const struct ref *a, const struct ref *b)
{
	return a->kind == b->kind && a->map == b->map && a->addr == b->addr && a->value == b->value;
}

int64_t edit_ref(struct edit *e, const struct ref *ref)
{
	uint32_t n = e->old->n_refs;

	for (uint32_t i = 0; i < n; i++)
		if (ref_same(&e->old->refs[i], ref))
			return i;
	for (uint32_t i = 0; i < e->refs.n; i++)
		if (ref_same(&e->refs.at[i], ref))
			return n + i;
	if (!e->err && vec_push(&e->refs, *ref))
		e->err = -ENOMEM;
	return (int64_t)(n + e->refs.n) - 1;
}

static bool has_target(const struct op *op)
{
	return op_has(op, P_JUMP) || op->code == OP_CALLSUB || op->code == OP_LDFUNC;
}

/* Old indexes in jumps and calls become new ones. */
static void edit_retarget(struct edit *e)
{
	for (size_t i = 0; i < e->ops.n; i++) {
		struct op *op = &e->ops.at[i];

		if (has_target(op) && !e->local.at[i])
			op->off = (int32_t)e->first[op->off];
	}
}

/* Where several rows are left at one op, since what lay between is gone, the last one counts. */
static void edit_lines(const struct edit *e, struct unit *u)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->n_lines; i++) {
		struct line line = u->lines[i];

		line.op = e->first[line.op];
		if (line.op >= e->ops.n)
			break;
		n -= n && u->lines[n - 1].op == line.op;
		u->lines[n++] = line;
	}
	u->n_lines = n;
}

/* The instruction that each new op stands for: it takes the place of u->origin. */
static void edit_origins(struct edit *e, struct unit *u)
{
	const uint32_t *of = e->old->origin ? e->old->origin : e->old->slot;

	mem_free(u->origin);
	u->origin = mem_zalloc(e->ops.n, sizeof(*u->origin));
	if (!u->origin)
		e->err = -ENOMEM;
	for (size_t i = 0; i < e->ops.n && u->origin; i++)
		u->origin[i] = of[e->from.at[i]];
}

/* Names and stacks of subprograms, and facts that name one, move along. now[s]: 1 + the new number
 * of old subprogram s. */
static void edit_subs(struct edit *e, struct unit *u, uint32_t *now, const char **names)
{
	for (uint32_t s = 0; s < u->n_subs; s++) {
		uint32_t was = unit_sub_of(e->old, e->from.at[u->subs[s]]);

		now[was] = s + 1;
		names[s] = e->old->sub_names ? e->old->sub_names[was] : NULL;
		if (e->stack)
			u->stack[s] = e->stack[was];
	}
	for (uint32_t i = 0; i < u->n_ops && u->facts; i++) {
		if (u->facts[i].sub)
			u->facts[i].sub = now[u->facts[i].sub - 1];
	}
	if (e->old->sub_names)
		e->err = unit_set_names(u, names);
}

static void edit_refs(struct edit *e, struct unit *u)
{
	size_t n = u->n_refs + e->refs.n;
	struct ref *refs = e->refs.n ? mem_zalloc(n, sizeof(*refs)) : NULL;

	if (!e->refs.n)
		return;
	if (!refs) {
		e->err = -ENOMEM;
		return;
	}
	if (u->n_refs)
		memcpy(refs, u->refs, u->n_refs * sizeof(*refs));
	memcpy(refs + u->n_refs, e->refs.at, e->refs.n * sizeof(*refs));
	mem_free(u->refs);
	u->refs = refs;
	u->n_refs = (uint32_t)n;
}

/* u, a copy of the old unit, becomes the new one. */
static void edit_apply(struct edit *e, struct unit *u, struct report *r)
{
	const char **names = mem_zalloc(e->old->n_subs, sizeof(*names));
	uint32_t *now = mem_zalloc(e->old->n_subs, sizeof(*now));

	e->first[e->old->n_ops] = (uint32_t)e->ops.n;
	edit_retarget(e);
	edit_lines(e, u);
	edit_origins(e, u);
	edit_refs(e, u);
	mem_free(u->ops);
	u->ops = e->ops.at;
	u->n_ops = (uint32_t)e->ops.n;
	mem_free(u->facts);
	u->facts = e->facts.at;
	memset(&e->ops, 0, sizeof(e->ops));
	memset(&e->facts, 0, sizeof(e->facts));
	if (!e->err)
		e->err = unit_index(u, r);
	if (!e->err && (!names || !now))
		e->err = -ENOMEM;
	if (!e->err)
		edit_subs(e, u, now, names);
	mem_free(names);
	mem_free(now);
}

static void edit_free(struct edit *e)
{
	vec_free(&e->ops);
	vec_free(&e->local);
	vec_free(&e->from);
	vec_free(&e->facts);
	vec_free(&e->refs);
	mem_free(e->first);
	mem_free(e->stack);
}

int edit_finish(struct edit *e, struct report *r, struct unit **out)
{
	struct unit *u = NULL;

	e->changed |= e->ops.n != e->old->n_ops;
	if (!e->err && e->changed) {
		u = unit_copy(e->old);
		if (u)
			edit_apply(e, u, r);
		else
			e->err = -ENOMEM;
	}
	edit_free(e);
	if (e->err) {
		unit_free(u);
		return e->err;
	}
	*out = u;
	return 0;
}
