/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of subcommands: parsing, help text, and guesses at what was meant. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "skep/command.h"
#include "skep/ui.h"

enum { HELP_COLUMN = 26, NAME_MAX_LEN = 63 };

/* Edit distance (insert, delete, replace, each 1) of two names of at most NAME_MAX_LEN bytes. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1], n = (unsigned)strlen(b);

	if (strlen(a) > NAME_MAX_LEN || n > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0]++;

		for (unsigned j = 1; j <= n; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[n];
}

const char *suggest(const char *wrong, size_t n, const char *(*name_at)(const void *ctx, size_t i),
		    const void *ctx)
{
	unsigned limit = (unsigned)strlen(wrong) / 3 + 1, d;
	const char *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *name = name_at(ctx, i);

		d = distance(wrong, name);
		if (d > 0 && strncmp(wrong, name, strlen(wrong)) == 0)
			d = 1;
		if (d <= limit) {
			limit = d - (d > 0);
			best = name;
		}
	}
	return best;
}

static const char *opt_name_at(const void *ctx, size_t i)
{
	return ((const struct command *)ctx)->opts[i].name;
}

static void print_opt(const struct opt *o)
{
	char left[64];
	int n = snprintf(left, sizeof(left), "  %c%c%s--%s%s%s", o->letter ? '-' : ' ',
			 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");

	printf("%-*s%s%s\n", HELP_COLUMN, left, n >= HELP_COLUMN ? " " : "", o->help);
}

static void print_help(const struct command *c)
{
	printf("%sskep %s%s %s%s\n%s.\n", ui_bold(stdout), c->name, ui_plain(stdout),
	       c->n_opts ? "[OPTION]... " : "", c->args, c->line);
	if (c->about)
		printf("%s\n", c->about);
	printf("\n");
	for (size_t i = 0; i < c->n_opts; i++)
		print_opt(&c->opts[i]);
	printf("\n%s\n", c->example);
}

/* The option that `arg` ("--name", "--name=value", "-n", "-nvalue") names, and its value if it is
 * in the same word; NULL when there is none. */
static const struct opt *find_opt(const struct command *c, const char *arg, const char **value)
{
	*value = NULL;
	for (size_t i = 0; i < c->n_opts; i++) {
		const struct opt *o = &c->opts[i];
		size_t n = strlen(o->name);

		if (arg[1] != '-') {
			if (!o->letter || arg[1] != o->letter)
				continue;
			*value = arg[2] ? arg + 2 : NULL;
			return o;
		}
		if (strncmp(arg + 2, o->name, n) != 0 || (arg[2 + n] && arg[2 + n] != '='))
			continue;
		*value = arg[2 + n] ? arg + 3 + n : NULL;
		return o;
	}
	return NULL;
}

static int unknown_opt(const struct command *c, const char *arg)
{
	const char *guess = NULL;
	char name[NAME_MAX_LEN + 1];

	if (arg[1] == '-') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
		guess = suggest(name, c->n_opts, opt_name_at, c);
	}
	if (guess)
		return ui_unable("%s: unknown option %s; did you mean --%s?", c->name, arg, guess);
	return ui_unable("%s: unknown option %s; `skep %s --help` lists them", c->name, arg,
			 c->name);
}

static int list_add(struct opt_list *l, const char *value)
{
	const char **at = mem_resize(l->at, l->n + 1, sizeof(*at));

	if (!at)
		return -ENOMEM;
	l->at = at;
	l->at[l->n++] = value;
	return 0;
}

/* Stores an option's value. 0 or the exit status. */
static int store(const struct command *c, const struct opt *o, const char *value, void *values)
{
	void *to = (char *)values + o->to;
	char *end;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case OPT_TEXT:
		*(const char **)to = value;
		return 0;
	case OPT_LIST:
		return list_add(to, value) ? ui_unable("out of memory") : 0;
	case OPT_COUNT:
		errno = 0;
		*(uint64_t *)to = strtoull(value, &end, 0);
		if (errno || end == value || *end || *value == '-' || !*(uint64_t *)to)
			return ui_unable("%s: --%s takes a number from 1 on, not '%s'", c->name,
					 o->name, value);
		return 0;
	}
	return 0;
}

/* One option at argv[*i]. 0 or the exit status. */
static int take_opt(const struct command *c, int argc, char **argv, int *i, void *values)
{
	const char *value;
	const struct opt *o = find_opt(c, argv[*i], &value);

	if (!o)
		return unknown_opt(c, argv[*i]);
	if (o->kind == OPT_FLAG && value)
		return ui_unable("%s: --%s takes no value, so '%s' is one too many", c->name,
				 o->name, value);
	if (o->kind != OPT_FLAG && !value) {
		if (*i + 1 >= argc)
			return ui_unable("%s: --%s needs a value: %s", c->name, o->name, o->arg);
		value = argv[++*i];
	}
	return store(c, o, value, values);
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* Sorts argv into options and arguments; the latter move to the front. 0 or the exit status. */
static int parse(const struct command *c, int argc, char **argv, void *values, unsigned *n_args)
{
	bool plain = false;
	int err;

	*n_args = 0;
	for (int i = 0; i < argc; i++) {
		if (!plain && strcmp(argv[i], "--") == 0) {
			plain = true;
		} else if (!plain && argv[i][0] == '-' && argv[i][1]) {
			err = take_opt(c, argc, argv, &i, values);
			if (err)
				return err;
		} else {
			argv[(*n_args)++] = argv[i];
		}
	}
	if (*n_args < c->min_args)
		return ui_unable("%s: too few arguments; usage: skep %s %s", c->name, c->name,
				 c->args);
	if (*n_args > c->max_args)
		return ui_unable("%s: unexpected argument '%s'; usage: skep %s %s", c->name,
				 argv[c->max_args], c->name, c->args);
	return 0;
}

static void free_lists(const struct command *c, void *values)
{
	for (size_t i = 0; i < c->n_opts; i++)
		if (c->opts[i].kind == OPT_LIST)
			mem_free(((struct opt_list *)((char *)values + c->opts[i].to))->at);
}

int command_run_with(const struct command *c, int argc, char **argv)
{
	void *values;
	unsigned n;
	int status;

	if (wants_help(argc, argv)) {
		print_help(c);
		return 0;
	}
	values = mem_zalloc(1, c->values_size);
	if (!values)
		return ui_unable("out of memory");
	status = parse(c, argc, argv, values, &n);
	if (!status)
		status = c->run(values, argv, n);
	free_lists(c, values);
	mem_free(values);
	return status;
}
