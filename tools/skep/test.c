/* SPDX-License-Identifier: BSD-2-Clause */
/* skep test: checks case files (docs/cases.md) and prints TAP. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "helper/table.h"
#include "isa/file.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "jit/target.h"
#include "skep/case.h"
#include "skep/command.h"
#include "skep/native.h"
#include "skep/outfile.h"
#include "skep/ui.h"

struct test_values {
	bool bless;
};

static const struct opt test_opts[] = {
	{ "bless", 0, OPT_FLAG, offsetof(struct test_values, bless), NULL,
	  "write what is into the files where they say otherwise" },
};

/* One file on its way. */
struct test {
	struct case_file c;
	struct unit *u; /* its program */
	bool bless;
	unsigned *n, *bad; /* TAP's count, and of what was not so */
};

static void point(struct test *t, bool ok, const struct section *s, const char *skip)
{
	printf("%sok %u - %s: %s %s%s%s\n", ok ? "" : "not ", ++*t->n, t->c.path, s->kind, s->words,
	       skip ? " # SKIP " : "", skip ? skip : "");
	*t->bad += !ok;
}

/* Text as TAP's comments. */
static void explain(const char *text)
{
	while (text && *text) {
		size_t n = strcspn(text, "\n");

		printf("# %.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static bool ends_line(const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == '\n';
}

/* What a section expects against what is. With --bless, what is takes its place. */
static void compare(struct test *t, const struct section *head, struct section *s, const char *got)
{
	struct report why = { 0 };
	bool same = false;

	if (case_match(s->body, got, &why, &same) == 0 && !same && t->bless) {
		struct report text = { 0 };

		report_add(&text, "%s%s", got, ends_line(got) ? "" : "\n");
		mem_free(s->blessed);
		s->blessed = text.text;
		same = true;
		printf("# blessed: line %u\n", s->line);
	}
	if (!same)
		explain(why.text);
	report_free(&why);
	point(t, same, head, NULL);
}

static void check_xlated(struct test *t, struct section *s)
{
	struct report r = { 0 }, text = { 0 };
	struct unit *u = NULL;

	if (native_rewrite(t->u, target_find("arm64"), &r, &u) == 0)
		unit_print(u, PRINT_LLVM, &text);
	compare(t, s, s, text.text ? text.text : r.text ? r.text : "");
	unit_free(u);
	report_free(&text);
	report_free(&r);
}

/* The words of a native section. */
static const struct word {
	const char *name;
	size_t at; /* bool in struct jit_opts */
} words[] = {
	{ "blind", offsetof(struct jit_opts, blind) },
	{ "bti", offsetof(struct jit_opts, landing_pads) },
	{ "pac", offsetof(struct jit_opts, sign_returns) },
	{ "private", offsetof(struct jit_opts, private_stack) },
	{ "separate", offsetof(struct jit_opts, separate) },
};

static bool word_known(const char *name, struct jit_opts *opts)
{
	if (strncmp(name, "cpu=", 4) == 0) {
		opts->cpu = name + 4;
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].name, name) == 0) {
			*(bool *)((char *)opts + words[i].at) = true;
			return true;
		}
	}
	return false;
}

/* "arm64 blind cpu=cortex-a72"; what opts points to lies in text. */
static int words_parse(char *text, struct report *r, const struct target **target,
		       struct jit_opts *opts)
{
	char *rest, *name = strtok_r(text, " ", &rest);

	*target = name ? target_find(name) : NULL;
	if (!*target)
		return report_fail(r, -EINVAL, "native of what? arm64 or x86_64");
	while ((name = strtok_r(NULL, " ", &rest)))
		if (!word_known(name, opts))
			return report_fail(r, -EINVAL, "native: unknown word '%s'", name);
	return 0;
}

/* The code as text. What is refused is text, too: "error: ...". */
static int native_of(const struct test *t, const struct target *target, const struct jit_opts *opts,
		     struct report *r, struct report *text)
{
	struct report said = { 0 };
	struct unit *u = NULL;
	struct code *code = NULL;
	int err = native_rewrite(t->u, target, &said, &u);

	if (!err)
		err = jit_compile(target, u, opts, &said, &code);
	if (err)
		report_add(text, "error: %s", said.text ? said.text : strerror(-err));
	else
		err = native_text(u, code, NATIVE_BASE, NATIVE_OPS, text, r);
	code_free(code);
	unit_free(u);
	report_free(&said);
	return text->n ? 0 : err;
}

static void check_native(struct test *t, struct section *s)
{
	struct jit_opts opts = { .cpu = "baseline", .base = NATIVE_BASE, .blind_seed = 1 };
	struct report r = { 0 }, text = { 0 };
	char *copy = mem_strdup(s->words);
	const struct target *target = NULL;
	int err = copy ? words_parse(copy, &r, &target, &opts) : -ENOMEM;
	bool unshown;

	if (!err && target == target_find("arm64") && strcmp(opts.cpu, "baseline") == 0)
		opts.cpu = "neoverse-v2";
	if (!err)
		err = native_of(t, target, &opts, &r, &text);
	if (!err)
		compare(t, s, s, text.text);
	else
		explain(r.text);
	unshown = err == -ENOENT || err == -ENOSYS;
	if (err)
		point(t, unshown, s, unshown ? "no disassembler" : NULL);
	mem_free(copy);
	report_free(&text);
	report_free(&r);
}

static void check_run(struct test *t, struct section *s)
{
	struct section *result = case_find(&t->c, "result", s);
	struct report r = { 0 }, text = { 0 };

	if (!result || result != s + 1)
		report_add(&r, "a run needs a section '-- result' behind it\n");
	else if (case_run(t->u, s, &text, &r) == 0)
		compare(t, s, result, text.text);
	if (r.text) {
		explain(r.text);
		point(t, false, s, NULL);
	}
	report_free(&text);
	report_free(&r);
}

static const struct kind {
	const char *name;
	void (*check)(struct test *t, struct section *s); /* NULL: part of another one */
} kinds[] = {
	{ "asm", NULL },      { "xlated", check_xlated }, { "native", check_native },
	{ "run", check_run }, { "result", NULL },
};

static void check_section(struct test *t, struct section *s)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, s->kind) != 0)
			continue;
		if (kinds[i].check)
			kinds[i].check(t, s);
		return;
	}
	explain("there are asm, xlated, native, run and result");
	point(t, false, s, NULL);
}

static int write_back(const struct test *t, struct report *r)
{
	struct report text = { 0 };
	bool changed = false;
	int err = 0;

	for (size_t i = 0; i < t->c.sections.n; i++)
		changed |= t->c.sections.at[i].blessed != NULL;
	if (changed) {
		case_print(&t->c, &text);
		err = outfile_write(t->c.path, text.text, text.n, r);
	}
	report_free(&text);
	return err;
}

static int check_case(struct test *t, struct report *r)
{
	const struct section *s = case_find(&t->c, "asm", NULL);
	int err = unit_parse(t->c.path, s->body, r, &t->u);

	if (err)
		return err;
	t->u->env = &helper_env;
	t->u->arena_user = 0x7e00ull << 32;
	for (size_t i = 0; i < t->c.sections.n; i++)
		check_section(t, &t->c.sections.at[i]);
	unit_free(t->u);
	return write_back(t, r);
}

static void check_file(const char *path, const struct test_values *v, unsigned *n, unsigned *bad)
{
	struct test t = { .bless = v->bless, .n = n, .bad = bad };
	struct report r = { 0 };
	char *text = NULL;
	int err = file_text(path, &r, &text);

	if (!err)
		err = case_parse(path, text, &r, &t.c);
	if (!err) {
		err = check_case(&t, &r);
		case_free(&t.c);
	}
	if (err) {
		explain(r.text);
		printf("not ok %u - %s\n", ++*n, path);
		++*bad;
	}
	mem_free(text);
	report_free(&r);
}

static int run_test(const void *values, char **args, unsigned n)
{
	unsigned points = 0, bad = 0;

	for (unsigned i = 0; i < n; i++)
		check_file(args[i], values, &points, &bad);
	printf("1..%u\n", points);
	return bad ? EXIT_NO : 0;
}

const struct command command_test = {
	.name = "test",
	.args = "FILE.case...",
	.line = "Checks case files: what a program becomes, and what it does",
	.about =
	    "Prints TAP. Programs run on the interpreter and natively, compiled in every way;\n"
	    "native code of other machines is compared as text. Format: docs/cases.md.",
	.example = "Example: skep test --bless tests/cases/jit/*.case",
	.opts = test_opts,
	.n_opts = sizeof(test_opts) / sizeof(test_opts[0]),
	.min_args = 1,
	.max_args = 100000,
	.run = run_test,
	.values_size = sizeof(struct test_values),
};
