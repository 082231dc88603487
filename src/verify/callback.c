/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions that helpers call back: at once, any number of times, inside of the call; or later,
 * from a timer, on a stack of their own.
 */
#include <string.h>

#include "base/mem.h"
#include "verify/ver.h"

int frame_enter(struct ver *v, struct state *s, uint32_t sub, uint32_t callsite)
{
	if (s->top + 1 >= VERIFY_FRAMES)
		return fail(v, -E2BIG, "the call stack of %d frames is too deep", s->top + 2);
	return state_push_frame(s, sub, callsite);
}

/* A copy with its place in the parent state, so that reads in the callee count for the caller. */
void arg_pass(struct state *s, unsigned from, unsigned to)
{
	s->frame[s->top]->r[to] = s->frame[s->top - 1]->r[from];
}

static void arg_map(struct reg *r, enum kind kind, const struct reg *map)
{
	reg_set_kind(r, kind, 0);
	r->map = map->map;
	r->uid = map->uid;
}

/* r1-r3: a map, a key and a value of it. */
static void args_element(struct frame *f, const struct reg *map)
{
	arg_map(&f->r[1], KIND_MAP, map);
	arg_map(&f->r[2], KIND_MAP_KEY, map);
	arg_map(&f->r[3], KIND_MAP_VALUE, map);
}

/* -- each fills the registers of the fresh frame on top of s */

static int args_loop(struct ver *v, struct state *s, const struct call *c)
{
	reg_set_unknown(&state_top(s)->r[1]);
	arg_pass(s, 3, 2);
	return 0;
}

static int args_each(struct ver *v, struct state *s, const struct call *c)
{
	switch (c->map->map->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		args_element(state_top(s), c->map);
		arg_pass(s, 3, 4);
		return 0;
	default:
		return fail(v, -EINVAL, "callback function not allowed for map");
	}
}

static int args_vma(struct ver *v, struct state *s, const struct call *c)
{
	arg_pass(s, 1, 1);
	reg_set_kind(&state_top(s)->r[2], KIND_BTF, 0);
	state_top(s)->r[2].n = typed_id(v, BTF_VM_AREA);
	arg_pass(s, 4, 3);
	return 0;
}

static int args_drain(struct ver *v, struct state *s, const struct call *c)
{
	dynptr_callback_reg(v, &state_top(s)->r[1], DYN_LOCAL);
	arg_pass(s, 3, 2);
	return 0;
}

struct callback {
	uint16_t helper;
	int8_t ret_max; /* it returns 0 to ret_max */
	int (*args)(struct ver *v, struct state *s, const struct call *c);
};

static const struct callback callbacks[] = {
	{ BPF_FUNC_loop, 1, args_loop },
	{ BPF_FUNC_for_each_map_elem, 1, args_each },
	{ BPF_FUNC_find_vma, 1, args_vma },
	{ BPF_FUNC_user_ringbuf_drain, 1, args_drain },
};

static const struct callback *callback_find(uint32_t helper)
{
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++) {
		if (callbacks[i].helper == helper)
			return &callbacks[i];
	}
	return NULL;
}

/* The callback's body is walked later, from the registers of this call; it returns to the call
 * itself, which may call it once more. Here the walk goes on as if it were not called again. */
int callback_plan(struct ver *v, const struct call *c)
{
	const struct callback *cb = callback_find(c->h.id);
	uint32_t sub = c->sub - 1;
	struct state *s;
	struct frame *f;
	int err;

	if (!cb)
		return fail(v, -EOPNOTSUPP, "callbacks of bpf_%s are not supported", c->h.name);
	s = state_push(v, v->sub[sub].start, v->op);
	if (!s)
		return -E2BIG;
	err = frame_enter(v, s, sub, v->op);
	if (!err)
		err = cb->args(v, s, c);
	if (err)
		return err;
	f = state_top(s);
	f->callback = true;
	f->n_refs = s->refs.n;
	f->ret_max = cb->ret_max;
	s->callback_unroll++;
	s->frame[s->top - 1]->callback_depth++;
	top(v)->callback_depth = 0;
	return 0;
}

/* -- timers */

/* The body of a timer's callback is a program of its own: it starts with nothing but its
 * arguments, and must return 0. */
int callback_later(struct ver *v, const struct call *c)
{
	uint32_t sub = c->sub - 1;
	const struct frame *outer = v->cur->frame[0];
	struct state *s = state_push_empty(v, v->sub[sub].start);
	struct frame *f;

	if (!s)
		return -E2BIG;
	if (state_push_frame(s, sub, 0))
		return fail(v, -ENOMEM, "out of memory");
	f = state_top(s);
	f->callback = f->async = true;
	f->async_entry = outer->async_entry + 1;
	args_element(f, c->map);
	v->sub[sub].async = true;
	return 0;
}
