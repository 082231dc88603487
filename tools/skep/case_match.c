/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether text is what a case expects. */
#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "skep/case.h"

typedef VEC(char *) line_list;

static void lines_free(line_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		mem_free(l->at[i]);
	vec_free(l);
}

/* The line with each run of spaces as one and none at its ends. */
static char *squeezed(const char *line, size_t n)
{
	char *to = mem_zalloc(1, n + 1);
	size_t at = 0;

	for (size_t i = 0; to && i < n; i++) {
		if (!isspace((unsigned char)line[i]))
			to[at++] = line[i];
		else if (at && to[at - 1] != ' ')
			to[at++] = ' ';
	}
	if (to && at && to[at - 1] == ' ')
		to[at - 1] = 0;
	return to;
}

static int lines_of(const char *text, line_list *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = squeezed(text, n);

		if (!line)
			return -ENOMEM;
		if (!*line || *line == ';')
			mem_free(line);
		else if (vec_push(out, line)) {
			mem_free(line);
			return -ENOMEM;
		}
		text += n + (text[n] == '\n');
	}
	return 0;
}

/* A POSIX regex for the whole line: what is outside of {{ }} stands for itself. */
static void pattern_of(const char *want, struct report *to)
{
	report_add(to, "^");
	while (*want) {
		const char *end = strncmp(want, "{{", 2) == 0 ? strstr(want, "}}") : NULL;

		if (end) {
			report_add(to, "(%.*s)", (int)(end - want - 2), want + 2);
			want = end + 2;
		} else {
			report_add(to, strchr(".[]{}()*+?^$|\\", *want) ? "\\%c" : "%c", *want);
			want++;
		}
	}
	report_add(to, "$");
}

static int regex_matches(const char *want, const char *got, struct report *why, bool *same)
{
	struct report pattern = { 0 };
	regex_t regex;
	int bad;

	pattern_of(want, &pattern);
	bad = pattern.err ? -ENOMEM : regcomp(&regex, pattern.text, REG_EXTENDED | REG_NOSUB);
	report_free(&pattern);
	if (bad)
		return report_fail(why, -EINVAL, "no regular expression: %s", want);
	*same = !regexec(&regex, got, 0, NULL, 0);
	regfree(&regex);
	return 0;
}

static int line_matches(const char *want, const char *got, struct report *why, bool *same)
{
	*same = strcmp(want, got) == 0;
	return *same || !strstr(want, "{{") ? 0 : regex_matches(want, got, why, same);
}

/* Lines of `want` from w on against those of `got` from g on. A line that differs goes back to the
 * last `...`, which then takes one line more. */
static int lists_match(const line_list *want, const line_list *got, struct report *why, bool *same)
{
	size_t w = 0, g = 0, skip = SIZE_MAX, skipped = 0;

	for (;;) {
		bool more = w < want->n, line = false;
		int err = 0;

		if (more && strcmp(want->at[w], "...") == 0) {
			skip = w++;
			skipped = g;
			continue;
		}
		if (more && g < got->n)
			err = line_matches(want->at[w], got->at[g], why, &line);
		if (err)
			return err;
		*same = !more && g == got->n;
		if (*same)
			return 0;
		if (line) {
			w++;
			g++;
		} else if (skip != SIZE_MAX && skipped < got->n) {
			w = skip + 1;
			g = ++skipped;
		} else {
			report_add(why, "%s\n  instead of\n%s\n", g < got->n ? got->at[g] : "(end)",
				   more ? want->at[w] : "(end)");
			return 0;
		}
	}
}

int case_match(const char *want, const char *got, struct report *why, bool *same)
{
	line_list w = { 0 }, g = { 0 };
	int err = lines_of(want, &w);

	if (!err)
		err = lines_of(got, &g);
	if (err)
		report_fail(why, err, "out of memory");
	else
		err = lists_match(&w, &g, why, same);
	lines_free(&w);
	lines_free(&g);
	return err;
}
