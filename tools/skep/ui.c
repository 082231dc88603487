/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/ui.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "skep/command.h"

enum { BAR_WIDTH = 40 };

void ui_unverified(const char *path)
{
	ui_note("%s: loaded without verification (--unverified); run only what you trust", path);
}

static bool coloured(FILE *f)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(fileno(f)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *ui_bold(FILE *f)
{
	return coloured(f) ? "\033[1m" : "";
}

const char *ui_dim(FILE *f)
{
	return coloured(f) ? "\033[2m" : "";
}

const char *ui_plain(FILE *f)
{
	return coloured(f) ? "\033[0m" : "";
}

static void message(const char *fmt, va_list ap)
{
	char text[4096];
	size_t n;

	vsnprintf(text, sizeof(text), fmt, ap);
	n = strlen(text);
	while (n && text[n - 1] == '\n')
		text[--n] = 0;
	fflush(stdout);
	fprintf(stderr, "%sskep:%s %s\n", ui_bold(stderr), ui_plain(stderr), text);
}

int ui_unable(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	return EXIT_UNABLE;
}

void ui_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

const char *ui_count(uint64_t n, char *buf, size_t size)
{
	char digits[24];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n),
	       out = 0;

	for (size_t i = 0; i < len && out + 2 < size; i++) {
		if (i && (len - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = 0;
	return buf;
}

void progress_start(struct progress *p, const char *label)
{
	*p = (struct progress){ .label = label, .start_ns = clock_ns(CLOCK_MONOTONIC) };
	p->terminal = isatty(STDERR_FILENO);
}

void progress_at(struct progress *p, double part)
{
	uint64_t now;
	int full;

	if (!p->terminal)
		return;
	now = clock_ns(CLOCK_MONOTONIC);
	if (now - p->start_ns < 1000000000ull || now - p->shown_ns < 100000000ull)
		return;
	part = part < 0 ? 0 : part > 1 ? 1 : part;
	full = (int)(part * BAR_WIDTH);
	fprintf(stderr, "\r%s [%.*s%.*s] %3d %%", p->label, full,
		"########################################", BAR_WIDTH - full,
		"                                        ", (int)(part * 100));
	fflush(stderr);
	p->shown_ns = now;
}

void progress_end(struct progress *p)
{
	if (p->shown_ns)
		fputs("\r\033[K", stderr);
	p->shown_ns = 0;
}
