/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz [--seed N] [--count N] [--print]: random programs (programs.h), as they are on the
 * interpreter with a packet below 4 GiB, against verified and rewritten on the interpreter and on
 * the JIT with a packet above. Result, packet, context and map must be the same. TAP.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "programs.h"
#include "helper/skb.h"
#include "helper/table.h"
#include "helper/xdp.h"
#include "interp/interp.h"
#include "jit/target.h"
#include "map/map.h"
#include "rewrite/rewrite.h"
#include "rng.h"
#include "run/slot.h"
#include "verify/verify.h"

enum { PACKET = 256, OPS_MAX = 20000000 };

static const uint32_t types[] = { BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS,
				  BPF_PROG_TYPE_SOCKET_FILTER };

static struct map *map;
static struct packet_buf low, high;

struct outcome {
	uint64_t r0;
	uint32_t n;
	uint8_t packet[8192];
	struct __sk_buff skb; /* or struct xdp_md, at its start */
	uint8_t value[GEN_ENTRIES * GEN_VALUE];
};

struct tally {
	uint64_t same, refused, failed, different, longer;
};

/* Packets of 60 bytes and more, that are no IP. */
static uint32_t packet_make(uint64_t seed, uint8_t out[PACKET])
{
	struct rng r = { seed ^ 0xabcdef };
	uint32_t n = 60 + rng_below(&r, PACKET - 60);

	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)rng_next(&r);
	out[12] = 0x88;
	return n;
}

static void map_reset(uint64_t seed)
{
	for (uint32_t i = 0; i < GEN_ENTRIES * GEN_VALUE; i++)
		map->value[i] = (uint8_t)(seed >> i % 8 ^ i * 7);
}

static uint64_t addr(void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static int run_xdp(const struct loaded *l, const struct packet_buf *b, const uint8_t *bytes,
		   uint32_t n, struct outcome *o)
{
	struct xdp_ctx ctx;
	int err;

	xdp_init(&ctx, b, bytes, n, 0, n);
	err = engine_run(l, (const uint64_t[5]){ addr(&ctx) }, &o->r0);
	o->n = xdp_size(&ctx);
	xdp_copy_out(&ctx, o->packet, sizeof(o->packet));
	ctx.md.data = ctx.md.data_end = ctx.md.data_meta = 0;
	memcpy(&o->skb, &ctx.md, sizeof(ctx.md));
	return err;
}

static int run_skb(const struct loaded *l, const struct packet_buf *b, uint32_t type,
		   const uint8_t *bytes, uint32_t n, struct outcome *o)
{
	struct skb_ctx ctx;
	int err = skb_init(&ctx, b, bytes, n, type);

	if (err)
		return err;
	err = engine_run(l, (const uint64_t[5]){ addr(&ctx) }, &o->r0);
	o->n = skb_len(&ctx);
	memcpy(o->packet, ctx.data, o->n);
	ctx.skb.data = ctx.skb.data_end = ctx.skb.data_meta = 0;
	ctx.skb.sk = NULL;
	o->skb = ctx.skb;
	return err;
}

static int run(const char *engine, const struct unit *u, uint32_t type, uint64_t seed,
	       const struct packet_buf *b, struct report *r, struct outcome *o)
{
	struct engine e;
	struct slot_run slot;
	struct loaded l = { 0 };
	uint8_t bytes[PACKET];
	uint32_t n = packet_make(seed, bytes);
	int err = engine_find(engine, &e) ? 0 : -ENOENT;

	memset(o, 0, sizeof(*o));
	e.max_ops = OPS_MAX;
	map_reset(seed);
	if (!err)
		err = engine_load(&e, u, r, &l);
	if (err)
		return err;
	if (slot_enter(&slot))
		abort();
	err = type == BPF_PROG_TYPE_XDP ? run_xdp(&l, b, bytes, n, o)
					: run_skb(&l, b, type, bytes, n, o);
	slot_leave(&slot);
	engine_unload(&l);
	memcpy(o->value, map->value, sizeof(o->value));
	return err;
}

static bool same(const char *what, const struct outcome *a, const struct outcome *b)
{
	const char *differs = a->r0 != b->r0					? "r0"
			      : a->n != b->n					? "length"
			      : memcmp(a->packet, b->packet, sizeof(a->packet)) ? "packet"
			      : memcmp(&a->skb, &b->skb, sizeof(a->skb))	? "context"
			      : memcmp(a->value, b->value, sizeof(a->value))	? "map"
										: NULL;

	if (differs)
		printf("# %s: %s differs; r0 %" PRIx64 " and %" PRIx64 ", length %u and %u\n", what,
		       differs, a->r0, b->r0, a->n, b->n);
	return !differs;
}

static struct unit *unit_make(uint64_t seed, uint32_t type)
{
	struct report text = { 0 }, r = { 0 };
	struct unit *u = NULL;

	gen_text(seed, type, &text);
	if (unit_parse("gen", text.text, &r, &u))
		printf("# %s%s", text.text, r.text);
	report_free(&text);
	report_free(&r);
	if (!u)
		return NULL;
	mem_free(u->refs);
	u->refs = mem_zalloc(1, sizeof(*u->refs));
	if (!u->refs)
		abort();
	u->n_refs = 1;
	u->refs[0] = (struct ref){
		.kind = REF_MAP, .map = &map->desc, .addr = addr(map), .value = addr(map->value)
	};
	u->env = helper_env_of(type);
	return u;
}

static struct unit *unit_verified(const struct unit *u, uint32_t type, struct report *r)
{
	const struct verify_input in = { .prog_type = type, .gpl = true };
	struct facts *f = NULL;
	struct unit *v;

	if (verify(u, &in, r, &f))
		return NULL;
	v = unit_copy(u);
	if (!v)
		abort();
	v->facts = f->op;
	v->stack = f->stack_depth;
	f->op = NULL;
	f->stack_depth = NULL;
	facts_free(f);
	return v;
}

/* With every other seed, some rewrites are left out; never that of contexts. */
static uint64_t off_mask(uint64_t seed)
{
	struct rng r = { seed * 77 };

	return seed & 1 ? rng_next(&r) & rng_next(&r) & ~(1ull << REWRITE_ctx) : 0;
}

static struct unit *unit_rewritten(const struct unit *v, uint32_t type, uint64_t seed,
				   uint32_t traits, bool jit, struct report *r)
{
	const struct rewrite_opts opts = { .scratch = 2,
					   .traits = traits,
					   .prog_type = type,
					   .jit = jit,
					   .hardened = seed % 5 == 0,
					   .off = off_mask(seed) };
	struct unit *out = NULL;

	rewrite(v, &opts, r, &out);
	return out;
}

struct way {
	const char *name, *engine;
	bool jit, bare; /* bare: for a target without any trait */
};

static const struct way ways[] = {
	{ "rewritten, interpreted", "interp", false, false },
	{ "for a bare target, interpreted", "interp", false, true },
	{ "for the JIT, interpreted", "interp", true, false },
	{ "rewritten, compiled", "jit", true, false },
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static bool check_way(const struct way *w, const struct unit *v, uint32_t type, uint64_t seed,
		      const struct outcome *want, struct report *r)
{
	static struct outcome got;
	const struct target *t = target_find(NULL);
	uint32_t traits = w->bare ? 0 : w->jit && t ? t->traits : INTERP_TRAITS;
	struct unit *x = unit_rewritten(v, type, seed, traits, w->jit, r);
	int err = x ? run(w->engine, x, type, seed, &high, r, &got) : -EINVAL;
	bool ok = !err && same(w->name, want, &got);

	if (err)
		printf("# %s: error %d %s\n", w->name, err, r->text ? r->text : "");
	unit_free(x);
	return ok;
}

static void show(uint64_t seed, uint32_t type, const struct unit *v)
{
	struct report r = { 0 }, x = { 0 };
	struct unit *out = unit_rewritten(v, type, seed, INTERP_TRAITS, true, &r);

	unit_print(v, PRINT_KERNEL, &x);
	report_add(&x, "becomes\n");
	if (out)
		unit_print(out, PRINT_KERNEL, &x);
	for (char *l = strtok(x.text, "\n"); l; l = strtok(NULL, "\n"))
		printf("# %s\n", l);
	unit_free(out);
	report_free(&r);
	report_free(&x);
}

static void check_seed(uint64_t seed, bool print, struct tally *t)
{
	static struct outcome want;
	uint32_t type = types[seed % 3];
	struct report r = { 0 };
	struct unit *u = unit_make(seed, type), *v = u ? unit_verified(u, type, &r) : NULL;
	int err = v ? run("interp", u, type, seed, &low, &r, &want) : 0;
	bool ok = true;

	if (v && print)
		show(seed, type, v);
	if (!v)
		t->refused++;
	else if (err == -ELOOP)
		t->longer++;
	else if (err)
		t->failed++;
	for (unsigned i = 0; i < WAYS && v && !err; i++)
		ok &= (ways[i].jit && !target_find(NULL)) ||
		      check_way(&ways[i], v, type, seed, &want, &r);
	t->same += v && !err && ok;
	t->different += !ok;
	if (!ok) {
		printf("# seed %" PRIu64 "\n", seed);
		show(seed, type, v);
	}
	if (!v && print)
		printf("# %s\n", r.text ? r.text : "");
	unit_free(u);
	unit_free(v);
	report_free(&r);
}

static bool world_make(void)
{
	const struct map_desc desc = { .type = BPF_MAP_TYPE_ARRAY,
				       .key_size = 4,
				       .value_size = GEN_VALUE,
				       .max_entries = GEN_ENTRIES,
				       .id = 1,
				       .name = "array" };

	return !slot_init() && !map_create(&desc, &map) && !packet_buf_get(&low, true) &&
	       !packet_buf_get(&high, false);
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, count = 1000;
	struct tally t = { 0 };
	bool print = false, enough;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--print"))
			print = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--count") && i + 1 < argc)
			count = strtoull(argv[++i], NULL, 0);
	}
	if (!world_make())
		return 1;
	printf("1..2\n%sok 1 - the packets are above 4 GiB\n", addr(high.base) >> 32 ? "" : "not ");
	for (uint64_t i = 0; i < count && t.different < 5; i++)
		check_seed(seed + i, print, &t);
	printf("# %" PRIu64 " programs agree, %" PRIu64 " differ, %" PRIu64 " refused, %" PRIu64
	       " too long, %" PRIu64 " failed\n",
	       t.same, t.different, t.refused, t.longer, t.failed);
	enough = t.same * 2 > count || count < 10;
	printf("%sok 2 - as they are and rewritten\n",
	       t.different || t.failed || !enough ? "not " : "");
	return t.different || t.failed || !enough || !(addr(high.base) >> 32);
}
