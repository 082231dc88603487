/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each allocation on the way from instructions to native code fails in turn: every stage then says
 * -ENOMEM, or does without, and leaves nothing allocated. As TAP, one line a stage.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"
#include "engine.h"
#include "interp/interp.h"
#include "world.h"

enum { PROGRAMS = 40, OPS_MAX = 400 };

/* What a stage works on, made while there is memory. */
struct input {
	const struct unit *unit;
	struct bpf_insn *insns;
	uint32_t n;
	char *text;
};

static int stage_encode(const struct input *in, struct report *r)
{
	struct bpf_insn *insns = NULL;
	uint32_t n;
	const int err = unit_encode(in->unit, r, &insns, &n);

	if (!err)
		mem_free(insns);
	return err;
}

static int stage_decode(const struct input *in, struct report *r)
{
	struct unit *u = NULL;
	const int err = unit_decode(in->insns, in->n, true, r, &u);

	if (!err)
		unit_free(u);
	return err;
}

static int stage_print(const struct input *in, struct report *r)
{
	unit_print(in->unit, PRINT_LLVM, r);
	return r->err;
}

static int stage_parse(const struct input *in, struct report *r)
{
	struct unit *u = NULL;
	const int err = unit_parse("test", in->text, r, &u);

	if (!err)
		unit_free(u);
	return err;
}

static int stage_copy(const struct input *in, struct report *r)
{
	struct unit *u = unit_copy(in->unit);

	unit_free(u);
	return u ? 0 : -ENOMEM;
}

static int stage_compile(const struct input *in, struct report *r)
{
	const struct jit_opts opts = { 0 };
	struct code *code = NULL;
	const int err = jit_compile(target_find(NULL), in->unit, &opts, r, &code);

	if (!err)
		code_free(code);
	return err;
}

static int stage_load(const struct input *in, struct report *r)
{
	struct loaded p = { 0 };
	struct engine e;
	int err = engine_find("jit", &e) ? engine_load(&e, in->unit, r, &p) : -ENOENT;

	if (!err)
		engine_unload(&p);
	return err;
}

static bool input_make(const struct unit *u, struct input *in)
{
	struct report r = { 0 };

	in->unit = u;
	unit_print(u, PRINT_LLVM, &r);
	in->text = r.text;
	return unit_encode(u, NULL, &in->insns, &in->n) == 0 && !r.err;
}

static void input_free(struct input *in)
{
	mem_free(in->insns);
	mem_free(in->text);
}

static size_t in_use(void)
{
	return mallinfo2().uordblks;
}

typedef int (*stage_fn)(const struct input *in, struct report *r);

/* The stage, with allocation number `at` (and all after it if sticky) failing. *reached: there was
 * such an allocation. Returns the bytes that stay allocated. */
static ssize_t run_failing(stage_fn stage, const struct input *in, unsigned long at, int sticky,
			   bool *reached, int *err)
{
	struct report r = { 0 };
	const size_t before = in_use();

	mem_fail_at(at, sticky);
	*err = stage(in, &r);
	*reached = mem_fail_count() >= at;
	mem_fail_at(0, 0);
	report_free(&r);
	return (ssize_t)(in_use() - before);
}

/* False: the stage says something else than success or -ENOMEM, or memory stays behind. What is
 * kept between runs (pools, tables) may move to a larger place; a leak grows with every run. */
static bool fail_one(stage_fn stage, const struct input *in, unsigned long at, int sticky,
		     bool *reached)
{
	int err;
	ssize_t stays = 1;

	for (int again = 0; again < 8 && stays > 0; again++)
		stays = run_failing(stage, in, at, sticky, reached, &err);
	if (err && err != -ENOMEM)
		printf("# allocation %lu: error %d\n", at, err);
	else if (err && !*reached)
		printf("# -ENOMEM, but nothing failed\n");
	else if (stays > 0)
		printf("# allocation %lu: %zd bytes stay\n", at, stays);
	else
		return true;
	return false;
}

/* Returns the number of failures that were made, or -1. */
static long fail_each(stage_fn stage, const struct input *in)
{
	struct report r = { 0 };
	const int err = stage(in, &r);
	long n = 0;

	if (err)
		printf("# with memory: %s\n", r.text ? r.text : "no message");
	report_free(&r);
	for (int sticky = 0; sticky < 2 && !err; sticky++) {
		bool reached = true;

		for (unsigned long at = 1; reached; at++, n++)
			if (!fail_one(stage, in, at, sticky, &reached))
				return -1;
	}
	return err ? -1 : n;
}

/* The stage on each unit of the programs with these numbers. */
static long run_stage(stage_fn stage)
{
	long total = 0;

	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct gen_case c;
		struct input in = { 0 };
		long n = 0;

		if (gen_case_new(seed, NULL, &c) || world_bind(&c))
			return -1;
		if (c.unit[0]->n_ops <= OPS_MAX)
			n = input_make(c.unit[0], &in) ? fail_each(stage, &in) : -1;
		input_free(&in);
		gen_case_free(&c);
		if (n < 0) {
			printf("# program %llu\n", (unsigned long long)seed);
			return -1;
		}
		total += n;
	}
	return total;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		stage_fn run;
	} stages[] = {
		{ "encode", stage_encode }, { "decode", stage_decode },
		{ "print", stage_print },   { "parse", stage_parse },
		{ "copy", stage_copy },	    { "compile", stage_compile },
		{ "load", stage_load },
	};
	const size_t count = sizeof(stages) / sizeof(stages[0]);
	int failed = 0;

	/* Without a thread cache, mallinfo2 is exact. */
	if (!getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
		execv("/proc/self/exe", argv);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		const long n = run_stage(stages[i].run);

		failed += n < 0;
		printf("%s %zu - %s, %ld failures\n", n < 0 ? "not ok" : "ok", i + 1,
		       stages[i].name, n);
	}
	return failed != 0;
}
