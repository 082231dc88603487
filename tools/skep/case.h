/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Case files: what is true of one program, as text that a person can read. `-- KIND [WORDS]` begins
 * a section; what is before the first says what the case is about. docs/cases.md lists the kinds.
 */
#ifndef SKEP_TOOL_CASE_H
#define SKEP_TOOL_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct report;
struct unit;

struct section {
	char *kind, *words; /* "native", "arm64 blind"; words may be empty */
	char *body;	    /* its lines, without empty ones at the end */
	unsigned line;	    /* of its head, from 1 */
	char *blessed;	    /* what the body is to become; NULL: as it is */
};

struct case_file {
	const char *path;
	char *head; /* text before the first section */
	VEC(struct section) sections;
};

/* Splits text, the contents of `path`. 0, -EINVAL or -ENOMEM with a message. */
int case_parse(const char *path, const char *text, struct report *r, struct case_file *out);
void case_free(struct case_file *c);

/* The first section of that kind behind section `after` (NULL: of all), or NULL. */
struct section *case_find(const struct case_file *c, const char *kind, const struct section *after);

/* The whole file as text, with what was blessed. */
void case_print(const struct case_file *c, struct report *out);

/* Whether `got` is what `want` describes: line by line, `...` for any number of lines, {{regex}}
 * within a line; spaces count as one, empty lines and those that begin with `;` do not count. If
 * not, *why says where. -EINVAL with a message for a regex that is none. */
int case_match(const char *want, const char *got, struct report *why, bool *same);

/* case_run.c: runs u as a `run` section says, with one engine after the other, and adds what the
 * reference made of it. 0, -EINVAL with a message when an engine made something else of it. */
int case_run(const struct unit *u, const struct section *s, struct report *out, struct report *r);

#endif
