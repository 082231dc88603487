/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report collects what a stage has to say: text that grows (the verifier log, a dump) and the
 * first error. The first error wins; later ones are dropped, so that builders can go on without
 * a check after each step and be asked once at the end.
 */
#ifndef SKEP_BASE_REPORT_H
#define SKEP_BASE_REPORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct report {
	char *text; /* NUL-terminated; NULL while empty */
	size_t n;   /* bytes in text, without the NUL */
	size_t cap;
	size_t limit; /* most bytes kept, 0: no limit; what goes beyond is counted in `lost` */
	bool rolling; /* what is kept is the last part (up to twice the limit), not the first */
	size_t lost;
	size_t most;	 /* the furthest position that was reached */
	size_t gave_way; /* bytes of report_add_whole that were left out */
	int err;	 /* 0 or the first -errno */
};

/* Where the text ends, counted from its start, what was not kept included. */
static inline size_t report_pos(const struct report *r)
{
	return r->n + r->lost;
}

/* Takes back what was added since report_pos gave pos. */
void report_cut(struct report *r, size_t pos);

void report_free(struct report *r);

/* Adds text. Out of memory makes r->err -ENOMEM. A NULL r is allowed: nothing is kept. */
void report_add(struct report *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_addv(struct report *r, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Adds text behind what is there only if all of both is kept, the NUL included; else it is left out
 * and counted in gave_way. */
void report_add_whole(struct report *r, const char *text);

/* Records the first error with its one-line message (no newline in fmt; one is added) and
 * returns err, so that `return report_fail(r, -EINVAL, "insn %u: ...", i)` reads well. */
int report_fail(struct report *r, int err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
