/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"

static char *copy(const char *from, size_t n)
{
	char *to = mem_zalloc(1, n + 1);

	if (to)
		memcpy(to, from, n);
	return to;
}

/* Length of text up to the next head, or all of it. */
static size_t body_length(const char *text)
{
	const char *end = strstr(text, "\n-- ");

	if (strncmp(text, "-- ", 3) == 0)
		return 0;
	return end ? (size_t)(end - text) + 1 : strlen(text);
}

/* Without empty lines at the end. */
static size_t trimmed(const char *body, size_t n)
{
	while (n > 1 && body[n - 1] == '\n' && body[n - 2] == '\n')
		n--;
	return n == 1 && *body == '\n' ? 0 : n;
}

/* "native arm64 blind", without the dashes, and what follows up to the next head. */
static int section_parse(const char **text, struct section *s)
{
	const char *line = *text + 3, *end = strchrnul(line, '\n');
	size_t kind = strcspn(line, " \n"), words = strspn(line + kind, " ");
	const char *body = *end ? end + 1 : end;
	size_t n = body_length(body);

	s->kind = copy(line, kind);
	s->words = copy(line + kind + words, (size_t)(end - line) - kind - words);
	s->body = copy(body, trimmed(body, n));
	*text = body + n;
	return s->kind && s->words && s->body ? 0 : -ENOMEM;
}

static unsigned line_of(const char *text, const char *at)
{
	unsigned n = 1;

	for (; text < at; text++)
		n += *text == '\n';
	return n;
}

static int sections_parse(const char *text, const char *at, struct case_file *c)
{
	int err = 0;

	while (*at && !err) {
		struct section s = { .line = line_of(text, at) };

		err = section_parse(&at, &s);
		if (vec_push(&c->sections, s))
			err = -ENOMEM;
	}
	return err;
}

int case_parse(const char *path, const char *text, struct report *r, struct case_file *out)
{
	struct case_file c = { .path = path };
	size_t n = body_length(text);
	int err;

	c.head = copy(text, n);
	err = c.head ? sections_parse(text, text + n, &c) : -ENOMEM;
	if (err)
		report_fail(r, err, "out of memory");
	else if (!case_find(&c, "asm", NULL))
		err = report_fail(r, -EINVAL, "%s: there is no section '-- asm'", path);
	if (err)
		case_free(&c);
	else
		*out = c;
	return err;
}

void case_free(struct case_file *c)
{
	for (size_t i = 0; i < c->sections.n; i++) {
		mem_free(c->sections.at[i].kind);
		mem_free(c->sections.at[i].words);
		mem_free(c->sections.at[i].body);
		mem_free(c->sections.at[i].blessed);
	}
	vec_free(&c->sections);
	mem_free(c->head);
}

struct section *case_find(const struct case_file *c, const char *kind, const struct section *after)
{
	size_t i = after ? (size_t)(after - c->sections.at) + 1 : 0;

	for (; i < c->sections.n; i++)
		if (strcmp(c->sections.at[i].kind, kind) == 0)
			return &c->sections.at[i];
	return NULL;
}

/* What is said of a program has an empty line after it, where more follows. */
static bool has_line_after(const struct section *s)
{
	return strcmp(s->kind, "asm") != 0 && strcmp(s->kind, "run") != 0;
}

void case_print(const struct case_file *c, struct report *out)
{
	report_add(out, "%s", c->head);
	for (size_t i = 0; i < c->sections.n; i++) {
		const struct section *s = &c->sections.at[i];

		report_add(out, "-- %s%s%s\n%s", s->kind, *s->words ? " " : "", s->words,
			   s->blessed ? s->blessed : s->body);
		if (i + 1 < c->sections.n && has_line_after(s))
			report_add(out, "\n");
	}
}
