/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * r6 holds the context, r7-r9 numbers that the program works with; r0-r5 hold nothing between
 * items. The stack's upper 32 bytes are numbers.
 */
#include "programs.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "rng.h"

enum { DEPTH_MAX = 3, CALLBACKS = 3, SUBS = 2 };

struct gen {
	struct rng rng;
	uint32_t type;
	struct report *out;
	unsigned labels, depth;
	bool callback[CALLBACKS], sub[SUBS]; /* are wanted */
	bool has_ctx;			     /* main program */
};

#define PUT(g, ...) report_add((g)->out, __VA_ARGS__)

static uint32_t below(struct gen *g, uint32_t n)
{
	return rng_below(&g->rng, n);
}

static unsigned number(struct gen *g)
{
	return 7 + below(g, 3);
}

static int32_t constant(struct gen *g)
{
	static const int32_t some[] = {
		0, 1, -1, 2, 3, 7, 8, 255, 256, 0x7fffffff, -0x7fffffff - 1, 10, 1000, 65535, -5
	};

	return below(g, 2) ? some[below(g, sizeof(some) / sizeof(some[0]))]
			   : (int32_t)rng_next(&g->rng);
}

static void items(struct gen *g, unsigned n);

static void item_alu(struct gen *g)
{
	static const char *const ops[] = { "+=", "-=", "*=", "|=", "&=", "^=", "=" };
	const char *op = ops[below(g, 7)];
	char w = below(g, 2) ? 'w' : 'r';

	if (below(g, 2))
		PUT(g, "%c%u %s %d\n", w, number(g), op, constant(g));
	else
		PUT(g, "%c%u %s %c%u\n", w, number(g), op, w, number(g));
}

static void item_shift(struct gen *g)
{
	static const char *const ops[] = { "<<=", ">>=", "s>>=" };
	bool w = below(g, 2);

	PUT(g, "%c%u %s %u\n", w ? 'w' : 'r', number(g), ops[below(g, 3)], below(g, w ? 32 : 64));
}

static void item_divide(struct gen *g)
{
	static const char *const ops[] = { "/=", "%=", "s/=", "s%=" };
	const char *op = ops[below(g, 4)];
	char w = below(g, 2) ? 'w' : 'r';
	int32_t by = constant(g);

	if (below(g, 2))
		PUT(g, "%c%u %s %d\n", w, number(g), op, by ? by : 3);
	else
		PUT(g, "%c%u %s %c%u\n", w, number(g), op, w, number(g));
}

static const char *compare(struct gen *g)
{
	static const char *const ops[] = { "==", "!=",	">",  ">=",  "<", "<=",
					   "s>", "s>=", "s<", "s<=", "&" };

	return ops[below(g, 11)];
}

/* A way that is taken sometimes, always or never. */
static void item_branch(struct gen *g)
{
	unsigned label = g->labels++;
	bool known = below(g, 3) == 0;

	if (known)
		PUT(g, "r3 = %d\n", constant(g));
	if (known || below(g, 2))
		PUT(g, "if %c%u %s %d goto l%u_\n", below(g, 2) ? 'w' : 'r', known ? 3 : number(g),
		    compare(g), constant(g), label);
	else
		PUT(g, "if r%u %s r%u goto l%u_\n", number(g), compare(g), number(g), label);
	items(g, 1 + below(g, 3));
	if (below(g, 2)) {
		PUT(g, "goto l%u_end\nl%u_:\n", label, label);
		items(g, 1 + below(g, 2));
		PUT(g, "l%u_end:\n", label);
	} else {
		PUT(g, "l%u_:\n", label);
	}
}

static void item_loop(struct gen *g)
{
	unsigned label = g->labels++, at = 40 + 8 * g->depth;

	PUT(g, "*(u64 *)(r10 - %u) = 0\nl%u_:\n", at, label);
	items(g, 1 + below(g, 2));
	PUT(g, "r1 = *(u64 *)(r10 - %u)\nr1 += 1\n*(u64 *)(r10 - %u) = r1\nif r1 < %u goto l%u_\n",
	    at, at, 1 + below(g, 5), label);
}

/* Reads of the context's numbers, whole and in part. */
static void item_read(struct gen *g)
{
	static const uint16_t skb[] = { 0,  4,	8,  12, 16, 20, 24, 28, 32,  36, 40,
					44, 48, 52, 56, 60, 64, 68, 84, 164, 176 };
	static const uint16_t xdp[] = { 12, 16 };
	bool is_xdp = g->type == BPF_PROG_TYPE_XDP;
	unsigned off = is_xdp ? xdp[below(g, 2)] : skb[below(g, 21)];
	unsigned size = is_xdp ? 4 : 1u << below(g, 3);

	PUT(g, "r%u = *(u%u *)(r6 + %u)\n", number(g), 8 * size, off + below(g, 4 / size) * size);
}

static void item_write(struct gen *g)
{
	static const uint16_t tc[] = { 8, 12, 32, 44, 48, 52, 56, 60, 64, 72 };

	if (g->type == BPF_PROG_TYPE_SCHED_CLS && below(g, 4) == 0)
		PUT(g, "*(u64 *)(r6 + 152) = r%u\n", number(g));
	else if (g->type == BPF_PROG_TYPE_SCHED_CLS)
		PUT(g, "*(u32 *)(r6 + %u) = r%u\n", tc[below(g, 10)], number(g));
	else if (g->type == BPF_PROG_TYPE_SOCKET_FILTER)
		PUT(g, "*(u32 *)(r6 + %u) = r%u\n", 48 + 4 * below(g, 5), number(g));
}

/* A look into the packet behind a comparison with its end; sometimes at a place that varies. */
static void item_packet(struct gen *g)
{
	bool is_xdp = g->type == BPF_PROG_TYPE_XDP, meta = is_xdp && below(g, 4) == 0;
	unsigned label = g->labels++, size = 1u << below(g, 4), n = size + below(g, 60);
	unsigned data = is_xdp ? 0 : 76, end = meta ? data : data + 4;

	if (g->type == BPF_PROG_TYPE_SOCKET_FILTER)
		return;
	PUT(g, "r2 = *(u32 *)(r6 + %u)\nr3 = *(u32 *)(r6 + %u)\n", meta ? 8 : data, end);
	if (below(g, 3) == 0)
		PUT(g, "r4 = r%u\nr4 &= 15\nr2 += r4\n", number(g));
	PUT(g, "r5 = r2\nr5 += %u\nif r5 > r3 goto l%u_\n", n, label);
	if (below(g, 2))
		PUT(g, "r%u = *(u%u *)(r2 + %u)\n", number(g), 8 * size, n - size);
	else
		PUT(g, "*(u%u *)(r2 + %u) = r%u\n", 8 * size, n - size, number(g));
	PUT(g, "l%u_:\n", label);
}

/* The packet moves: adjust_head, adjust_tail, adjust_meta; skb_change_tail, skb_pull_data,
 * skb_change_head. */
static void item_move(struct gen *g)
{
	static const uint8_t xdp[] = { BPF_FUNC_xdp_adjust_head, BPF_FUNC_xdp_adjust_tail,
				       BPF_FUNC_xdp_adjust_meta };
	static const uint8_t tc[] = { BPF_FUNC_skb_change_tail, BPF_FUNC_skb_pull_data,
				      BPF_FUNC_skb_change_head };
	bool is_xdp = g->type == BPF_PROG_TYPE_XDP;

	if (g->type == BPF_PROG_TYPE_SOCKET_FILTER)
		return;
	PUT(g, "r1 = r6\nr2 = %d\nr3 = 0\ncall %u\nr%u ^= r0\n",
	    is_xdp ? 4 * ((int)below(g, 16) - 8) : (int)(20 + below(g, 100)),
	    is_xdp ? xdp[below(g, 3)] : tc[below(g, 3)], number(g));
}

static void item_ldabs(struct gen *g)
{
	static const char *const sizes[] = { "u8", "u16", "u32" };
	const char *size = sizes[below(g, 3)];
	unsigned from = below(g, 4) ? number(g) : below(g, 6);
	int32_t imm = below(g, 8) ? (int32_t)below(g, 40)
				  : (below(g, 2) ? -0x100000 : -0x200000) + (int32_t)below(g, 8);

	if (g->type == BPF_PROG_TYPE_XDP)
		return;
	if (below(g, 2)) {
		PUT(g, "r0 = *(%s *)skb[%d]\n", size, imm);
	} else {
		if (from != 6)
			PUT(g, "r%u = r%u\nr%u &= %d\n", from, number(g), from,
			    below(g, 8) ? 31 : 0x7fffffff);
		PUT(g, "r0 = *(%s *)skb[r%u + %d]\n", size, from, imm);
	}
	PUT(g, "r%u += r0\n", number(g));
}

static void item_map(struct gen *g)
{
	unsigned label = g->labels++;

	PUT(g, "r1 = map_fd 0 ll\n");
	if (below(g, 2))
		PUT(g, "*(u32 *)(r10 - 80) = %u\n", below(g, GEN_ENTRIES + 2));
	else
		PUT(g, "*(u32 *)(r10 - 80) = r%u\n", number(g));
	PUT(g, "r2 = r10\nr2 += -80\ncall 1\nif r0 == 0 goto l%u_\n", label);
	if (below(g, 2))
		PUT(g, "r1 = r%u\nr1 &= 31\nr0 += r1\n", number(g));
	PUT(g, "r1 = *(u64 *)(r0 + %u)\nr1 ^= r%u\n*(u64 *)(r0 + %u) = r1\nr%u += r1\nl%u_:\n",
	    below(g, 8), number(g), below(g, 8), number(g), label);
}

static void item_rounds(struct gen *g)
{
	unsigned callback = below(g, CALLBACKS), how = below(g, 8);

	g->callback[callback] = true;
	if (how == 0)
		PUT(g, "r1 = %u\n", (8u << 20) + 1);
	else if (how == 1)
		PUT(g, "r1 = %u\n", below(g, 3));
	else
		PUT(g, "r1 = r%u\nr1 &= 31\n", number(g));
	PUT(g, "r2 = callback%u ll\nr3 = r10\nr3 += -32\n", callback);
	if (below(g, 8))
		PUT(g, "r4 = 0\n");
	else
		PUT(g, "r4 = r%u\n", number(g));
	PUT(g, "call 181\nr%u ^= r0\nr%u += r%u\n", number(g), number(g), number(g));
}

static void item_sub(struct gen *g)
{
	unsigned sub = below(g, SUBS);

	g->sub[sub] = true;
	PUT(g, "r1 = r%u\nr2 = r%u\ncall sub_%u\nr%u = r0\n", number(g), number(g), sub, number(g));
}

static void item_stack(struct gen *g)
{
	unsigned off = 8 + 8 * below(g, 4);

	if (below(g, 2))
		PUT(g, "*(u64 *)(r10 - %u) = r%u\n", off, number(g));
	else
		PUT(g, "r%u = *(u64 *)(r10 - %u)\n", number(g), off);
}

static const struct {
	uint8_t weight;
	bool ctx, deep; /* needs the context; holds other items */
	void (*make)(struct gen *g);
} kinds[] = {
	{ 8, false, false, item_alu },	  { 2, false, false, item_shift },
	{ 3, false, false, item_divide }, { 4, false, true, item_branch },
	{ 1, false, true, item_loop },	  { 3, true, false, item_read },
	{ 2, true, false, item_write },	  { 4, true, false, item_packet },
	{ 1, true, false, item_move },	  { 3, true, false, item_ldabs },
	{ 2, false, false, item_map },	  { 2, true, false, item_rounds },
	{ 1, true, false, item_sub },	  { 2, false, false, item_stack },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), WEIGHTS = 38 };

static void item(struct gen *g)
{
	uint32_t at = below(g, WEIGHTS), i = 0;

	while (at >= kinds[i].weight)
		at -= kinds[i++].weight;
	if ((kinds[i].ctx && !g->has_ctx) || (kinds[i].deep && g->depth >= DEPTH_MAX))
		i = 0;
	g->depth += kinds[i].deep;
	kinds[i].make(g);
	g->depth -= kinds[i].deep;
}

static void items(struct gen *g, unsigned n)
{
	while (n--)
		item(g);
}

static void frame_begin(struct gen *g)
{
	for (unsigned off = 8; off <= 32; off += 8)
		PUT(g, "*(u64 *)(r10 - %u) = %d\n", off, constant(g));
}

/* r1: round, r2: 32 bytes of numbers. Gives 0 or 1. */
static void callback_put(struct gen *g, unsigned n)
{
	PUT(g, "callback%u:\nr6 = r2\nr7 = r1\nr8 = *(u64 *)(r6 + 8)\nr9 = *(u64 *)(r6 + 16)\n", n);
	frame_begin(g);
	items(g, below(g, 4));
	PUT(g, "*(u64 *)(r6 + 16) = r9\nr8 += r7\n*(u64 *)(r6 + 8) = r8\nr0 = 0\n");
	if (below(g, 2))
		PUT(g, "r7 &= 31\nif r7 != %u goto on%u\nr0 = 1\non%u:\n", below(g, 24), n, n);
	PUT(g, "exit\n");
}

static void sub_put(struct gen *g, unsigned n)
{
	PUT(g, "sub_%u:\nr7 = r1\nr8 = r2\nr9 = %d\n", n, constant(g));
	frame_begin(g);
	items(g, 1 + below(g, 4));
	PUT(g, "r0 = r7\nr0 ^= r8\nr0 += r9\nexit\n");
}

void gen_text(uint64_t seed, uint32_t prog_type, struct report *out)
{
	struct gen g = { .rng = { seed }, .type = prog_type, .out = out, .has_ctx = true };

	PUT(&g, "r6 = r1\nr7 = %d\nr8 = %d\n", constant(&g), constant(&g));
	PUT(&g, "r1 = map_value 0 + 8 ll\nr9 = *(u64 *)(r1 + 0)\n");
	if (below(&g, 2))
		PUT(&g, "r8 = *(u64 *)(r1 + 8)\nr7 = *(u32 *)(r1 + 20)\n");
	frame_begin(&g);
	items(&g, 2 + below(&g, 14));
	PUT(&g, "r0 = r7\nr0 ^= r8\nr0 += r9\nexit\n");
	g.has_ctx = false;
	for (unsigned i = 0; i < CALLBACKS; i++)
		if (g.callback[i])
			callback_put(&g, i);
	for (unsigned i = 0; i < SUBS; i++)
		if (g.sub[i])
			sub_put(&g, i);
}
