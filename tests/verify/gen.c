/* SPDX-License-Identifier: BSD-2-Clause */
#include "gen.h"

#include <string.h>

#include "gen_impl.h"

const struct gen_map_row gen_maps[GEN_MAPS] = {
	[GEN_ARRAY] = { BPF_MAP_TYPE_ARRAY, 4, GEN_VALUE, GEN_ENTRIES },
	[GEN_HASH] = { BPF_MAP_TYPE_HASH, 4, GEN_VALUE, GEN_ENTRIES },
	[GEN_PERCPU] = { BPF_MAP_TYPE_PERCPU_ARRAY, 4, GEN_VALUE, GEN_ENTRIES },
	[GEN_RINGBUF] = { BPF_MAP_TYPE_RINGBUF, 0, 0, GEN_RING },
	[GEN_PROGS] = { BPF_MAP_TYPE_PROG_ARRAY, 4, 4, GEN_ENTRIES },
};

uint32_t rnd(struct gen *g, uint32_t n)
{
	g->rng = g->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(g->rng >> 33) % n;
}

uint32_t put(struct gen *g, uint8_t code, unsigned dst, unsigned src, int off, int32_t imm)
{
	if (g->out->n == GEN_INSNS)
		return g->out->n - 1;
	g->out->insns[g->out->n] = (struct bpf_insn){ .code = code,
						      .dst_reg = dst & 15,
						      .src_reg = src & 15,
						      .off = (int16_t)off,
						      .imm = imm };
	return g->out->n++;
}

bool full(const struct gen *g)
{
	return g->out->n > GEN_INSNS - 300 || g->out->n - g->start > g->room;
}

void jump_here(struct gen *g, uint32_t at)
{
	g->out->insns[at].off = (int16_t)(g->out->n - at - 1);
}

int32_t constant(struct gen *g)
{
	static const int32_t list[] = { 0,	   1,	2,   3,	  4,   7,     8,       15,
					16,	   31,	32,  33,  40,  47,    48,      63,
					64,	   127, 128, 255, 256, 65535, 1 << 30, INT32_MAX,
					INT32_MIN, -1,	-2,  -8,  -64 };

	return rnd(g, 4) ? list[rnd(g, sizeof(list) / sizeof(list[0]))]
			 : (int32_t)(rnd(g, 1u << 31) * 2u + 1);
}

unsigned pick(struct gen *g, enum what w)
{
	unsigned start = rnd(g, 10);

	for (unsigned i = 0; i < 10; i++) {
		if (g->has[(start + i) % 10] == w)
			return (start + i) % 10;
	}
	return NO_REG;
}

/* Inside of a loop a register that is kept over calls keeps its kind too: the next round finds it
 * as this one did. */
unsigned target(struct gen *g, enum what w)
{
	unsigned start = rnd(g, 10);

	for (unsigned i = 0; i < 10; i++) {
		unsigned r = (start + i) % 10;

		if (g->has[r] == LOCKED || g->has[r] == CTX)
			continue;
		if (g->loops && r >= 6 && g->has[r] != w)
			continue;
		return r;
	}
	return 0;
}

unsigned number(struct gen *g)
{
	unsigned r = pick(g, NUMBER);

	if (r != NO_REG)
		return r;
	r = target(g, NUMBER);
	if (rnd(g, 2) || g->loops) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, constant(g));
	} else {
		call(g, BPF_FUNC_get_prandom_u32);
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, r, 0, 0, 0);
		g->has[0] = NUMBER;
	}
	g->has[r] = NUMBER;
	return r;
}

void clobber(struct gen *g)
{
	for (unsigned i = 0; i < 6; i++)
		g->has[i] = NOTHING;
}

void call(struct gen *g, int32_t helper)
{
	put(g, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
	clobber(g);
}

void load_map(struct gen *g, unsigned r, enum gen_map m)
{
	put(g, BPF_LD | BPF_IMM | BPF_DW, r, BPF_PSEUDO_MAP_FD, 0, (int32_t)m);
	put(g, 0, 0, 0, 0, 0);
}

void leave(struct gen *g)
{
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, (int32_t)rnd(g, 2));
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* What holds on two paths that meet. */
static void meet(enum what *a, const enum what *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		a[i] = a[i] == b[i] ? a[i] : NOTHING;
}

void known_save(const struct gen *g, struct known *k)
{
	memcpy(k->has, g->has, sizeof(k->has));
	memcpy(k->slot, g->slot, sizeof(k->slot));
}

void known_meet(struct gen *g, const struct known *k)
{
	meet(g->has, k->has, 11);
	meet(g->slot, k->slot, SLOTS);
}

void known_load(struct gen *g, const struct known *k)
{
	memcpy(g->has, k->has, sizeof(k->has));
	memcpy(g->slot, k->slot, sizeof(k->slot));
}

uint32_t compare(struct gen *g, unsigned dst)
{
	static const uint8_t ops[] = { BPF_JEQ,	 BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
				       BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE, BPF_JSET };
	uint8_t op = ops[rnd(g, sizeof(ops))], class = rnd(g, 3) ? BPF_JMP : BPF_JMP32;

	if (rnd(g, 3))
		return put(g, class | op | BPF_K, dst, 0, 0, constant(g));
	return put(g, class | op | BPF_X, dst, number(g), 0, 0);
}

static void item_if(struct gen *g)
{
	struct known before, then;
	uint32_t at = compare(g, number(g)), end;

	known_save(g, &before);
	block(g, 1 + rnd(g, 4));
	if (rnd(g, 2)) {
		jump_here(g, at);
		known_meet(g, &before);
		return;
	}
	end = put(g, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	jump_here(g, at);
	known_save(g, &then);
	known_load(g, &before);
	block(g, 1 + rnd(g, 4));
	jump_here(g, end);
	known_meet(g, &then);
}

/* for (r = 0; r < n; r++), or while may_goto. */
static void item_loop(struct gen *g)
{
	unsigned r = 7 + rnd(g, 3);
	bool may_goto = g->with & GEN_MAY_GOTO && rnd(g, 6) == 0;
	uint32_t start, out = 0;
	struct known before;

	if (g->loops > 1 || (g->loops && rnd(g, 4)) || g->has[r] == LOCKED)
		return;
	put(g, BPF_ALU64 | BPF_MOV | BPF_K, r, 0, 0, 0);
	g->has[r] = LOCKED;
	clobber(g);
	known_save(g, &before);
	g->loops++;
	start = g->out->n;
	if (may_goto)
		out = put(g, 0xe5, 0, 0, 0, 0);
	block(g, 1 + rnd(g, 4));
	g->loops--;
	put(g, BPF_ALU64 | BPF_ADD | BPF_K, r, 0, 0, 1);
	if (may_goto) {
		if (rnd(g, 2))
			put(g, BPF_JMP | BPF_JGT | BPF_K, r, 0, 1, (int32_t)(1 + rnd(g, 12)));
		put(g, BPF_JMP | BPF_JA, 0, 0, (int)start - (int)g->out->n - 1, 0);
		jump_here(g, out);
	} else {
		put(g, (rnd(g, 4) ? BPF_JMP : BPF_JMP32) | (rnd(g, 3) ? BPF_JLT : BPF_JSLT) | BPF_K,
		    r, 0, (int)start - (int)g->out->n - 1, (int32_t)(1 + rnd(g, 5)));
	}
	known_load(g, &before);
	g->has[r] = NUMBER;
}

struct item {
	uint8_t weight;
	void (*make)(struct gen *g);
};

static const struct item items[] = {
	{ 14, item_alu },    { 4, item_move },	 { 10, item_if },    { 5, item_loop },
	{ 6, item_stack },   { 8, item_spill },	 { 5, item_linked }, { 12, item_value },
	{ 8, item_packet },  { 3, item_ctx },	 { 2, item_random }, { 3, item_update },
	{ 3, item_ring },    { 4, item_atomic }, { 5, item_call },   { 4, item_callback },
	{ 3, item_skb },     { 1, item_tail },	 { 2, item_endian }, { 3, item_stack_var },
	{ 2, item_sub_ptr },
};

static void item(struct gen *g)
{
	uint32_t sum = 0, dice;

	for (unsigned i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		sum += items[i].weight;
	dice = rnd(g, sum);
	for (unsigned i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		if (dice < items[i].weight) {
			items[i].make(g);
			return;
		}
		dice -= items[i].weight;
	}
}

void block(struct gen *g, uint32_t n)
{
	if (g->depth >= 4)
		return;
	g->depth++;
	for (uint32_t i = 0; i < n && !full(g); i++)
		item(g);
	g->depth--;
}

/* The body of a subprogram or callback that a call named before. */
static void body(struct gen *g, const struct sub *s)
{
	g->start = g->out->n;
	g->room = 60;
	for (unsigned i = 0; i < s->n_calls; i++) {
		struct bpf_insn *call = &g->out->insns[s->call[i]];

		call->imm = (int32_t)(g->start - s->call[i] - 1);
	}
	memset(g->slot, 0, sizeof(g->slot));
	memset(g->has, 0, sizeof(g->has));
	for (unsigned i = 1; i <= 5; i++)
		g->has[i] = s->arg[i];
	g->has[10] = NOTHING;
	g->loops = 0;
	g->sub_level = s->level;
	if (g->has[1] == CTX) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
		g->has[6] = CTX;
		g->has[1] = NOTHING;
	} else if (g->has[2] == FAR_STACK) {
		put(g, BPF_ALU64 | BPF_MOV | BPF_X, 8, 2, 0, 0);
		g->has[8] = FAR_STACK;
	}
	block(g, 2 + rnd(g, 5));
	if (s->callback) {
		leave(g);
		return;
	}
	put(g, BPF_ALU64 | BPF_MOV | BPF_X, 0, number(g), 0, 0);
	put(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void gen_make(uint64_t seed, unsigned with, struct gen_prog *out)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_XDP,
					  BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_CGROUP_SKB };
	struct gen g = { .rng = seed * 0x9e3779b97f4a7c15ull, .out = out, .with = with };

	out->seed = seed;
	out->n = 0;
	rnd(&g, 2);
	out->type = types[rnd(&g, 4)];
	g.room = 20 + rnd(&g, 300);
	put(&g, BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	g.has[6] = CTX;
	item_random(&g);
	while (!full(&g))
		item(&g);
	leave(&g);
	for (unsigned i = 0; i < g.n_subs; i++)
		body(&g, &g.sub[i]);
}
