/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/inline.h"

#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "rewrite/live.h"

enum { MOVABLE = 3 };

/* One walk of one row over a unit. */
struct inlining {
	const struct inline_row *row;
	const struct unit *u;
	struct contents now;
	uint8_t *joins;
	uint16_t *live;
};

static bool row_takes(const struct inline_row *row, const struct op *op)
{
	const unsigned n = sizeof(row->helper) / sizeof(row->helper[0]);

	for (unsigned i = 0; op->code == OP_CALL && i < n && row->helper[i]; i++)
		if (op->imm == row->helper[i])
			return true;
	return false;
}

static bool row_is_needed(const struct inline_row *row, const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (row_takes(row, &u->ops[i]))
			return true;
	return false;
}

static bool is_constant_load(const struct op *op)
{
	return op->code == OP_MOV && !(op->mode & OP_REG) && op->dst >= 1 && op->dst <= 9;
}

/* How many constants are loaded between the call at i and a test of r0. */
static uint32_t movable(const struct inlining *w, uint32_t i)
{
	uint32_t n = 0;

	while (n < MOVABLE && !w->joins[i + 1 + n] && is_constant_load(&w->u->ops[i + 1 + n]))
		n++;
	if (w->joins[i + 1 + n] || !is_zero_test(&w->u->ops[i + 1 + n]) || w->u->ops[i + 1 + n].dst)
		return 0;
	return n;
}

/* The ops that are replaced together with the one at i, 0: it is kept. */
static uint32_t inline_at(struct inlining *w, struct inline_call *c, uint32_t i)
{
	if (!row_takes(w->row, &w->u->ops[i]))
		return 0;
	c->fact = edit_fact(c->e, i);
	c->direct = c->fact.map ? c->fact.map->direct : NULL;
	c->helper = w->u->ops[i].imm;
	c->at = i;
	c->behind = i + 1;
	c->movable = movable(w, i);
	c->ignored = !(live_behind(w->u, w->live, i) & 1);
	return w->row->put(c) ? c->behind - i : 0;
}

static void inlining_walk(struct inlining *w, struct inline_call *c)
{
	uint32_t done = 0; /* ops before this one are replaced */

	for (uint32_t i = 0; i < w->u->n_ops; i++) {
		edit_at(c->e, i);
		contents_join(&w->now, w->u, i, w->joins[i]);
		if (i >= done) {
			done = i + inline_at(w, c, i);
			if (done == i)
				edit_keep(c->e);
		}
		if (w->u->facts)
			contents_step(&w->now, &w->u->ops[i], &w->u->facts[i]);
	}
}

/* What is known of the whole unit. */
static int inlining_set_up(struct inlining *w)
{
	uint32_t *to = mem_zalloc(w->u->n_ops, sizeof(*to));

	w->joins = mem_zalloc((size_t)w->u->n_ops + MOVABLE + 1, 1);
	w->live = mem_zalloc(w->u->n_ops, sizeof(*w->live));
	if (w->live)
		live_find(w->u, w->live);
	for (uint32_t i = 0; to && i < w->u->n_ops; i++)
		to[i] = unit_target(w->u, i);
	if (to && w->joins)
		joins_find(w->u, to, w->joins);
	mem_free(to);
	return to && w->joins && w->live ? 0 : -ENOMEM;
}

int inline_calls(const struct inline_row *row, const struct unit *u,
		 const struct rewrite_opts *opts, struct report *r, struct unit **out)
{
	struct inlining w = { .row = row, .u = u };
	struct inline_call c = { .opts = opts, .now = &w.now };
	struct edit e;

	if (!opts->jit || (opts->traits & row->traits) != row->traits ||
	    opts->scratch < row->scratch || !row_is_needed(row, u))
		return 0;
	edit_begin(&e, u);
	c.e = &e;
	if (inlining_set_up(&w))
		e.err = -ENOMEM;
	else
		inlining_walk(&w, &c);
	mem_free(w.joins);
	mem_free(w.live);
	return edit_finish(&e, r, out);
}

/* Before the first jump: what the program loads behind the call. */
void put_leave_if(struct inline_call *c, uint8_t code, uint8_t mode, uint8_t dst, int64_t imm)
{
	for (; c->movable; c->movable--)
		edit_put(c->e, c->e->old->ops[c->behind++]);
	edit_put(
	    c->e,
	    (struct op){
		.code = code, .mode = mode, .dst = dst, .off = (int32_t)c->behind, .imm = imm });
}

void put_constant(const struct inline_call *c, uint8_t dst, uint64_t value)
{
	if (value == (uint64_t)(int64_t)(int32_t)value)
		put_imm(c, OP_MOV, 0, dst, (int32_t)value);
	else if (value <= UINT32_MAX)
		put_imm(c, OP_MOV, OP_W32, dst, (int32_t)value);
	else
		put_imm(c, OP_LDIMM, 0, dst, (int64_t)value);
}

/* Of look-ups it is known that they give an address or 0. */
void put_call_direct(const struct inline_call *c, const struct direct_fn *fn)
{
	const struct ref ref = { .kind = REF_FN,
				 .addr = (uint64_t)(uintptr_t)fn->fn,
				 .name = fn->name };
	struct fact fact = fact_unknown();

	fact.address = c->helper == BPF_FUNC_map_lookup_elem;
	edit_put_known(c->e, (struct op){ .code = OP_CALLDIRECT, .imm = edit_ref(c->e, &ref) },
		       &fact);
}

/* 1 less than the smallest power of two that is not below n. */
static uint32_t mask_of(uint32_t n)
{
	return n <= 1 ? 0 : UINT32_MAX >> __builtin_clz(n - 1);
}

/* Control leaves with r0 = 0 when `number` is not below n. */
static void put_bound(struct inline_call *c, uint8_t number, uint32_t n)
{
	put_imm(c, OP_MOV, 0, 0, 0);
	put_leave_if(c, OP_JGE, OP_W32, number, (int32_t)n);
	if (c->opts->hardened)
		put_imm(c, OP_AND, OP_W32, number, (int32_t)mask_of(n));
}

void put_index(struct inline_call *c)
{
	put_load(c, 4, BPF_AX, 2, 0);
	put_bound(c, BPF_AX, c->fact.map->max_entries);
}

void put_scale(const struct inline_call *c)
{
	uint32_t stride = c->direct->stride;

	if (stride & (stride - 1))
		put_imm(c, OP_MUL, 0, BPF_AX, stride);
	else if (stride > 1)
		put_imm(c, OP_LSH, 0, BPF_AX, __builtin_ctz(stride));
}

void put_slot_base(struct inline_call *c, uint8_t slot)
{
	struct fact fact = fact_unknown();

	fact.address = 1;
	put_bound(c, slot, percpu_slots());
	put_imm(c, OP_LSH, 0, slot, __builtin_ctzll(PERCPU_STRIDE));
	edit_put_known(c->e,
		       (struct op){ .code = OP_LDIMM, .imm = (int64_t)(uintptr_t)percpu_base(0) },
		       &fact);
	put_reg(c, OP_ADD, 0, 0, slot);
}

void put_value(const struct inline_call *c, uint64_t off)
{
	uint64_t at = c->direct->values;
	const struct ref ref = { .kind = REF_MAP,
				 .map = c->fact.map,
				 .addr = (uint64_t)(uintptr_t)c->fact.map,
				 .value = at };

	if (off > INT32_MAX)
		put_imm(c, OP_LDIMM, 0, 0, (int64_t)(at + off));
	else
		edit_put(c->e, (struct op){ .code = OP_LDVALUE,
					    .off = (int32_t)off,
					    .imm = edit_ref(c->e, &ref) });
}

/* Not marked again where it is: the line stays shared between CPUs. */
void put_element(struct inline_call *c)
{
	int32_t ref = (int32_t)c->direct->ref_off;

	put_call_direct(c, &c->direct->lookup);
	put_leave_if(c, OP_JEQ, 0, 0, 0);
	if (!ref)
		return;
	put_load(c, 1, BPF_AX, 0, ref);
	edit_put_local(c->e, (struct op){ .code = OP_JNE, .dst = BPF_AX }, 2);
	edit_put(c->e, (struct op){ .code = OP_ST, .mode = op_mode_size(1), .off = ref, .imm = 1 });
}

bool known_index(const struct inline_call *c, uint64_t *index)
{
	struct content at = c->now->r[2], key = { ANYTHING, 0 };

	if (at.is == FRAME)
		key = contents_stack(c->now, at.value, 4);
	*index = c->fact.key_known ? c->fact.key : (uint64_t)key.value;
	return (c->fact.key_known || key.is == CONSTANT) && *index < c->fact.map->max_entries;
}

bool known_argument(const struct inline_call *c, unsigned n, uint64_t *value)
{
	*value = (uint64_t)c->now->r[n].value;
	return c->now->r[n].is == CONSTANT;
}
