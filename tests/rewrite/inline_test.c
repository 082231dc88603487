/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is inlined does what the helper does: random programs of look-ups, updates and small helpers
 * run on three sets of maps, interpreted with every call, as native code with every call, and as
 * native code with everything inlined (hardened, too). Results and contents must be the same after
 * each run. Keys are constants and numbers, in range, at the edge and out of it. TAP.
 *
 *   inline_test [PROGRAMS [SEED]]
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fuzz/rng.h"
#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "isa/unit.h"
#include "rewrite/rewrite.h"
#include "sys/sys.h"

enum { KEYS = 14, RUNS = 6, VALUE_MAX = 64, TEXT = 1 << 16, SLOTS = 2, WAYS = 4 };

static const struct kind {
	const char *name;
	enum bpf_map_type type, inner;
	unsigned key, value, max, flags;
} kinds[] = {
	{ "array", BPF_MAP_TYPE_ARRAY, 0, 4, 8, 5, 0 },
	{ "array24", BPF_MAP_TYPE_ARRAY, 0, 4, 24, 100, 0 },
	{ "array1", BPF_MAP_TYPE_ARRAY, 0, 4, 64, 1, 0 },
	{ "percpu_array", BPF_MAP_TYPE_PERCPU_ARRAY, 0, 4, 8, 8, 0 },
	{ "percpu_array40", BPF_MAP_TYPE_PERCPU_ARRAY, 0, 4, 40, 7, 0 },
	{ "hash4", BPF_MAP_TYPE_HASH, 0, 4, 8, 6, 0 },
	{ "hash8", BPF_MAP_TYPE_HASH, 0, 8, 16, 64, 0 },
	{ "hash_lazy", BPF_MAP_TYPE_HASH, 0, 4, 8, 6, BPF_F_NO_PREALLOC },
	{ "hash16", BPF_MAP_TYPE_HASH, 0, 16, 8, 5, 0 },
	{ "hash13", BPF_MAP_TYPE_HASH, 0, 13, 24, 7, 0 },
	{ "hash40", BPF_MAP_TYPE_HASH, 0, 40, 8, 5, 0 },
	{ "hash12", BPF_MAP_TYPE_HASH, 0, 12, 8, 5, 0 },
	{ "lru4", BPF_MAP_TYPE_LRU_HASH, 0, 4, 8, 6, BPF_F_ZERO_SEED },
	{ "lru8", BPF_MAP_TYPE_LRU_HASH, 0, 8, 8, 6, BPF_F_ZERO_SEED },
	{ "percpu_hash", BPF_MAP_TYPE_PERCPU_HASH, 0, 4, 8, 6, 0 },
	{ "lru_percpu", BPF_MAP_TYPE_LRU_PERCPU_HASH, 0, 8, 16, 6, BPF_F_ZERO_SEED },
	{ "lpm", BPF_MAP_TYPE_LPM_TRIE, 0, 8, 8, 6, BPF_F_NO_PREALLOC },
	{ "array_of_maps", BPF_MAP_TYPE_ARRAY_OF_MAPS, BPF_MAP_TYPE_ARRAY, 4, 4, 6, 0 },
	{ "hash_of_maps", BPF_MAP_TYPE_HASH_OF_MAPS, BPF_MAP_TYPE_HASH, 4, 4, 6, 0 },
	{ "queue", BPF_MAP_TYPE_QUEUE, 0, 0, 8, 5, 0 },
	{ "stack", BPF_MAP_TYPE_STACK, 0, 0, 16, 5, 0 },
	{ "bloom", BPF_MAP_TYPE_BLOOM_FILTER, 0, 0, 8, 16, BPF_F_ZERO_SEED },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* One set of maps, and how programs on it are run. */
struct way {
	const char *name;
	bool jit, inlined, hardened;
	int map[KINDS], inner[3], prog;
};

static struct way ways[WAYS] = {
	{ .name = "interpreter" },
	{ .name = "native, with calls", .jit = true },
	{ .name = "native, inlined", .jit = true, .inlined = true },
	{ .name = "native, hardened", .jit = true, .inlined = true, .hardened = true },
};

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static int map_new(const struct kind *k, int inner)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = k->flags);
	int fd;

	if (inner >= 0)
		o.inner_map_fd = (unsigned)inner;
	fd = bpf_map_create(k->type, k->name, k->key, k->value, k->max, &o);
	must(fd >= 0, k->name);
	return fd;
}

/* Maps in maps get an inner map under two of their keys. */
static void way_open(struct way *w)
{
	static const struct kind inner_array = { "inner", BPF_MAP_TYPE_ARRAY, 0, 4, 8, 5, 0 };
	static const struct kind inner_hash = { "inner", BPF_MAP_TYPE_HASH, 0, 4, 8, 5, 0 };

	w->inner[0] = map_new(&inner_array, -1);
	w->inner[1] = map_new(&inner_hash, -1);
	for (unsigned i = 0; i < KINDS; i++) {
		int inner = !kinds[i].inner			   ? -1
			    : kinds[i].inner == BPF_MAP_TYPE_ARRAY ? w->inner[0]
								   : w->inner[1];

		w->map[i] = map_new(&kinds[i], inner);
		for (uint32_t key = 1; inner >= 0 && key < 4; key += 2)
			must(!bpf_map_update_elem(w->map[i], &key, &inner, 0), "inner map");
	}
}

static void way_close(struct way *w)
{
	for (unsigned i = 0; i < KINDS; i++)
		close(w->map[i]);
	close(w->inner[0]);
	close(w->inner[1]);
}

/* -- programs */

struct text {
	char at[TEXT];
	unsigned n, labels;
	struct rng r;
};

static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->n += (unsigned)vsnprintf(t->at + t->n, TEXT - t->n, fmt, ap);
	va_end(ap);
}

static const char *const sums[] = { "r6", "r7", "r8" };

static const char *sum(struct text *t)
{
	return sums[rng_below(&t->r, 3)];
}

/* The key at r10 - 40 and on: small numbers, so that programs meet. Sometimes the compiler's way of
 * keeping one in a register. */
static void say_key(struct text *t, const struct kind *k)
{
	uint32_t edge[] = { 0, 1, 2, 3, k->max - 1, k->max, k->max + 1, UINT32_MAX, 1u << 31 };
	uint32_t key = rng_once_in(&t->r, 2) ? rng_below(&t->r, KEYS) : edge[rng_below(&t->r, 9)];
	unsigned words = (k->key + 3) / 4;

	if (k->type == BPF_MAP_TYPE_LPM_TRIE) {
		say(t, "*(u32 *)(r10 - 40) = 32\n*(u32 *)(r10 - 36) = %u\n",
		    rng_below(&t->r, KEYS));
		return;
	}
	for (unsigned i = 1; i < words; i++)
		say(t, "*(u32 *)(r10 - %u) = 0\n", 40 - 4 * i);
	switch (rng_below(&t->r, 4)) {
	case 0:
		say(t, "w1 = %u\n*(u32 *)(r10 - 40) = w1\n", key);
		break;
	case 1:
		say(t, "*(u32 *)(r10 - 40) = %d\n", (int)key);
		break;
	case 2:
		say(t, "w1 = w%u\nw1 &= 15\n*(u32 *)(r10 - 40) = w1\n", 6 + rng_below(&t->r, 3));
		break;
	default:
		say(t, "*(u32 *)(r10 - 40) = w%u\n", 6 + rng_below(&t->r, 3));
	}
}

static void say_args(struct text *t, unsigned map)
{
	if (kinds[map].key)
		say(t, "r2 = r10\nr2 += -40\n");
	say(t, "r1 = m%u ll\n", map);
}

static bool is_of_maps(unsigned map)
{
	return kinds[map].inner;
}

/* What a program does with a value. */
static void say_value(struct text *t, const char *p, unsigned size)
{
	unsigned off = 8 * rng_below(&t->r, size / 8);
	const char *s = sum(t);

	say(t, "r1 = *(u64 *)(%s + %u)\nr1 += %u\n", p, off, rng_below(&t->r, 100));
	say(t, "*(u64 *)(%s + %u) = r1\n%s += r1\n", p, off, s);
}

/* Behind a look-up: constants, a test of the result in one of its forms, and its use. */
static void say_result(struct text *t, unsigned size)
{
	unsigned l = t->labels++;
	const char *s = sum(t), *p = "r0";

	if (rng_once_in(&t->r, 3))
		say(t, "r%u = %u\n", rng_once_in(&t->r, 2) ? 1 : 3, rng_below(&t->r, 9));
	if (rng_once_in(&t->r, 4))
		say(t, "%s = 5\n", s);
	if (rng_once_in(&t->r, 4)) {
		say(t, "r9 = r0\n");
		p = "r9";
	}
	if (rng_once_in(&t->r, 2)) {
		say(t, "if %s == 0 goto l%u\n", p, l);
		say_value(t, p, size);
		say(t, "%s += 3\nl%u:\n%s *= 5\n", s, l, s);
	} else {
		say(t, "if %s != 0 goto l%u\n%s += 11\ngoto e%u\nl%u:\n", p, l, s, l, l);
		say_value(t, p, size);
		say(t, "e%u:\n", l);
	}
	say(t, "r9 = 0\n");
}

/* A look-up in the map that a look-up gave. */
static void say_inner(struct text *t)
{
	unsigned l = t->labels++;

	say(t, "if r0 == 0 goto i%u\nr1 = r0\nr2 = r10\nr2 += -40\ncall 1\n", l);
	say_result(t, 8);
	say(t, "i%u:\n", l);
}

static void say_lookup(struct text *t, unsigned map)
{
	say_key(t, &kinds[map]);
	say_args(t, map);
	say(t, "call 1\n");
	if (is_of_maps(map))
		say_inner(t);
	else
		say_result(t, kinds[map].value);
}

static void say_lookup_percpu(struct text *t, unsigned map)
{
	say_key(t, &kinds[map]);
	say_args(t, map);
	if (rng_once_in(&t->r, 2))
		say(t, "r3 = %u\n", rng_below(&t->r, SLOTS + 2));
	else
		say(t, "r3 = %s\n", sum(t));
	say(t, "call 195\n");
	say_result(t, kinds[map].value);
}

static void say_new_value(struct text *t, unsigned map)
{
	say(t, "*(u64 *)(r10 - 128) = %s\n", sum(t));
	for (unsigned i = 8; i < kinds[map].value; i += 8)
		say(t, "*(u64 *)(r10 - %u) = %u\n", 128 - i, i);
}

static void say_update(struct text *t, unsigned map)
{
	say_key(t, &kinds[map]);
	say_new_value(t, map);
	say_args(t, map);
	say(t, "r3 = r10\nr3 += -128\nr4 = %u\ncall 2\n%s += r0\n", rng_below(&t->r, 3), sum(t));
}

static void say_delete(struct text *t, unsigned map)
{
	say_key(t, &kinds[map]);
	say_args(t, map);
	say(t, "call 3\n%s += r0\n", sum(t));
}

/* push, pop, peek */
static void say_queue(struct text *t, unsigned map)
{
	unsigned helper = kinds[map].type == BPF_MAP_TYPE_BLOOM_FILTER
			      ? 87 + 2 * rng_below(&t->r, 2)
			      : 87 + rng_below(&t->r, 3);

	say_new_value(t, map);
	say(t, "r1 = m%u ll\nr2 = r10\nr2 += -128\n", map);
	if (helper == 87)
		say(t, "r3 = %u\n", rng_once_in(&t->r, 3) ? 2 : 0);
	say(t, "call %u\n%s += r0\n", helper, sum(t));
	if (helper != 87)
		say(t, "r1 = *(u64 *)(r10 - 128)\n%s += r1\n", sum(t));
}

static void say_map(struct text *t, unsigned map)
{
	const struct kind *k = &kinds[map];
	bool percpu = k->type == BPF_MAP_TYPE_PERCPU_ARRAY || k->type == BPF_MAP_TYPE_PERCPU_HASH;

	if (!k->key)
		say_queue(t, map);
	else if (is_of_maps(map) || rng_once_in(&t->r, 2))
		say_lookup(t, map);
	else if (percpu && rng_once_in(&t->r, 3))
		say_lookup_percpu(t, map);
	else if (k->flags & BPF_F_RDONLY_PROG || rng_once_in(&t->r, 3))
		say_delete(t, map);
	else
		say_update(t, map);
}

/* Two pages that can be read, then one that cannot. Some words are zero. */
static uint8_t *pages;

static void pages_make(void)
{
	struct rng r = { 7 };

	pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(pages != MAP_FAILED, "mmap");
	for (unsigned i = 0; i < 2 * 4096; i++)
		pages[i] = i / 16 % 3 ? (uint8_t)rng_next(&r) : 0;
	must(!mprotect(pages + 2 * 4096, 4096, PROT_NONE), "mprotect");
}

/* Near ends of pages, and where nothing is. */
static uint64_t probed(struct text *t, unsigned size)
{
	uint64_t at = (uintptr_t)pages;

	switch (rng_below(&t->r, 8)) {
	case 0:
		return rng_below(&t->r, 2) * 4096;
	case 1:
		return UINT64_MAX - rng_below(&t->r, 100);
	case 2:
		return 0xffff800000000000 + rng_below(&t->r, 100);
	case 3:
		return at + 2 * 4096 - size + rng_below(&t->r, 3);
	case 4:
		return at + 4096 - size + rng_below(&t->r, 3);
	default:
		return at + rng_below(&t->r, 8000);
	}
}

static void say_probe(struct text *t)
{
	unsigned size =
	    rng_once_in(&t->r, 2) ? 1u << rng_below(&t->r, 4) : 1 + rng_below(&t->r, 70);

	for (unsigned i = 0; i < 72; i += 8)
		say(t, "*(u64 *)(r10 - %u) = -1\n", 128 - i);
	say(t, "r1 = r10\nr1 += -128\nr2 = %u\n", size);
	say(t, "r3 = 0x%llx ll\ncall %u\n", (unsigned long long)probed(t, size),
	    112 + rng_below(&t->r, 2));
	if (rng_once_in(&t->r, 2))
		say(t, "%s += r0\n", sum(t));
	for (unsigned i = 0; i < 72; i += 8)
		say(t, "r1 = *(u64 *)(r10 - %u)\n%s += r1\n", 128 - i, sum(t));
}

static void say_small(struct text *t)
{
	static const unsigned helpers[] = { 8, 42, 35, 7 };

	if (rng_once_in(&t->r, 2))
		say_probe(t);
	else
		say(t, "call %u\n%s += r0\n", helpers[rng_below(&t->r, 4)], sum(t));
}

static void say_statement(struct text *t)
{
	unsigned l = t->labels++;
	bool skip = rng_once_in(&t->r, 4);

	if (skip)
		say(t, "if r%u & %u goto s%u\n", 6 + rng_below(&t->r, 3), 1u << rng_below(&t->r, 5),
		    l);
	if (rng_once_in(&t->r, 8))
		say_small(t);
	else
		say_map(t, rng_below(&t->r, KINDS));
	if (skip)
		say(t, "s%u:\nr9 = 0\n", l);
}

static void text_make(struct text *t, uint64_t seed)
{
	t->n = t->labels = 0;
	t->r.s = seed;
	say(t, "r6 = *(u32 *)(r1 + 0)\nr7 = 1\nr8 = *(u32 *)(r1 + 8)\nr9 = 0\n");
	for (unsigned n = 1 + rng_below(&t->r, 12); n; n--)
		say_statement(t);
	say(t, "r0 = r6\nr0 ^= r7\nr0 ^= r8\nw0 = w0\nexit\n");
}

/* -- running */

static int load(const struct text *t, const struct way *w)
{
	static char log[1 << 16], maps[1024], all[TEXT + 1024];
	LIBBPF_OPTS(bpf_prog_load_opts, o);
	struct bpf_insn *insns = NULL;
	struct report r = { 0 };
	struct unit *u = NULL;
	uint32_t n = 0;
	int fd, at = 0;

	for (unsigned i = 0; i < KINDS; i++)
		at += snprintf(maps + at, sizeof(maps) - (size_t)at, ".map m%u %d\n", i, w->map[i]);
	snprintf(all, sizeof(all), "%s%s", maps, t->at);
	if (unit_parse("program", all, &r, &u) || unit_encode(u, &r, &insns, &n))
		printf("# %s\n", r.text ? r.text : "no memory");
	setenv("SKEP_JIT", w->jit ? "1" : "0", 1);
	sys_load_opts()->rewrites_off = w->inlined ? 0 : UINT64_MAX;
	sys_load_opts()->hardened = w->hardened;
	fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "p", "GPL", insns, n, &o);
	if (fd < 0 && insns) {
		o.log_buf = log;
		o.log_size = sizeof(log);
		o.log_level = 1;
		bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "p", "GPL", insns, n, &o);
		printf("# %s\n", log);
	}
	mem_free(insns);
	unit_free(u);
	report_free(&r);
	return fd;
}

static uint32_t run(const struct way *w, unsigned n)
{
	unsigned char packet[64 + RUNS] = { 0 };
	struct __sk_buff ctx = { .priority = n * 3 };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = 64 + n, .ctx_in = &ctx,
		    .ctx_size_in = sizeof(ctx));

	for (unsigned i = 0; i < SLOTS; i++)
		((struct percpu_head *)percpu_base(i))->random = n + 1;
	must(!bpf_prog_test_run_opts(w->prog, &o), "test run");
	return o.retval;
}

static unsigned value_size(const struct kind *k)
{
	bool percpu = k->type == BPF_MAP_TYPE_PERCPU_ARRAY || k->type == BPF_MAP_TYPE_PERCPU_HASH ||
		      k->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;

	return percpu ? (k->value + 7) / 8 * 8 * SLOTS : k->value;
}

/* Both have key, with the same value, or both have not. */
static bool same_at(const struct kind *k, int a, int b, const void *key)
{
	unsigned char va[VALUE_MAX * SLOTS] = { 0 }, vb[VALUE_MAX * SLOTS] = { 0 };
	int ea = bpf_map_lookup_elem(a, key, va), eb = bpf_map_lookup_elem(b, key, vb);

	return ea == eb && (k->inner || !memcmp(va, vb, value_size(k)));
}

static bool same_map(const struct kind *k, int a, int b)
{
	unsigned char key[40] = { 0 }, more[40] = { 0 };
	bool any = !k->key || k->type == BPF_MAP_TYPE_LPM_TRIE;

	if (k->type == BPF_MAP_TYPE_BLOOM_FILTER)
		return true;
	if (any && k->key == 0)
		return same_at(k, a, b, NULL);
	for (void *now = NULL; !bpf_map_get_next_key(a, now, more); now = key) {
		memcpy(key, more, k->key);
		if (!same_at(k, a, b, key))
			return false;
	}
	for (void *now = NULL; !bpf_map_get_next_key(b, now, more); now = key) {
		memcpy(key, more, k->key);
		if (!same_at(k, a, b, key))
			return false;
	}
	return true;
}

static bool same_maps(const struct way *a, const struct way *b)
{
	static const struct kind inner[] = { { .type = BPF_MAP_TYPE_ARRAY, .key = 4, .value = 8 },
					     { .type = BPF_MAP_TYPE_HASH, .key = 4, .value = 8 } };

	for (unsigned i = 0; i < KINDS; i++)
		if (!same_map(&kinds[i], a->map[i], b->map[i])) {
			printf("# %s differs\n", kinds[i].name);
			return false;
		}
	return same_map(&inner[0], a->inner[0], b->inner[0]) &&
	       same_map(&inner[1], a->inner[1], b->inner[1]);
}

static bool compare(const struct way *w, unsigned n, uint32_t want)
{
	uint32_t got = run(w, n);

	if (got == want && same_maps(&ways[0], w))
		return true;
	printf("# run %u, %s: %x, interpreted with calls %x\n", n, w->name, got, want);
	return false;
}

static bool judge(const struct text *t)
{
	bool ok = true;

	for (unsigned i = 0; i < WAYS; i++) {
		ways[i].prog = load(t, &ways[i]);
		ok &= ways[i].prog >= 0;
	}
	for (unsigned n = 0; n < RUNS && ok; n++) {
		uint32_t want = run(&ways[0], n);

		for (unsigned i = 1; i < WAYS && ok; i++)
			ok = compare(&ways[i], n, want);
	}
	for (unsigned i = 0; i < WAYS; i++)
		if (ways[i].prog >= 0)
			close(ways[i].prog);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned programs = argc > 1 ? (unsigned)atoi(argv[1]) : 250, bad = 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct text t;
	uint32_t id;

	setenv("SKEP_CPUS", "2", 1);
	pages_make();
	for (unsigned i = 0; i < programs && !bad; i++) {
		for (unsigned w = 0; w < WAYS && i % 50 == 0; w++) {
			if (i)
				way_close(&ways[w]);
			way_open(&ways[w]);
		}
		text_make(&t, seed + i);
		if (!judge(&t)) {
			printf("# program %llu:\n", (unsigned long long)(seed + i));
			for (char *l = strtok(t.at, "\n"); l; l = strtok(NULL, "\n"))
				printf("# %s\n", l);
			bad++;
		}
	}
	for (unsigned w = 0; w < WAYS && programs; w++)
		way_close(&ways[w]);
	bpf_map_get_next_id(0, &id); /* when ids are listed, what was closed goes */
	printf("%sok 1 - %u programs, %u runs each, %u ways\n1..1\n", bad ? "not " : "", programs,
	       RUNS, WAYS);
	return bad != 0;
}
