/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the user sees beyond plain output: messages, colours (only on terminals that want them),
 * numbers made readable, and the progress bar.
 */
#ifndef SKEP_TOOL_UI_H
#define SKEP_TOOL_UI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One line on stderr: "skep: MESSAGE". ui_unable returns EXIT_UNABLE, so that
 * `return ui_unable(...)` reads well. A trailing newline of the message is dropped. */
int ui_unable(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void ui_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says aloud that the programs of an object were loaded without verification. */
void ui_unverified(const char *path);

/* Escape sequences for f, or "" when f is no terminal, NO_COLOR is set or TERM is dumb. */
const char *ui_bold(FILE *f);
const char *ui_dim(FILE *f);
const char *ui_plain(FILE *f);

/* "12.3 million", "4,096": into buf, which is returned. */
const char *ui_count(uint64_t n, char *buf, size_t size);

/* A bar on stderr, shown when stderr is a terminal and the work takes longer than a second. */
struct progress {
	const char *label;
	uint64_t start_ns, shown_ns; /* 0: not shown yet */
	bool terminal;
};

void progress_start(struct progress *p, const char *label);
void progress_at(struct progress *p, double part); /* 0 to 1 */
void progress_end(struct progress *p);

#endif
