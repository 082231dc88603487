/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the program of a case on the interpreter and, in every way of compiling, natively. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/report.h"
#include "interp/interp.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "run/fault.h"
#include "run/slot.h"
#include "skep/case.h"

enum { MEM = 64 };

/* What a `run` section says. */
struct setting {
	uint64_t args[5];
	uint8_t mem[MEM];
	bool shows_mem;
};

static const struct way {
	const char *name;
	struct jit_opts opts;
} ways[] = {
	{ "jit", { .cpu = NULL } },
	{ "jit, each op on its own", { .separate = true } },
	{ "jit for the baseline CPU", { .cpu = "baseline" } },
	{ "jit, blinded", { .blind = true } },
	{ "jit with landing pads", { .landing_pads = true } },
	{ "jit with signed returns", { .sign_returns = true } },
	{ "jit with private stacks", { .private_stack = true } },
	{ "jit with everything",
	  { .blind = true, .landing_pads = true, .sign_returns = true, .private_stack = true } },
};

/* The memory that r1 points to by default, at the same place for all. */
static uint8_t memory[MEM] __attribute__((aligned(16)));

/* An arena whose only page is the one at 64 KiB. */
static int arena_fill(uint64_t *base)
{
	enum { GUARD = 64 << 10, PRESENT = 64 << 10, PAGE = 64 << 10 };
	static uint8_t *arena;
	const size_t size = (2ull << 32) + 2 * GUARD;
	uint8_t *p;

	if (!arena) {
		p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return -errno;
		arena = (uint8_t *)(((uintptr_t)p + GUARD + UINT32_MAX) >> 32 << 32);
		if (mprotect(arena + PRESENT, PAGE, PROT_READ | PROT_WRITE))
			return -errno;
	}
	memset(arena + PRESENT, 0, PAGE);
	*base = (uintptr_t)arena;
	return 0;
}

static bool uses_arena(const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (op_has(&u->ops[i], P_MEM) && u->ops[i].mode & OP_ARENA)
			return true;
	return false;
}

static int mem_parse(const char *text, struct setting *s)
{
	size_t n = 0;
	char *end;

	s->shows_mem = true;
	for (; n < MEM; n++, text = end) {
		unsigned long v = strtoul(text, &end, 16);

		if (end == text)
			break;
		if (v > UINT8_MAX)
			return -EINVAL;
		s->mem[n] = (uint8_t)v;
	}
	return text[strspn(text, " ")] ? -EINVAL : 0;
}

/* "r2 = 5", "r1 = mem", "mem = 01 02" */
static int line_parse(const char *line, struct setting *s)
{
	unsigned reg;
	char *end;
	int n = 0;

	if (sscanf(line, " mem =%n", &n) == 0 && n)
		return mem_parse(line + n, s);
	if (sscanf(line, " r%u = %n", &reg, &n) != 1 || !n || reg < 1 || reg > 5)
		return -EINVAL;
	if (strcmp(line + n, "mem") == 0) {
		s->args[reg - 1] = (uintptr_t)memory;
		return 0;
	}
	s->args[reg - 1] = strtoull(line + n, &end, 0);
	return end == line + n || *end ? -EINVAL : 0;
}

static int setting_parse(const struct section *sec, struct report *r, struct setting *s)
{
	const char *at = sec->body;
	char line[256];

	s->args[0] = (uintptr_t)memory;
	while (*at) {
		size_t n = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, at);
		if (n && line_parse(line, s))
			return report_fail(r, -EINVAL,
					   "'%s': expected rN = NUMBER, rN = mem or mem = BYTES",
					   line);
		at += n + (at[n] == '\n');
	}
	return 0;
}

static void outcome_add(const struct setting *s, uint64_t r0, struct report *out)
{
	report_add(out, r0 < 10000 ? "r0 = %llu\n" : "r0 = 0x%llx\n", (unsigned long long)r0);
	if (!s->shows_mem)
		return;
	report_add(out, "mem =");
	for (int i = 0; i < MEM; i++)
		report_add(out, i % 16 ? " %02x" : "\n  %02x", memory[i]);
	report_add(out, "\n");
}

static int run_native(const struct unit *u, const struct way *w, const uint64_t a[5],
		      struct report *r, uint64_t *r0)
{
	struct code *code;
	struct image *image;
	int err = jit_compile(target_find(NULL), u, &w->opts, r, &code);

	if (err)
		return err;
	err = image_new(code, r, &image);
	if (err) {
		code_free(code);
		return err;
	}
	*r0 = helper_call(image->entry, a[0], a[1], a[2], a[3], a[4]);
	if (!code_stacks_whole(code))
		err = report_fail(r, -EINVAL, "%s: wrote beyond its private stack", w->name);
	image_free(image);
	return err;
}

/* One run of either kind; w NULL: the interpreter. */
static int run_once(struct unit *u, const struct way *w, const struct setting *s,
		    struct report *out, struct report *r)
{
	uint64_t r0 = 0;
	int err = uses_arena(u) ? arena_fill(&u->arena) : 0;

	memcpy(memory, s->mem, MEM);
	if (!err)
		err = w ? run_native(u, w, s->args, r, &r0) : interp_run(u, s->args, NULL, &r0);
	if (err)
		return report_fail(r, err, "%s: %s", w ? w->name : "interp", strerror(-err));
	outcome_add(s, r0, out);
	return 0;
}

static int run_ways(struct unit *u, const struct setting *s, const struct report *want,
		    struct report *r)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct report got = { 0 };
		int err = run_once(u, &ways[i], s, &got, r);

		if (!err && strcmp(got.text, want->text) != 0)
			err = report_fail(r, -EINVAL, "%s gives\n%s  and the interpreter\n%s",
					  ways[i].name, got.text, want->text);
		report_free(&got);
		if (err)
			return err;
	}
	return 0;
}

int case_run(const struct unit *u, const struct section *s, struct report *out, struct report *r)
{
	struct setting setting = { .shows_mem = false };
	struct unit bound = *u;
	struct slot_run slot;
	int err = setting_parse(s, r, &setting);

	if (!err)
		err = slot_init();
	if (!err)
		err = fault_init();
	if (!err)
		err = slot_hold(&slot);
	if (err)
		return report_fail(r, err, "the run cannot be set up: %s", strerror(-err));
	err = run_once(&bound, NULL, &setting, out, r);
	if (!err && target_find(NULL))
		err = run_ways(&bound, &setting, out, r);
	slot_leave(&slot);
	return err;
}
