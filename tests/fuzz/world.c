/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "engine.h"
#include "values.h"

/* A PROG_ARRAY as generated code sees it. */
struct tail_map {
	struct map_desc desc;
	struct tail_array tail;
	uint8_t rest[TAIL_SLOTS_OFFSET - TAIL_ARRAY_OFFSET - sizeof(struct tail_array)];
	const struct callee *slot[GEN_UNITS];
};

_Static_assert(offsetof(struct tail_map, tail) == TAIL_ARRAY_OFFSET, "tail_array lies there");
_Static_assert(offsetof(struct tail_map, slot) == TAIL_SLOTS_OFFSET, "slots lie there");

struct world {
	uint8_t mem[2 * WORLD_HALF];
	struct tail_map map;
};

/* At the same address where it can be had, so that a seed means the same in every process. */
static struct world *world_get(void)
{
	static struct world *world;
	void *p;

	if (world)
		return world;
	p = mmap((void *)0x200000000000, sizeof(*world), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	world = p;
	return world;
}

/* Offset 0 of an arena, most of whose pages are not there; nothing is around it either. */
static uint8_t *arena_get(void)
{
	enum { GUARD = 64 << 10 };
	static uint8_t *arena;
	const size_t size = (1ull << 32) + 2 * GUARD;
	uint8_t *p;

	if (arena)
		return arena;
	p = mmap((void *)(0x300000000000 - GUARD), size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (p == MAP_FAILED ||
	    mprotect(p + GUARD + WORLD_HALF, WORLD_ARENA, PROT_READ | PROT_WRITE))
		return NULL;
	arena = p + GUARD;
	return arena;
}

/* A function of C may count on a stack that is a multiple of 16 where it is called. */
static __attribute__((noinline)) uint64_t misaligned(void)
{
	return (uintptr_t)__builtin_frame_address(0) & 15;
}

static uint64_t mix(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	const uint64_t in[5] = { a, b, c, d, e };
	uint64_t h = misaligned();

	for (int i = 0; i < 5; i++)
		h = (h ^ in[i]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	return h;
}

/* Garbage in every register that a C function may change. */
static void scribble(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mov $0x5a5a5a5a5a5a5a5a, %%rax\n\t"
			 "mov %%rax, %%rcx\n\tmov %%rax, %%rdx\n\tmov %%rax, %%rsi\n\t"
			 "mov %%rax, %%rdi\n\tmov %%rax, %%r8\n\tmov %%rax, %%r9\n\t"
			 "mov %%rax, %%r10\n\tmov %%rax, %%r11\n\t"
			 "movq %%rax, %%xmm0\n\tmovq %%rax, %%xmm1\n\tmovq %%rax, %%xmm15\n\t"
			 "cmp $1, %%rax\n\tstc"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0",
			   "xmm1", "xmm15", "cc", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("mov x0, #0x5a5a\n\tmov x1, x0\n\tmov x2, x0\n\tmov x3, x0\n\t"
			 "mov x4, x0\n\tmov x5, x0\n\tmov x6, x0\n\tmov x7, x0\n\tmov x8, x0\n\t"
			 "mov x9, x0\n\tmov x10, x0\n\tmov x11, x0\n\tmov x12, x0\n\t"
			 "mov x13, x0\n\tmov x14, x0\n\tmov x15, x0\n\tmov x16, x0\n\t"
			 "mov x17, x0\n\tcmp x0, #1"
			 :
			 :
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "cc", "memory");
#endif
}

static uint64_t helper_scribble(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
					   uint64_t e))
{
	const uint64_t h = mix(BPF_ARGS(a, b, c, d, e));

	scribble();
	return h;
}

static uint64_t helper_first(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return a;
}

static uint64_t helper_xor(BPF_PARAMS(uint64_t at, uint64_t n, uint64_t v, uint64_t d, uint64_t e))
{
	uint8_t *p = (uint8_t *)(uintptr_t)at;

	n %= WORLD_SPAN + 1;
	for (uint64_t i = 0; i < n; i++)
		p[i] ^= (uint8_t)v;
	return n ? p[n - 1] : v;
}

static uint64_t helper_minus(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return UINT64_MAX;
}

static uint64_t helper_loop(BPF_PARAMS(uint64_t n, uint64_t fn, uint64_t ctx, uint64_t v,
				       uint64_t e))
{
	uint64_t sum = misaligned(), got = 0;

	for (uint64_t i = 0; i < n % 4 && got != 1; i++) {
		got = callback_call(fn, ctx, ctx, i, sum, v);
		sum += got;
	}
	return sum;
}

static uint64_t helper_twice(BPF_PARAMS(uint64_t fn, uint64_t ctx, uint64_t a, uint64_t b,
					uint64_t c))
{
	const uint64_t first = callback_call(fn, ctx, ctx, a, b, c);

	scribble();
	return callback_call(fn, ctx, ctx, first, a, b) ^ first;
}

static const helper_fn helpers[HELPER_COUNT] = {
	[HELPER_MIX] = mix,
	[HELPER_SCRIBBLE] = helper_scribble,
	[HELPER_FIRST] = helper_first,
	[HELPER_XOR] = helper_xor,
	[HELPER_MINUS] = helper_minus,
	[HELPER_LOOP] = helper_loop,
	[HELPER_TWICE] = helper_twice,
	[HELPER_MAP_LOOKUP] = maps_lookup,
	[HELPER_MAP_UPDATE] = maps_update,
	[HELPER_MAP_ERASE] = maps_erase,
};

/* The packet is the first bytes of the context; negative offsets are those before it. */
static uint64_t load_abs(BPF_PARAMS(uint64_t ctx, int64_t offset, uint64_t size))
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)ctx;
	uint64_t v = 0;

	if (offset < -WORLD_PACKET || offset + (int64_t)size > WORLD_PACKET)
		return UINT64_MAX;
	for (uint64_t i = 0; i < size; i++)
		v = v << 8 | p[offset + (int64_t)i];
	return v;
}

static const struct env env = { helpers, HELPER_COUNT, load_abs };

uint32_t world_percpu(void)
{
	static uint32_t off;

	if (!off && percpu_init() == 0)
		off = percpu_alloc(WORLD_HALF, 8);
	return off;
}

static bool make_refs(struct world *w, struct ref refs[GEN_REFS])
{
	const uint64_t middle = (uintptr_t)w->mem + WORLD_HALF;
	const uint64_t map = (uintptr_t)&w->map;

	refs[0] = (struct ref){ .kind = REF_MAP, .map = &w->map.desc, .addr = map };
	refs[1] = (struct ref){ REF_MAP, &w->map.desc, map, middle };
	refs[2] = (struct ref){ .kind = REF_VAR, .addr = middle + 4096 };
	for (unsigned i = 0; i < MAPS; i++) {
		const struct map_desc *d = maps_get(i);

		if (!d)
			return false;
		refs[GEN_REF_MAPS + i] =
		    (struct ref){ .kind = REF_MAP, .map = d, .addr = (uintptr_t)d };
	}
	return true;
}

int world_bind(struct gen_case *c)
{
	struct world *w = world_get();
	struct ref refs[GEN_REFS];

	if (!w || !make_refs(w, refs) || !world_percpu() || !arena_get())
		return -ENOMEM;
	for (unsigned i = 0; i < c->n_units; i++) {
		c->unit[i]->env = &env;
		c->unit[i]->arena = (uintptr_t)arena_get();
		c->unit[i]->arena_user = 0x7e00ull << 32;
		c->unit[i]->n_refs = GEN_REFS;
		c->unit[i]->refs = mem_dup(refs, sizeof(refs));
		if (!c->unit[i]->refs)
			return -ENOMEM;
	}
	return 0;
}

/* The memory that each run begins with. */
static const uint8_t *fresh_memory(void)
{
	static uint64_t mem[2 * WORLD_HALF / 8];
	struct rng rng = { 1 };

	for (size_t i = 0; mem[0] == 0 && i < 2 * WORLD_HALF / 8; i++)
		mem[i] = i ? value_64(&rng) : 1;
	return (const uint8_t *)mem;
}

/* The case's own numbers in r2-r5. */
static void arguments(const struct gen_case *c, uint64_t args[5])
{
	struct rng rng = { ~c->seed };

	args[0] = (uintptr_t)world_get()->mem + WORLD_HALF;
	for (int i = 1; i < 5; i++)
		args[i] = value_64(&rng);
}

static bool load_all(const struct engine *e, const struct gen_case *c, struct report *r,
		     struct loaded p[GEN_UNITS])
{
	for (unsigned i = 0; i < c->n_units; i++)
		if (engine_load(e, c->unit[i], r, &p[i]))
			return false;
	return true;
}

static void run_loaded(const struct loaded p[GEN_UNITS], const struct gen_case *c,
		       struct outcome *out)
{
	struct world *w = world_get();
	uint64_t args[5];

	for (unsigned i = 0; i < GEN_UNITS; i++)
		w->map.slot[i] = i + 1 < c->n_units ? &p[i + 1].callee : NULL;
	w->map.tail = (struct tail_array){ .n = c->n_units, .slot = w->map.slot };
	memcpy(w->mem, fresh_memory(), sizeof(w->mem));
	memcpy(arena_get() + WORLD_HALF, fresh_memory(), WORLD_ARENA);
	arguments(c, args);
	percpu_self = percpu_base(0);
	memcpy(percpu_this(world_percpu()), fresh_memory(), WORLD_HALF);
	maps_empty();
	out->err = engine_run(&p[0], args, &out->r0);
	maps_save(&out->maps);
	percpu_self = NULL;
	memcpy(out->mem, w->mem, sizeof(out->mem));
	memcpy(out->arena, arena_get() + WORLD_HALF, WORLD_ARENA);
}

bool world_run(const struct engine *e, const struct gen_case *c, struct report *r,
	       struct outcome *out)
{
	struct loaded p[GEN_UNITS] = { 0 };
	const bool ok = load_all(e, c, r, p);

	if (ok)
		run_loaded(p, c, out);
	for (unsigned i = 0; i < c->n_units; i++)
		engine_unload(&p[i]);
	return ok;
}

static bool bytes_diff(const char *what, const uint8_t *a, const uint8_t *b, int n, char *text,
		       unsigned size)
{
	for (int i = 0; i < n; i++) {
		uint64_t va, vb;

		if (a[i] == b[i])
			continue;
		memcpy(&va, a + (i & ~7), 8);
		memcpy(&vb, b + (i & ~7), 8);
		snprintf(text, size, "%s at %+d: 0x%llx, 0x%llx", what, (i & ~7) - WORLD_HALF,
			 (unsigned long long)va, (unsigned long long)vb);
		return true;
	}
	return false;
}

static bool memory_diff(const struct outcome *a, const struct outcome *b, char *text, unsigned size)
{
	return bytes_diff("memory", a->mem, b->mem, sizeof(a->mem), text, size) ||
	       bytes_diff("arena, 40960 less,", a->arena, b->arena, WORLD_ARENA, text, size);
}

void outcome_diff(const struct outcome *a, const struct outcome *b, char *text, unsigned size)
{
	text[0] = 0;
	if (a->err != b->err)
		snprintf(text, size, "error %d, %d", a->err, b->err);
	else if (memory_diff(a, b, text, size))
		return;
	else if (a->r0 != b->r0)
		snprintf(text, size, "r0: 0x%llx, 0x%llx", (unsigned long long)a->r0,
			 (unsigned long long)b->r0);
	else if (memcmp(&a->maps, &b->maps, sizeof(a->maps)) != 0)
		snprintf(text, size, "contents of a map");
}
