/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/format.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static bool ends_word(char c)
{
	return c == 0 || isspace((unsigned char)c) || ispunct((unsigned char)c);
}

/* What follows %p; returns its last character, NULL when it is not allowed. */
static const char *ptr_parse(const char *p, struct conversion *s)
{
	if (ends_word(p[1]))
		return p;
	if ((p[1] == 'k' || p[1] == 'u') && p[2] == 's') {
		s->conv = 's';
		return ends_word(p[3]) ? p + 2 : NULL;
	}
	s->ptr[0] = p[1];
	if (strchr("KxsSB", p[1]))
		return p + 1;
	s->ptr[1] = p[2];
	if ((p[1] != 'i' && p[1] != 'I') || (p[2] != '4' && p[2] != '6'))
		return NULL;
	return p + 2;
}

static const char *number_parse(const char *p, struct conversion *s)
{
	for (unsigned i = 0; i < 2 && *p == 'l'; i++, p++)
		s->wide = true;
	s->conv = *p;
	return *p && strchr("iduxX", *p) ? p : NULL;
}

const char *conversion_parse(const char *p, struct conversion *s)
{
	*s = (struct conversion){ .flags = p };
	while (*p && strchr("0+- ", *p))
		p++;
	if (*p >= '1' && *p <= '9')
		while (isdigit((unsigned char)*p))
			p++;
	s->n_flags = (unsigned)(p - s->flags);
	s->conv = *p;
	if (s->n_flags > 16)
		return NULL;
	if (*p == 'p')
		return ptr_parse(p, s);
	if (*p == 's')
		return ends_word(p[1]) ? p : NULL;
	return *p == 'c' ? p : number_parse(p, s);
}

bool format_plain(char c)
{
	return !isascii((unsigned char)c) || isprint((unsigned char)c) || isspace((unsigned char)c);
}

bool format_ok(const char *fmt, unsigned n)
{
	unsigned used = 0;

	for (const char *p = fmt; *p; p++) {
		struct conversion s;

		if (!format_plain(*p))
			return false;
		if (*p != '%')
			continue;
		if (p[1] == '%')
			p++;
		else if (used++ == n || !(p = conversion_parse(p + 1, &s)))
			return false;
	}
	return true;
}
