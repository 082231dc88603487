/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the value in a register came from, by walking the current path backwards. Only for
 * explanations: a walk costs nothing while programs are accepted.
 */
#include <string.h>

#include "verify/explain.h"

/* One op back on the path of s, of whose history *n entries are left. False: i is its first. */
bool path_back(const struct state *s, uint32_t *n, uint32_t *i)
{
	const struct hist *h = *n && s->hist[*n - 1].op == *i ? &s->hist[*n - 1] : NULL;

	if (*i == s->first_op && (!*n || (*n == 1 && h)))
		return false;
	if (h) {
		*i = h->prev;
		--*n;
	} else {
		--*i;
	}
	return true;
}

static bool writes(const struct op *op, unsigned r)
{
	if (op_has(op, P_CALL) || op_row(op)->form == FORM_LDABS)
		return r <= 5;
	if (op_has(op, P_WRITES_DST) && op->dst == r)
		return true;
	if (!op_has(op, P_ATOMIC) || !(op->mode & OP_FETCH))
		return false;
	return r == (op->code == OP_CMPXCHG ? 0 : op->src);
}

static bool moves_packet(const struct op *op)
{
	const struct helper *h = op->code == OP_CALL ? helper_find((uint32_t)op->imm) : NULL;

	return h && h->flags & HELPER_MOVES_PKT;
}

struct walk {
	uint32_t frame;	       /* that the op under the walk runs in */
	uint32_t in, reg;      /* what is looked for: register of a frame */
	uint32_t after;	       /* the op that ran next */
	struct origin *origin; /* what was found */
};

/* Was the op the call that began the frame in which `after` ran? */
static bool enters(const struct ver *v, const struct op *op, uint32_t after)
{
	bool first = v->u->subs[unit_sub_of(v->u, after)] == after;

	if (op->code == OP_CALLSUB)
		return (uint32_t)op->off == after;
	return op->code == OP_CALL && first;
}

/* One op that ran before. True: the walk is over. */
static bool walk_op(const struct ver *v, struct walk *w, uint32_t i)
{
	const struct op *op = &v->u->ops[i];

	if (op->code == OP_EXIT) {
		if (w->in == w->frame && w->reg == 0)
			w->in++;
		w->frame++;
		return false;
	}
	if (w->frame && enters(v, op, w->after)) {
		/* Arguments are the caller's; those of a callback the helper chose. */
		if (w->in == w->frame && (op->code != OP_CALLSUB || w->reg > 5))
			return true;
		w->in -= w->in == w->frame;
		w->frame--;
		return false;
	}
	if (moves_packet(op) && !w->origin->moved)
		w->origin->moved = i + 1;
	if (w->in != w->frame || !writes(op, w->reg))
		return false;
	if (w->origin->op)
		w->origin->source = i + 1;
	else
		w->origin->op = i + 1;
	if (op->code != OP_MOV || op->mode != OP_REG || op->src == BPF_FP)
		return true;
	w->reg = op->src;
	return false;
}

/* Backwards from op i, which has not run, in state s. */
static void walk(const struct ver *v, struct walk *w, const struct state *s, uint32_t i)
{
	bool skip = true;

	while (s) {
		uint32_t n = s->n_hist;

		do {
			if (i >= v->u->n_ops || (!skip && walk_op(v, w, i)))
				return;
			skip = false;
			w->after = i;
		} while (path_back(s, &n, &i));
		s = s->parent;
		i = s ? s->last_op : UINT32_MAX;
	}
}

struct origin origin_of(const struct ver *v, unsigned reg)
{
	struct origin o = { .op = 0 };
	struct walk w = { .frame = v->cur->top, .in = v->cur->top, .reg = reg, .origin = &o };

	walk(v, &w, v->cur, v->op);
	return o;
}
