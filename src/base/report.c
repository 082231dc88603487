/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

void report_free(struct report *r)
{
	mem_free(r->text);
	memset(r, 0, sizeof(*r));
}

static void keep_first(struct report *r)
{
	if (r->n <= r->limit)
		return;
	r->lost += r->n - r->limit;
	r->n = r->limit;
	r->text[r->n] = '\0';
}

/* Moves once in `limit` bytes, not with each line. */
static void keep_last(struct report *r)
{
	size_t drop = r->n - r->limit;

	if (r->n < r->limit || drop < r->limit)
		return;
	memmove(r->text, r->text + drop, r->limit + 1);
	r->n = r->limit;
	r->lost += drop;
}

void report_cut(struct report *r, size_t pos)
{
	if (!r->text || pos > report_pos(r))
		return;
	if (r->rolling) {
		r->n = pos > r->lost ? pos - r->lost : 0;
		r->lost = pos - r->n;
	} else {
		r->lost = pos > r->n ? pos - r->n : 0;
		r->n = pos - r->lost;
	}
	r->text[r->n] = '\0';
}

void report_addv(struct report *r, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (!r)
		return;
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	if (vec_grow((void **)&r->text, &r->cap, r->n + (size_t)n + 1, 1)) {
		r->err = r->err ? r->err : -ENOMEM;
		return;
	}
	vsnprintf(r->text + r->n, (size_t)n + 1, fmt, ap);
	r->n += (size_t)n;
	if (r->limit && r->rolling)
		keep_last(r);
	else if (r->limit)
		keep_first(r);
	r->most = report_pos(r) > r->most ? report_pos(r) : r->most;
}

void report_add(struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_addv(r, fmt, ap);
	va_end(ap);
}

void report_add_whole(struct report *r, const char *text)
{
	size_t n = strlen(text);

	if (r && r->limit && report_pos(r) + n >= r->limit)
		r->gave_way += n;
	else
		report_add(r, "%s", text);
}

int report_fail(struct report *r, int err, const char *fmt, ...)
{
	va_list ap;

	if (!r || r->err)
		return err;
	va_start(ap, fmt);
	report_addv(r, fmt, ap);
	va_end(ap);
	report_add(r, "\n");
	if (!r->err)
		r->err = err;
	return err;
}
