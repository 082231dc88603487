/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be said of a program before and after it is explored: prune points, stack depth. */
#include "verify/ver.h"

#include "base/mem.h"

static uint32_t helper_callbacks(const struct op *op)
{
	const struct helper *h = op->code == OP_CALL ? helper_find((uint32_t)op->imm) : NULL;

	for (int i = 0; h && i < 5; i++) {
		if (ARG_KIND(h->arg[i]) == ARG_FUNC)
			return h->id;
	}
	return 0;
}

static void point_after_call(struct ver *v, uint32_t i)
{
	v->point[i + 1].prune = true;
	v->point[i + 1].jump = true;
}

static void point_call(struct ver *v, uint32_t i)
{
	uint32_t cb = helper_callbacks(&v->u->ops[i]);
	const struct kfunc *k = kfunc_at(v, i);

	if (k && k->flags & KFUNC_NEXT)
		v->point[i].iter = v->point[i].prune = v->point[i].force = v->point[i].jump = true;
	if (cb)
		v->point[i].prune = true;
	if (cb && cb != BPF_FUNC_timer_set_callback)
		v->point[i].callback = v->point[i].force = v->point[i].jump = true;
	point_after_call(v, i);
}

static void point_enter(struct ver *v, uint32_t i)
{
	uint32_t to = unit_target(v->u, i);

	point_after_call(v, i);
	v->point[i].prune = true;
	v->point[to].prune = v->point[to].jump = true;
}

static void point_jump(struct ver *v, uint32_t i)
{
	const struct op *op = &v->u->ops[i];
	uint32_t to = unit_target(v->u, i);

	if (op_has(op, P_COND))
		v->point[i].prune = true;
	if (op->code == OP_MAYGOTO)
		v->point[i].force = true;
	v->point[to].prune = v->point[to].jump = true;
}

static bool op_moves_packet(const struct ver *v, const struct op *op)
{
	const struct helper *h = op->code == OP_CALL ? helper_find((uint32_t)op->imm) : NULL;

	if (op->code == OP_CALLSUB || op->code == OP_LDFUNC)
		return v->sub[unit_sub_of(v->u, (uint32_t)op->off)].moves_packet;
	return op->code == OP_TAILCALL || (h && h->flags & HELPER_MOVES_PKT);
}

static bool sub_moves_packet(const struct ver *v, uint32_t s)
{
	for (uint32_t i = v->sub[s].start; i < v->sub[s].end; i++) {
		if (op_moves_packet(v, &v->u->ops[i]))
			return true;
	}
	return false;
}

static bool op_throws(const struct ver *v, uint32_t i)
{
	const struct op *op = &v->u->ops[i];
	const struct kfunc *k = kfunc_at(v, i);

	if (op->code == OP_CALLSUB || op->code == OP_LDFUNC)
		return v->sub[unit_sub_of(v->u, (uint32_t)op->off)].throws;
	return k && k->id == KFUNC_throw;
}

static bool sub_throws(const struct ver *v, uint32_t s)
{
	for (uint32_t i = v->sub[s].start; i < v->sub[s].end; i++) {
		if (op_throws(v, i))
			return true;
	}
	return false;
}

/* Which subprograms may move the packet, and which may throw, themselves or by what they call. */
static void effects_find(struct ver *v)
{
	bool grown = true;

	while (grown) {
		grown = false;
		for (uint32_t s = 0; s < v->u->n_subs; s++) {
			struct sub_info *sub = &v->sub[s];

			if (!sub->moves_packet && sub_moves_packet(v, s))
				grown = sub->moves_packet = true;
			if (!sub->throws && sub_throws(v, s))
				grown = sub->throws = true;
		}
	}
}

/* LD_ABS and tail calls may leave their function early, so it must return a number. */
static int leave_check(struct ver *v, uint32_t i)
{
	bool abs = op_row(&v->u->ops[i])->form == FORM_LDABS;
	uint32_t s = unit_sub_of(v->u, i);

	if ((!abs && v->u->ops[i].code != OP_TAILCALL) || !s || !v->in->subs)
		return 0;
	if (!v->in->subs[s].name[0])
		return fail(v, -EINVAL, "%s is not allowed in subprogs without BTF",
			    abs ? "LD_ABS" : "tail_call");
	if (!v->in->subs[s].returns_void)
		return 0;
	return fail(v, -EINVAL, "%s is only allowed in functions that return 'int'.",
		    abs ? "LD_ABS" : "tail_call");
}

int points_make(struct ver *v)
{
	effects_find(v);
	for (uint32_t i = 0; i < v->u->n_ops; i++) {
		const struct op *op = &v->u->ops[i];

		if (op->code == OP_CALLSUB || op->code == OP_LDFUNC)
			point_enter(v, i);
		else if (op_has(op, P_CALL))
			point_call(v, i);
		else if (op_has(op, P_JUMP))
			point_jump(v, i);
		if (leave_check(v, i))
			return -EINVAL;
		if (op->code == OP_TAILCALL)
			v->sub[unit_sub_of(v->u, i)].tail_call = true;
	}
	return 0;
}

enum { STACK_ROUND = 16, STACK_TAIL_MAX = 256 };

/* The deepest way to enter each subprogram: stack bytes and frames in use before it. */
struct way {
	uint32_t bytes, frames;
};

static uint32_t sub_bytes(const struct ver *v, uint32_t s)
{
	uint32_t n = v->sub[s].depth ? v->sub[s].depth : 1;

	return (n + STACK_ROUND - 1) / STACK_ROUND * STACK_ROUND;
}

static bool ways_grow(const struct ver *v, struct way *way)
{
	bool grown = false;

	for (uint32_t i = 0; i < v->u->n_ops; i++) {
		const struct op *op = &v->u->ops[i];
		uint32_t from, to;
		struct way w;

		if (op->code != OP_CALLSUB && op->code != OP_LDFUNC)
			continue;
		from = unit_sub_of(v->u, i);
		to = unit_sub_of(v->u, unit_target(v->u, i));
		/* What a timer calls begins on a stack of its own. */
		if (op->code == OP_LDFUNC && v->sub[to].async)
			continue;
		w = (struct way){ way[from].bytes + sub_bytes(v, from), way[from].frames + 1 };
		if (w.bytes <= way[to].bytes || w.frames > VERIFY_FRAMES)
			continue;
		way[to] = w;
		grown = true;
	}
	return grown;
}

static int ways_check(struct ver *v, const struct way *way)
{
	for (uint32_t s = 0; s < v->u->n_subs; s++) {
		uint32_t all = way[s].bytes + sub_bytes(v, s);

		if (way[s].frames >= VERIFY_FRAMES)
			return fail(v, -E2BIG, "the call stack of %u frames is too deep !",
				    way[s].frames);
		if (s && v->sub[s].tail_call && way[s].bytes >= STACK_TAIL_MAX)
			return fail(v, -EACCES,
				    "tail_calls are not allowed when call stack of previous frames "
				    "is %u bytes. Too large",
				    way[s].bytes);
		if (all > BPF_STACK)
			return fail(v, -EACCES, "combined stack size of %u calls is %u. Too large",
				    way[s].frames + 1, all);
	}
	return 0;
}

/* Ends also where callbacks form a cycle, since chains longer than VERIFY_FRAMES do not grow. */
int depth_check_all(struct ver *v)
{
	struct way *way = mem_zalloc(v->u->n_subs, sizeof(*way));
	int err;

	if (!way)
		return -ENOMEM;
	while (ways_grow(v, way))
		;
	err = ways_check(v, way);
	mem_free(way);
	return err;
}
