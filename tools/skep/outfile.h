/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that appear under their name whole or not at all: written without a name, or beside it
 * where the file system cannot do that, and put in its place when complete. A process that is
 * killed in between leaves nothing. What is no regular file (a pipe, /dev/null) is written
 * directly.
 */
#ifndef SKEP_TOOL_OUTFILE_H
#define SKEP_TOOL_OUTFILE_H

#include <stddef.h>

struct report;

struct outfile {
	const char *path;
	char *temp; /* the name beside it; NULL: written directly */
	int fd;	    /* -1, or the file without a name */
};

/* -EINVAL with a message for "-", which means a file to nobody who writes it. */
int outfile_check(const char *path, struct report *r);

/*
 * Opens a file to write; *fd is the caller's and stays open until the file was committed.
 * 0 or -errno with a message.
 */
int outfile_open(const char *path, struct report *r, struct outfile *out, int *fd);

/* The file is complete (and its data written): gives it its name. */
int outfile_commit(struct outfile *o, struct report *r);

/* Removes what was not committed. Harmless afterwards and when zeroed. */
void outfile_discard(struct outfile *o);

/* All of it in one call. */
int outfile_write(const char *path, const void *at, size_t n, struct report *r);

/*
 * A message and -EINVAL when writing to `path` would overwrite `input`, under whatever name; input
 * may be NULL and need not exist.
 */
int outfile_spares(const char *path, const char *input, struct report *r);

/* Records that `path` could not be written, with err (-errno). */
int outfile_failed(const char *path, int err, struct report *r);

#endif
