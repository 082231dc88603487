/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What straight code knows is not found out again: loads and stores through r10 plus a constant go
 * to the stack directly; a word of the stack that is known is not loaded; tests for NULL whose
 * outcome is known are left out, and a jump that leads to one goes where that leads, so that a
 * look-up that was inlined needs one test in all.
 */
#include <string.h>

#include "base/mem.h"
#include "rewrite/content.h"
#include "rewrite/pass.h"

struct known {
	const struct unit *u;
	struct contents now;
	uint8_t *joins; /* of each op: control comes from elsewhere, too */
	uint32_t *goes; /* of each jump: where to */
};

/* Where jump i ends up that leads to `to`, maybe a test whose outcome it decides. */
static uint32_t led_to(const struct known *k, uint32_t i, uint32_t to)
{
	const struct op *jump = &k->u->ops[i], *op = &k->u->ops[to];
	struct content c = k->now.r[op->dst];
	int jumps = -1;

	if (jump->dst == op->dst)
		c = content_tested(jump, c, true);
	if (is_zero_test(op))
		jumps = content_outcome(op, &c);
	if (jumps < 0)
		return to;
	return jumps ? (uint32_t)op->off : to + 1;
}

static void thread(struct known *k)
{
	for (uint32_t i = 0; i < k->u->n_ops; i++) {
		contents_join(&k->now, k->u, i, k->joins[i]);
		if (op_has(&k->u->ops[i], P_JUMP) && k->goes[i] > i)
			k->goes[i] = led_to(k, i, k->goes[i]);
		contents_step(&k->now, &k->u->ops[i], &k->u->facts[i]);
	}
}

static bool is_access(const struct op *op)
{
	return (op->code == OP_LD || op->code == OP_ST) && !(op->mode & (OP_PROBE | OP_ARENA));
}

/* The access with r10 as its base, where it can have that. */
static struct op on_stack(const struct known *k, struct op op)
{
	uint8_t *base = op.code == OP_LD ? &op.src : &op.dst;
	int64_t off = (int64_t)op.off + k->now.r[*base].value;

	if (is_access(&op) && k->now.r[*base].is == FRAME && off == (int16_t)off) {
		*base = BPF_FP;
		op.off = (int32_t)off;
	}
	return op;
}

/* A load from the stack of what is known. */
static struct op loaded(const struct known *k, struct op op)
{
	struct op mov = { .code = OP_MOV, .dst = op.dst };
	struct content c;

	if (op.code != OP_LD || !is_access(&op) || op.src != BPF_FP || op.mode & OP_SX)
		return op;
	c = contents_stack(&k->now, op.off, op_size(&op));
	if (c.is == COPY) {
		mov.mode = OP_REG | OP_W32;
		mov.src = (uint8_t)c.value;
		return mov;
	}
	if (c.is != CONSTANT || (c.value != (int32_t)c.value && c.value != (uint32_t)c.value))
		return op;
	mov.mode = c.value != (int32_t)c.value ? OP_W32 : 0;
	mov.imm = (int32_t)c.value;
	return mov;
}

static void known_put(const struct known *k, struct edit *e, uint32_t i)
{
	const struct op *old = &k->u->ops[i];
	int jumps = is_zero_test(old) ? content_outcome(old, &k->now.r[old->dst]) : -1;
	const struct fact fact = edit_fact(e, i);
	struct op op = loaded(k, on_stack(k, *old));

	if (op_has(old, P_JUMP))
		op.off = (int32_t)k->goes[i];
	if (jumps > 0)
		edit_put(e, (struct op){ .code = OP_JA, .off = op.off });
	else if (jumps < 0 && !memcmp(&op, old, sizeof(op)))
		edit_keep(e);
	else if (jumps < 0)
		edit_put_known(e, op, &fact);
}

static void known_walk(struct known *k, struct edit *e)
{
	for (uint32_t i = 0; i < k->u->n_ops; i++)
		k->goes[i] = unit_target(k->u, i);
	joins_find(k->u, k->goes, k->joins);
	thread(k);
	joins_find(k->u, k->goes, k->joins);
	for (uint32_t i = 0; i < k->u->n_ops; i++) {
		contents_join(&k->now, k->u, i, k->joins[i]);
		edit_at(e, i);
		known_put(k, e, i);
		contents_step(&k->now, &k->u->ops[i], &k->u->facts[i]);
	}
}

int rewrite_known(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		  struct unit **out)
{
	struct known k = { .u = u };
	struct edit e;

	if (!u->facts || !opts->jit)
		return 0;
	k.joins = mem_zalloc(u->n_ops, 1);
	k.goes = mem_zalloc(u->n_ops, sizeof(*k.goes));
	edit_begin(&e, u);
	if (k.joins && k.goes)
		known_walk(&k, &e);
	else
		e.err = -ENOMEM;
	mem_free(k.joins);
	mem_free(k.goes);
	return edit_finish(&e, r, out);
}
