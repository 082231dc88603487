/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that appear under their name whole or not at all: written beside it and renamed. What is
 * no regular file (a pipe, /dev/null) is written directly.
 */
#ifndef SKEP_TOOL_OUTFILE_H
#define SKEP_TOOL_OUTFILE_H

#include <stddef.h>

struct report;

struct outfile {
	const char *path;
	char *temp; /* NULL: written directly */
};

/* -EINVAL with a message for "-", which means a file to nobody who writes it. */
int outfile_check(const char *path, struct report *r);

/* Opens a file to write; *fd is the caller's. 0 or -errno with a message. */
int outfile_open(const char *path, struct report *r, struct outfile *out, int *fd);

/* The file is complete (and its data written): gives it its name. */
int outfile_commit(struct outfile *o, struct report *r);

/* Removes what was not committed. Harmless afterwards and when zeroed. */
void outfile_discard(struct outfile *o);

/* All of it in one call. */
int outfile_write(const char *path, const void *at, size_t n, struct report *r);

/* Records that `path` could not be written, with err (-errno). */
int outfile_failed(const char *path, int err, struct report *r);

#endif
