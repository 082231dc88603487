/* SPDX-License-Identifier: BSD-2-Clause */
/* Items of the generator on maps, packets, the context, and calls. */
#include "gen_impl.h"

#include <string.h>

enum { SCRATCH = -8 * SLOTS - 64 }; /* stack below the slots, for keys and values */

static const uint8_t sizes[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

static void stack_address(struct gen *g, unsigned r, int32_t off)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, r, 10, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, off);
}

static void key_make(struct gen *g)
{
	if (rnd(g, 3))
		put(g, BPF_ST | BPF_MEM | BPF_W, 10, 0, SCRATCH, (int32_t)rnd(g, GEN_KEYS));
	else
		put(g, BPF_STX | BPF_MEM | BPF_W, 10, number(g), SCRATCH, 0);
	stack_address(g, 2, SCRATCH);
}

void item_random(struct gen *g)
{
	call(g, BPF_FUNC_get_prandom_u32);
	g->has[0] = NUMBER;
}

static void lookup(struct gen *g)
{
	unsigned r;

	key_make(g);
	load_map(g, 1, rnd(g, 3));
	call(g, BPF_FUNC_map_lookup_elem);
	if (rnd(g, 30)) {
		put(g, BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
		leave(g);
	}
	g->has[0] = VALUE_PTR;
	r = target(g, VALUE_PTR);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, r, 0, 0, 0);
	g->has[r] = VALUE_PTR;
}

static void access_at(struct gen *g, unsigned p, int off)
{
	uint8_t size = sizes[rnd(g, 4)];
	unsigned t;

	if (rnd(g, 2)) {
		t = target(g, NUMBER);
		put(g, BPF_LDX | (rnd(g, 4) || size == BPF_DW ? BPF_MEM : 0x80) | size, t, p, off,
		    0);
		g->has[t] = NUMBER;
	} else if (rnd(g, 2)) {
		put(g, BPF_ST | BPF_MEM | size, p, 0, off, constant(g));
	} else {
		put(g, BPF_STX | BPF_MEM | size, p, number(g), off, 0);
	}
}

/* Keeps r below some bound; *at: a jump to be set behind its use, or 0. */
static uint32_t bound(struct gen *g, unsigned r, uint32_t *at)
{
	static const int32_t masks[] = { 7, 15, 31, 24, 32, 12 };
	uint32_t m = rnd(g, 6), limit;

	*at = 0;
	if (rnd(g, 2)) {
		put(g, (rnd(g, 2) ? BPF_ALU64 : BPF_ALU) | BPF_AND | BPF_K, r, 0, 0, masks[m]);
		return (uint32_t)masks[m];
	}
	limit = rnd(g, 40);
	if (rnd(g, 3) == 0)
		put(g, BPF_JMP | BPF_JSGE | BPF_K, r, 0, 1, 0);
	if (rnd(g, 3) == 0)
		put(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, (int32_t)rnd(g, 30));
	*at = put(g, (rnd(g, 3) ? BPF_JMP : BPF_JMP32) | (rnd(g, 4) ? BPF_JGT : BPF_JSGT) | BPF_K,
		  r, 0, 0, (int32_t)limit);
	return limit;
}

/* An index into a value, bounded as programs do it, or nearly so. */
void item_value(struct gen *g)
{
	unsigned p = pick(g, rnd(g, 5) ? VALUE_PTR : FAR_STACK), r, t;
	uint32_t at, limit;
	struct known before;
	int off;

	if (p == NO_REG)
		p = pick(g, VALUE_PTR);
	if (p == NO_REG) {
		lookup(g);
		return;
	}
	if (rnd(g, 2)) {
		access_at(g, p, (int)rnd(g, GEN_VALUE - (rnd(g, 20) ? 7 : 0)));
		return;
	}
	r = number(g);
	if (g->has[p] != VALUE_PTR)
		return;
	t = target(g, VALUE_PTR);
	if (t == r || t == p)
		return;
	known_save(g, &before);
	limit = bound(g, r, &at);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, t, p, 0, 0);
	put(g, (rnd(g, 6) ? BPF_ALU64 : BPF_ALU64) | (rnd(g, 20) ? BPF_ADD : BPF_SUB) | BPF_X, t, r,
	    0, 0);
	g->has[t] = VALUE_PTR;
	off = GEN_VALUE - 8 - (int)limit;
	if (g->has[r] != NUMBER)
		return;
	access_at(g, t, rnd(g, 20) && off > 0 ? (int)rnd(g, (uint32_t)off) : (int)rnd(g, 8));
	g->has[t] = g->loops ? g->has[t] : NOTHING;
	if (at) {
		jump_here(g, at);
		known_meet(g, &before);
	}
}

static bool packets(const struct gen *g)
{
	return g->has[6] == CTX && g->out->type != BPF_PROG_TYPE_SOCKET_FILTER;
}

void item_packet(struct gen *g)
{
	static const uint8_t cmps[] = { BPF_JGT, BPF_JGE };
	bool xdp = g->out->type == BPF_PROG_TYPE_XDP;
	unsigned d = 1, e = 2, x = 3, i;
	int need = 1 + (int)rnd(g, 40), off;
	struct known before;
	uint32_t at;

	if (!packets(g))
		return;
	i = rnd(g, 2) ? number(g) : NO_REG;
	if (i < 4)
		i = NO_REG;
	known_save(g, &before);
	put(g, BPF_LDX | BPF_MEM | BPF_W, d, 6, xdp ? 0 : 76, 0);
	put(g, BPF_LDX | BPF_MEM | BPF_W, e, 6, xdp ? 4 : 80, 0);
	if (i != NO_REG) {
		put(g, BPF_ALU64 | BPF_AND | BPF_K, i, 0, 0,
		    (int32_t[]){ 255, 65535, 0x7fff, 15, 7 }[rnd(g, 5)]);
		put(g, BPF_ALU64 | BPF_ADD | BPF_X, d, i, 0, 0);
	}
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, x, d, 0, 0);
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, x, 0, 0, need);
	if (rnd(g, 2))
		at = put(g, BPF_JMP | cmps[rnd(g, 2)] | BPF_X, x, e, 0, 0);
	else
		at = put(g, BPF_JMP | (rnd(g, 2) ? BPF_JLT : BPF_JLE) | BPF_X, e, x, 0, 0);
	before.has[1] = before.has[2] = before.has[3] = NOTHING;
	g->has[d] = PACKET;
	g->has[e] = g->has[x] = NOTHING;
	off = need > 8 ? (int)rnd(g, (uint32_t)need - 7) : 0;
	if (need >= 8 || rnd(g, 10) == 0) {
		if (g->out->type == BPF_PROG_TYPE_CGROUP_SKB)
			put(g, BPF_LDX | BPF_MEM | sizes[rnd(g, 4)], 0, d, off, 0);
		else
			access_at(g, d, off);
	} else {
		put(g, BPF_LDX | BPF_MEM | BPF_B, 0, d, (int)rnd(g, (uint32_t)need), 0);
	}
	if (rnd(g, 3) == 0 && !g->loops)
		block(g, 1 + rnd(g, 3));
	jump_here(g, at);
	known_meet(g, &before);
}

void item_ctx(struct gen *g)
{
	static const int16_t skb[] = {
		0, 4, 8, 12, 16, 20, 24, 28, 36, 40, 48, 52, 56, 60, 64, 68
	};
	unsigned t;

	if (g->has[6] != CTX)
		return;
	if (g->out->type == BPF_PROG_TYPE_XDP) {
		t = target(g, NUMBER);
		put(g, BPF_LDX | BPF_MEM | BPF_W, t, 6, rnd(g, 2) ? 12 : 16, 0);
		g->has[t] = NUMBER;
	} else if (rnd(g, 3)) {
		t = target(g, NUMBER);
		put(g, BPF_LDX | BPF_MEM | BPF_W, t, 6, skb[rnd(g, 16)], 0);
		g->has[t] = NUMBER;
	} else {
		put(g, BPF_STX | BPF_MEM | BPF_W, 6, number(g), 48 + 4 * (int)rnd(g, 5), 0);
	}
}

void item_update(struct gen *g)
{
	enum gen_map m = rnd(g, 3);
	unsigned p = pick(g, VALUE_PTR);

	key_make(g);
	load_map(g, 1, m);
	if (m == GEN_HASH && rnd(g, 3) == 0) {
		call(g, BPF_FUNC_map_delete_elem);
	} else {
		if (p >= 6 && p != NO_REG)
			put(g, BPF_ALU64 | BPF_MOV | BPF_X, 3, p, 0, 0);
		else
			stack_address(g, 3, -GEN_VALUE);
		put(g, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, (int32_t)rnd(g, 3));
		call(g, BPF_FUNC_map_update_elem);
	}
	g->has[0] = NUMBER;
}

void item_ring(struct gen *g)
{
	uint32_t size = 8 + 8 * rnd(g, 5), skip;
	unsigned t;

	load_map(g, 1, GEN_RINGBUF);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, (int32_t)size);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0);
	call(g, BPF_FUNC_ringbuf_reserve);
	skip = put(g, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 0, 0);
	for (uint32_t i = rnd(g, 3); i-- > 0;) {
		t = 1 + rnd(g, 5);
		put(g, BPF_ALU64 | BPF_MOV | BPF_K, t, 0, 0, constant(g));
		put(g, BPF_STX | BPF_MEM | BPF_DW, 0, t, (int)rnd(g, size - (rnd(g, 20) ? 7 : 0)),
		    0);
	}
	if (rnd(g, 3) == 0)
		put(g, BPF_LDX | BPF_MEM | BPF_W, 3, 0, (int)rnd(g, size - 3), 0);
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 0);
	call(g, rnd(g, 2) ? BPF_FUNC_ringbuf_submit : BPF_FUNC_ringbuf_discard);
	jump_here(g, skip);
}

void item_atomic(struct gen *g)
{
	static const int32_t ops[] = { BPF_ADD,
				       BPF_OR,
				       BPF_AND,
				       BPF_XOR,
				       BPF_ADD | BPF_FETCH,
				       BPF_OR | BPF_FETCH,
				       BPF_AND | BPF_FETCH,
				       BPF_XOR | BPF_FETCH,
				       BPF_XCHG,
				       BPF_CMPXCHG };
	int32_t op = ops[rnd(g, 10)];
	uint8_t size = rnd(g, 2) ? BPF_W : BPF_DW;
	unsigned p = pick(g, VALUE_PTR), s = number(g), k = rnd(g, SLOTS);

	if (op == BPF_CMPXCHG && g->has[0] != NUMBER)
		return;
	if (g->has[s] != NUMBER)
		return;
	if (p != NO_REG && rnd(g, 3))
		put(g, BPF_STX | BPF_ATOMIC | size, p, s, 8 * (int)rnd(g, 6), op);
	else if (g->slot[k] == NUMBER)
		put(g, BPF_STX | BPF_ATOMIC | size, 10, s, -8 * (int)(k + 1), op);
}

static struct sub *sub_new(struct gen *g)
{
	struct sub *s = &g->sub[g->n_subs];

	if (g->n_subs == SUBS || g->sub_level >= 3)
		return NULL;
	g->n_subs++;
	memset(s, 0, sizeof(*s));
	s->level = g->sub_level + 1;
	return s;
}

/* A static function: a new one, with what r1-r5 hold now. */
void item_call(struct gen *g)
{
	struct sub *s = sub_new(g);

	if (!s)
		return;
	if (g->has[6] == CTX && rnd(g, 2)) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
		g->has[1] = CTX;
	}
	if (rnd(g, 2)) {
		stack_address(g, 2, -8 * SLOTS);
		g->has[2] = FAR_STACK;
	}
	for (unsigned i = 1; i <= 5; i++)
		s->arg[i] = g->has[i] == LOCKED ? NUMBER : g->has[i];
	s->call[s->n_calls++] = put(g, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
	clobber(g);
	for (unsigned k = 0; s->arg[2] == FAR_STACK && k < SLOTS; k++)
		g->slot[k] = g->slot[k] == NUMBER ? NUMBER : NOTHING;
	g->has[0] = NUMBER;
}

static void load_func(struct gen *g, unsigned r, struct sub *s)
{
	s->call[s->n_calls++] = put(g, BPF_LD | BPF_IMM | BPF_DW, r, BPF_PSEUDO_FUNC, 0, 0);
	put(g, 0, 0, 0, 0, 0);
}

static void item_for_each(struct gen *g, struct sub *s)
{
	load_func(g, 2, s);
	load_map(g, 1, rnd(g, 3));
	stack_address(g, 3, -8 * SLOTS);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
	call(g, BPF_FUNC_for_each_map_elem);
	s->arg[3] = VALUE_PTR;
	s->arg[4] = FAR_STACK;
}

static void item_bpf_loop(struct gen *g, struct sub *s)
{
	if (rnd(g, 2))
		put(g, BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, (int32_t)rnd(g, 20));
	else
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, number(g), 0, 0);
	load_func(g, 2, s);
	stack_address(g, 3, -8 * SLOTS);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, 0);
	call(g, BPF_FUNC_loop);
	s->arg[1] = NUMBER;
	s->arg[2] = FAR_STACK;
}

void item_callback(struct gen *g)
{
	struct sub *s = g->with & GEN_CALLBACKS && !g->loops ? sub_new(g) : NULL;

	if (!s)
		return;
	s->callback = true;
	if (rnd(g, 3))
		item_bpf_loop(g, s);
	else
		item_for_each(g, s);
	for (unsigned k = 0; k < SLOTS; k++)
		g->slot[k] = g->slot[k] == NUMBER ? NUMBER : NOTHING;
	g->has[0] = NUMBER;
}

/* Reads the packet into the stack, or moves its start. */
void item_skb(struct gen *g)
{
	bool xdp = g->out->type == BPF_PROG_TYPE_XDP;

	if (g->has[6] != CTX)
		return;
	if (xdp && rnd(g, 2)) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 2, number(g), 0, 0);
		put(g, BPF_ALU64 | BPF_AND | BPF_K, 2, 0, 0, 15);
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
		call(g, rnd(g, 2) ? BPF_FUNC_xdp_adjust_head : BPF_FUNC_xdp_adjust_tail);
	} else {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 2, number(g), 0, 0);
		stack_address(g, 3, -8 * SLOTS);
		if (rnd(g, 2)) {
			put(g, BPF_ALU64 | BPF_MOV | BPF_K, 4, 0, 0, (int32_t)(1 + rnd(g, 64)));
		} else {
			put(g, BPF_ALU64 | BPF_MOV | BPF_X, 4, number(g), 0, 0);
			put(g, BPF_ALU64 | BPF_AND | BPF_K, 4, 0, 0, 31);
			put(g, BPF_ALU64 | BPF_ADD | BPF_K, 4, 0, 0, 1);
		}
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
		call(g, xdp ? BPF_FUNC_xdp_load_bytes : BPF_FUNC_skb_load_bytes);
		for (unsigned k = 0; k < SLOTS; k++)
			g->slot[k] = g->slot[k] == NUMBER ? NUMBER : NOTHING;
	}
	for (unsigned i = 0; i < 10; i++)
		g->has[i] = g->has[i] == PACKET ? NOTHING : g->has[i];
	for (unsigned k = 0; k < SLOTS; k++)
		g->slot[k] = g->slot[k] == PACKET ? NOTHING : g->slot[k];
	g->has[0] = NUMBER;
}

void item_tail(struct gen *g)
{
	if (g->has[6] != CTX || g->sub_level || !(g->with & GEN_TAIL_CALLS))
		return;
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
	load_map(g, 2, GEN_PROGS);
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, (int32_t)rnd(g, GEN_ENTRIES + 1));
	call(g, BPF_FUNC_tail_call);
	for (unsigned i = 0; i < 10; i++)
		g->has[i] = g->has[i] == PACKET ? NOTHING : g->has[i];
	for (unsigned k = 0; k < SLOTS; k++)
		g->slot[k] = g->slot[k] == PACKET ? NOTHING : g->slot[k];
}

/* The distance of two pointers is a number. */
void item_sub_ptr(struct gen *g)
{
	unsigned a = pick(g, VALUE_PTR), t = target(g, NUMBER);

	if (a == NO_REG || t == a || g->loops)
		return;
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, t, a, 0, 0);
	put(g, BPF_ALU64 | BPF_SUB | BPF_X, t, a, 0, 0);
	g->has[t] = NUMBER;
}
