/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles and loads that fail, for both targets: every allocation in turn, an operand that no
 * instruction can hold, an image beyond the reach of its branches, no arena, no room for private
 * stacks. Each fails with a message, leaks nothing (the run under LeakSanitizer sees, and per-CPU
 * memory is where it was), and the next one works.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "jit/target.h"

static const char program[] = "r6 = r1\n"
			      "if r6 == 0 goto out\n"
			      "r1 = f ll\n"
			      "r2 = 0x123456789abcdef0 ll\n"
			      "lock *(u64 *)(r10 - 8) += r2\n"
			      "r3 = probe *(u32 *)(r6 + 0)\n"
			      "arena *(u32 *)(r3 + 0) = 7\n"
			      "*(u64 *)(r10 - 100) = 0x12345678\n"
			      "call 1\n"
			      "call f\n"
			      "r1 = r6\n"
			      "throw\n"
			      "out:\n"
			      "r0 = 0\n"
			      "exit\n"
			      "f:\n"
			      "*(u64 *)(r10 - 8) = r1\n"
			      "r0 = *(u64 *)(r10 - 8)\n"
			      "exit\n";

static uint64_t one(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))
{
	return 1;
}

static const helper_fn helpers[] = { NULL, one };
static const struct env env = { helpers, 2, NULL };

/* What is compiled, and how. */
static const struct way {
	const char *name, *target; /* NULL: the host's, which is also loaded */
	struct jit_opts opts;
} ways[] = {
	{ "arm64", "arm64", { .cpu = "baseline", .base = 0x40000000 } },
	{ "arm64, everything",
	  "arm64",
	  { .cpu = "neoverse-v2",
	    .base = 0x40000000,
	    .blind = true,
	    .landing_pads = true,
	    .sign_returns = true,
	    .private_stack = true } },
	{ "x86_64", "x86_64", { .cpu = "baseline", .base = 0x40000000 } },
	{ "x86_64, everything",
	  "x86_64",
	  { .cpu = "baseline",
	    .base = 0x40000000,
	    .blind = true,
	    .landing_pads = true,
	    .private_stack = true } },
	{ "this machine", NULL, { .cpu = NULL } },
	{ "this machine, everything",
	  NULL,
	  { .blind = true, .landing_pads = true, .sign_returns = true, .private_stack = true } },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static unsigned points, wrong;

static void point(bool ok, const char *what, const char *how)
{
	printf("%sok %u - %s: %s\n", ok ? "" : "not ", ++points, how, what);
	wrong += !ok;
}

/* Compiled and, for this machine, loaded; then all is given back. */
static int load(const struct way *w, const struct unit *u, struct report *r)
{
	struct image *image = NULL;
	struct code *c = NULL;
	int err = jit_compile(target_find(w->target), u, &w->opts, r, &c);

	if (!err && !w->target)
		err = image_new(c, r, &image);
	if (image)
		image_free(image);
	else
		code_free(c);
	return err;
}

static bool is_available(const struct way *w)
{
	return target_find(w->target) != NULL;
}

/* Where the next per-CPU allocation lies. */
static uint32_t percpu_next(void)
{
	uint32_t off = percpu_alloc(64, 8);

	percpu_free(off, 64);
	return off;
}

static void allocations_fail(const struct way *w, const struct unit *u)
{
	uint32_t before = percpu_next();
	bool ok = true;
	int err = -ENOMEM;

	for (unsigned long n = 1; err; n++) {
		struct report r = { 0 };

		mem_fail_at(n, 0);
		err = load(w, u, &r);
		mem_fail_at(0, 0);
		ok = ok && (!err || err == -ENOMEM);
		report_free(&r);
		if (!err)
			printf("# %lu allocations failed in turn\n", n - 1);
	}
	point(ok && percpu_next() == before, "every allocation fails in turn", w->name);
}

/* The load fails with `want` and words in its message; the same way works with u. */
static void refused(const struct way *w, const struct unit *bad, const struct unit *u, int want,
		    const char *words, const char *what)
{
	struct report r = { 0 };
	int err = load(w, bad, &r);
	bool named = r.text && strstr(r.text, words);

	printf("# %s", r.text ? r.text : "no message\n");
	report_free(&r);
	point(err == want && named && !load(w, u, &r), what, w->name);
	report_free(&r);
}

/* A frame of 60,000 bytes is no operand of `sub sp, sp`. */
static void operand_fails(const struct unit *u)
{
	uint32_t huge[] = { 60000, 60000 };
	struct unit deep = *u;

	deep.stack = huge;
	refused(&ways[0], &deep, u, -ERANGE, "arm64: insn 0: SUBI",
		"an operand that does not fit is an error, not other code");
}

static void arena_fails(const struct unit *u)
{
	struct unit odd = *u;

	odd.arena = 0x100001000;
	for (unsigned i = 0; i < WAYS; i++)
		if (is_available(&ways[i]))
			refused(&ways[i], &odd, u, -EINVAL, "multiple of 4 GiB",
				"an arena at an odd place");
	if (!is_available(&ways[WAYS - 1]))
		return;
	odd.arena = 0;
	refused(&ways[WAYS - 1], &odd, u, -EINVAL, "there is no arena",
		"a program without its arena");
}

static void room_fails(const struct unit *u)
{
	const struct way *w = &ways[WAYS - 1];
	uint32_t huge[] = { 400u << 20, 64 };
	struct unit deep = *u;

	deep.stack = huge;
	if (is_available(w))
		refused(w, &deep, u, -ENOMEM, "private stacks", "no room for private stacks");
}

/* n blinded constants, 36 bytes each, with a jump over them all. */
static struct unit *huge_unit(uint32_t n)
{
	struct unit *u = mem_zalloc(1, sizeof(*u));

	u->ops = mem_zalloc(n + 2, sizeof(*u->ops));
	u->subs = mem_zalloc(1, sizeof(*u->subs));
	u->n_subs = 1;
	u->n_ops = n + 2;
	for (uint32_t i = 0; i <= n; i++)
		u->ops[i] =
		    (struct op){ .code = OP_LDIMM, .dst = 2, .imm = 0x123456789abcdef0 + i };
	u->ops[0] = (struct op){ .code = OP_JEQ, .dst = 1, .off = (int32_t)n + 1 };
	u->ops[n + 1] = (struct op){ .code = OP_EXIT };
	return u;
}

/* b reaches 128 MB: an image nearly as large as that, and one that is larger. A few constants take
 * an instruction less. */
static void image_fails(const struct unit *u)
{
	const struct way *w = &ways[1];
	struct unit *fits = huge_unit((128 << 20) / 36 - 16),
		    *bad = huge_unit((128 << 20) / 36 + 100);

	refused(w, bad, fits, -E2BIG, "image too large",
		"beyond 128 MB no branch reaches, up to there all do");
	unit_free(fits);
	unit_free(bad);
}

int main(void)
{
	struct report r = { 0 };
	struct unit *u = NULL;

	if (percpu_init() || unit_parse("program", program, &r, &u)) {
		printf("Bail out! %s", r.text ? r.text : "no per-CPU memory\n");
		return 1;
	}
	u->env = &env;
	u->arena = 1ull << 44;
	for (unsigned i = 0; i < WAYS; i++)
		if (is_available(&ways[i]))
			allocations_fail(&ways[i], u);
	operand_fails(u);
	arena_fails(u);
	room_fails(u);
	image_fails(u);
	unit_free(u);
	report_free(&r);
	printf("1..%u\n", points);
	return wrong != 0;
}
