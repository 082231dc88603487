/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subcommands. Each lives in a file of its own as `const struct command command_NAME`;
 * command.def lists them. Exit status: 0 done, 1 done and the answer is no, 2 could not be done.
 */
#ifndef SKEP_TOOL_COMMAND_H
#define SKEP_TOOL_COMMAND_H

#include <stddef.h>

enum { EXIT_NO = 1, EXIT_UNABLE = 2 };

enum opt_kind {
	OPT_FLAG,  /* bool */
	OPT_TEXT,  /* const char * */
	OPT_COUNT, /* uint64_t, at least 1 */
	OPT_LIST,  /* struct opt_list: may be given again */
};

struct opt_list {
	const char **at;
	size_t n;
};

/* One option of a subcommand. */
struct opt {
	const char *name; /* without the dashes */
	char letter;	  /* 0: none */
	enum opt_kind kind;
	size_t to;	 /* offset in the subcommand's struct of values */
	const char *arg; /* what the help calls its argument; NULL for flags */
	const char *help;
};

struct command {
	const char *name;
	const char *args;    /* "OBJECT" */
	const char *line;    /* one line for `skep --help` */
	const char *about;   /* more for `skep NAME --help`; may be NULL */
	const char *example; /* lines of the help's end */
	const struct opt *opts;
	size_t n_opts;
	unsigned min_args, max_args;
	/* The number of arguments has been checked. Returns the exit status. */
	int (*run)(const void *values, char **args, unsigned n);
	size_t values_size; /* of the struct that opt.to points into */
};

/* Parses argv (after the subcommand's name) and runs it. Returns the exit status. */
int command_run_with(const struct command *c, int argc, char **argv);

/* The one of `n` names that is nearest to `wrong`, or NULL when none is near. name_at(ctx, i) gives
 * a name. */
const char *suggest(const char *wrong, size_t n, const char *(*name_at)(const void *ctx, size_t i),
		    const void *ctx);

#endif
