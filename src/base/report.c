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

void report_addv(struct report *r, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
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
	room = r->limit && r->limit > r->n ? r->limit - r->n : r->limit ? 0 : (size_t)n;
	if ((size_t)n > room) {
		r->lost += (size_t)n - room;
		n = (int)room;
		r->text[r->n + (size_t)n] = '\0';
	}
	r->n += (size_t)n;
}

void report_add(struct report *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_addv(r, fmt, ap);
	va_end(ap);
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
