/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same call on two sides: the running kernel's bpf(2), and skep's. Rows of a test fill the
 * attributes for one side, with that side's descriptors; errno must be the same on both.
 */
#ifndef SKEP_TESTS_SYS_SIDES_H
#define SKEP_TESTS_SYS_SIDES_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/attr.h"

enum { KERNEL, SKEP, SIDES };

/* Descriptors that rows use; made once for each side. */
struct side {
	int hash, array, ro_array, percpu, queue, outer, prog_array, ring; /* maps */
	int prog, btf;
};

extern struct side sides[SIDES];

/* 0 or more, or -errno. */
int side_bpf(int side, int cmd, const void *attr, unsigned size);

/* Makes the descriptors of `side`; false (with errno) when it cannot. */
bool side_open(int side);

struct row {
	const char *name;
	int cmd;
	void (*fill)(union attr *a, const struct side *s);
	unsigned size; /* 0: the whole of union attr */
};

/* Runs rows on both sides, printing a TAP line for each. Returns the number of failures. */
unsigned rows_run(const struct row *rows, unsigned n, unsigned *tests);

/* The rows for PROG_LOAD (rules_prog.c). */
extern const struct row prog_rows[];
extern const unsigned n_prog_rows;

/* A TAP line. */
bool check(unsigned *tests, bool ok, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
