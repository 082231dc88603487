/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk over all paths, depth first: run op after op on the current state; at a branch, put the
 * other side aside; at the end of a path, take up the last one put aside.
 */
#include "verify/explain.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

static int hist_copy(struct state *dst, const struct state *src)
{
	size_t cap = dst->cap_hist;

	if (vec_grow((void **)&dst->hist, &cap, src->n_hist, sizeof(*dst->hist)))
		return -ENOMEM;
	dst->cap_hist = (uint32_t)cap;
	dst->n_hist = src->n_hist;
	if (src->n_hist)
		memcpy(dst->hist, src->hist, src->n_hist * sizeof(*src->hist));
	return 0;
}

/* Adds what s holds to what all states hold. 0, or -E2BIG with a message beyond the budget. */
int state_count(struct ver *v, const struct state *s, size_t *bytes)
{
	const size_t most = v->in->state_bytes ? v->in->state_bytes : STATE_BYTES_MAX;

	*bytes = state_bytes(s);
	v->bytes += *bytes;
	v->peak_bytes = v->bytes > v->peak_bytes ? v->bytes : v->peak_bytes;
	if (v->bytes <= most)
		return 0;
	return fail(v, -E2BIG, "BPF program is too large. Its states need more than %zu KiB",
		    most >> 10);
}

/* Takes s. */
static struct state *pending_add(struct ver *v, struct state *s, uint32_t op, uint32_t prev,
				 const char *what)
{
	struct pending *p = mem_zalloc(1, sizeof(*p));

	if (!p) {
		state_free(s);
		fail(v, -ENOMEM, "out of memory");
		return NULL;
	}
	*p = (struct pending){
		.state = s, .op = op, .prev = prev, .log_pos = log_here(v), .next = v->stack
	};
	v->stack = p;
	v->n_pending++;
	if (state_count(v, s, &p->bytes))
		return NULL;
	if (v->n_pending <= JUMP_SEQ_LIMIT)
		return s;
	fail(v, -E2BIG, "The sequence of %d jumps is too complex%s.", v->n_pending, what);
	return NULL;
}

/* A copy of the current state, to be continued at op later. NULL with a message. */
struct state *state_push(struct ver *v, uint32_t op, uint32_t prev)
{
	struct state *s = state_new();

	if (!s || state_copy(s, v->cur) || hist_copy(s, v->cur)) {
		state_free(s);
		fail(v, -ENOMEM, "out of memory");
		return NULL;
	}
	s = pending_add(v, s, op, prev, "");
	if (s && s->parent)
		s->parent->branches++;
	return s;
}

/* A state without frames that begins at op, later: a program of its own. NULL with a message. */
struct state *state_push_empty(struct ver *v, uint32_t op)
{
	struct state *s = state_new();

	if (!s) {
		fail(v, -ENOMEM, "out of memory");
		return NULL;
	}
	s->branches = 1;
	s->first_op = op;
	return pending_add(v, s, op, v->op, " for async cb");
}

/* Continues with the state put aside last. False when there is none. */
static bool state_pop(struct ver *v)
{
	struct pending *p = v->stack;

	if (!p)
		return false;
	state_free(v->cur);
	v->cur = p->state;
	v->op = p->op;
	v->prev = p->prev;
	v->log_pos = p->log_pos;
	v->stack = p->next;
	v->n_pending--;
	v->bytes -= p->bytes;
	mem_free(p);
	return true;
}

int hist_push(struct ver *v, const struct hist *h)
{
	struct state *s = v->cur;
	size_t cap = s->cap_hist;
	int err = vec_grow((void **)&s->hist, &cap, s->n_hist + 1, sizeof(*s->hist));

	s->cap_hist = (uint32_t)cap;
	if (!err)
		s->hist[s->n_hist++] = *h;
	return err;
}

/* Notes that the running op accessed a slot. An op that runs has one entry at most, or the way back
 * would be lost: it joins the one of its jump or (atomics read and write) of its other access. An
 * op accesses one slot. */
int hist_stack(struct ver *v, uint8_t frame, uint32_t slot)
{
	struct state *s = v->cur;
	struct hist *last = s->n_hist ? &s->hist[s->n_hist - 1] : NULL;
	struct hist h = {
		.op = v->op, .prev = v->prev, .stack = 1, .frame = frame, .slot = (uint16_t)slot
	};

	if (!last || last->op != v->op || last->prev != v->prev)
		return hist_push(v, &h);
	last->stack = 1;
	last->frame = frame;
	last->slot = (uint16_t)slot;
	return 0;
}

static void arg_set(struct ver *v, struct reg *r, uint8_t kind, uint32_t size, const char *type)
{
	switch (kind) {
	case SUB_ARG_CTX:
		reg_set_kind(r, KIND_CTX, 0);
		break;
	case SUB_ARG_TRUSTED:
	case SUB_ARG_TRUSTED_OR_NULL:
		reg_set_kind(r, KIND_BTF, RF_TRUSTED);
		r->n = typed_find(v, type);
		if (kind == SUB_ARG_TRUSTED)
			break;
		r->flags |= RF_NULL;
		r->id = id_new(v);
		break;
	case SUB_ARG_DYNPTR:
		dynptr_callback_reg(v, r, DYN_LOCAL);
		break;
	case SUB_ARG_MEM:
	case SUB_ARG_MEM_OR_NULL:
		reg_set_kind(r, KIND_MEM, kind == SUB_ARG_MEM_OR_NULL ? RF_NULL : 0);
		r->n = size;
		if (kind == SUB_ARG_MEM_OR_NULL)
			r->id = id_new(v);
		break;
	default:
		reg_set_unknown(r);
		break;
	}
}

/* The state at the start of v->root: the context for the program, what the signature says for a
 * global function. */
static int state_begin(struct ver *v)
{
	struct state *s = state_new();

	v->cur = s;
	if (!s || state_push_frame(s, v->root, 0))
		return -ENOMEM;
	s->branches = 1;
	s->first_op = v->sub[v->root].start;
	if (v->root) {
		const struct verify_sub *sub = &v->in->subs[v->root];

		for (unsigned i = 0; i < sub->n_args; i++)
			arg_set(v, &s->frame[0]->r[i + 1], sub->arg[i], sub->size[i], sub->type[i]);
	} else {
		arg_set(v, &s->frame[0]->r[1], SUB_ARG_CTX, 0, NULL);
	}
	v->scratched = 0x3ff | 1 << BPF_FP;
	v->op = s->first_op;
	v->prev = UINT32_MAX;
	v->print_all = false;
	v->line_pos = 0;
	v->line = NULL;
	v->prev_insns = v->insns;
	v->prev_jumps = v->jumps;
	return 0;
}

static void log_pruned(struct ver *v)
{
	if (v->print_all)
		note(v, "\nfrom %u to %u: safe\n", slot_of(v, v->prev), slot_of(v, v->op));
	else
		note(v, "%u: safe\n", slot_of(v, v->op));
}

/* One op of the current path. 0, 1 when the path ended, or -errno. */
static int explore_op(struct ver *v)
{
	struct hist h = { .op = v->op, .prev = v->prev };
	int err;

	if (++v->insns > INSN_LIMIT)
		return fail(v, -E2BIG, "BPF program is too large. Processed %u insn", v->insns);
	v->cur->last_op = v->prev;
	err = v->in->watch ? v->in->watch->reach(v->in->watch->arg, v->op, v->cur) : 0;
	if (err)
		return err;
	if (v->point[v->op].prune) {
		err = prune_visit(v);
		if (err > 0)
			log_pruned(v);
		if (err)
			return err;
	}
	if (v->point[v->op].jump && hist_push(v, &h))
		return -ENOMEM;
	log_insn(v);
	fact(v)->seen = 1;
	v->next = v->op + 1;
	err = step(v);
	if (err)
		return err;
	v->prev = v->op;
	v->op = v->next;
	return 0;
}

static void explore_clean(struct ver *v)
{
	while (state_pop(v))
		;
	state_free(v->cur);
	v->cur = NULL;
	seen_free(v);
}

int explore(struct ver *v)
{
	int err = state_begin(v);

	while (!err) {
		err = explore_op(v);
		if (err <= 0)
			continue;
		v->scratched = 0x3ff | 1 << BPF_FP;
		branches_done(v, v->cur);
		if (!state_pop(v))
			break;
		log_reset(v, v->log_pos);
		v->print_all = true;
		err = 0;
	}
	if (err >= 0)
		log_reset(v, 0); /* what is safe is not told of */
	if (err < 0 && v->cur)
		explain_path(v);
	explore_clean(v);
	return err < 0 ? err : 0;
}
