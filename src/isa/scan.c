/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/scan.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/report.h"
#include "isa/op.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

/* Length of the comment that begins at text[i], 0 when none does. */
static size_t comment_length(const char *text, size_t i, size_t n)
{
	bool apart = i == 0 || text[i - 1] == '\0' || is_blank(text[i - 1]);
	const char *end;

	if (text[i] == '/' && i + 1 < n && text[i + 1] == '*') {
		end = strstr(text + i + 2, "*/");
		return end ? (size_t)(end + 2 - (text + i)) : n - i;
	}
	if (((text[i] == ';' || text[i] == '#') && apart) ||
	    (text[i] == '/' && i + 1 < n && text[i + 1] == '/'))
		return strcspn(text + i, "\n");
	return 0;
}

void scan_strip(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t end = i + comment_length(text, i, n);

		for (; i < end; i++)
			if (text[i] != '\n')
				text[i] = ' ';
			else
				text[i] = '\0';
		if (i < n && text[i] == '\n')
			text[i] = '\0';
	}
}

static void skip_blanks(struct scan *s)
{
	while (is_blank(*s->at))
		s->at++;
}

bool scan_end(struct scan *s)
{
	skip_blanks(s);
	return *s->at == '\0';
}

bool scan_eat(struct scan *s, const char *token)
{
	size_t n = strlen(token);

	skip_blanks(s);
	if (strncmp(s->at, token, n) != 0)
		return false;
	if (is_name_char(token[n - 1]) && is_name_char(s->at[n]))
		return false;
	s->at += n;
	return true;
}

bool scan_reg(struct scan *s, char *letter, uint8_t *number)
{
	const char *p;
	unsigned n = 0;

	skip_blanks(s);
	p = s->at;
	if ((*p != 'r' && *p != 'w') || !isdigit((unsigned char)p[1]))
		return false;
	for (p++; isdigit((unsigned char)*p) && n < BPF_REGS; p++)
		n = n * 10 + (unsigned)(*p - '0');
	if (n >= BPF_REGS || is_name_char(*p))
		return false;
	*letter = *s->at;
	*number = (uint8_t)n;
	s->at = p;
	return true;
}

bool scan_name(struct scan *s, const char **name, size_t *n)
{
	skip_blanks(s);
	if (!is_name_char(*s->at) || isdigit((unsigned char)*s->at))
		return false;
	*name = s->at;
	while (is_name_char(*s->at))
		s->at++;
	*n = (size_t)(s->at - *name);
	return true;
}

/* The value of a digit in base 16; 16 when it is none. */
static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

bool scan_number(struct scan *s, struct scan_number *out)
{
	const char *p;
	unsigned base = 10;

	skip_blanks(s);
	*out = (struct scan_number){ .minus = *s->at == '-' };
	p = s->at + (*s->at == '-' || *s->at == '+');
	while (is_blank(*p))
		p++;
	if (p[0] == '0' && (p[1] | 0x20) == 'x' && digit_value(p[2]) < 16) {
		base = 16;
		p += 2;
	}
	if (digit_value(*p) >= base)
		return false;
	for (; digit_value(*p) < base; p++) {
		out->big |= __builtin_mul_overflow(out->value, base, &out->value);
		out->big |= __builtin_add_overflow(out->value, digit_value(*p), &out->value);
	}
	if (is_name_char(*p))
		return false;
	out->big |= out->minus && out->value > 1ull << 63;
	if (out->minus)
		out->value = 0 - out->value;
	s->at = p;
	return true;
}

int scan_fail(struct scan *s, const char *what, const char *accepted)
{
	skip_blanks(s);
	return report_fail(s->r, -EINVAL, "%s:%u:%u: %s; %s", s->name, s->row,
			   (unsigned)(s->at - s->line) + 1, what, accepted);
}

/* Length of the word or sign at p, for messages. */
static int word_length(const char *p)
{
	int n = 0;

	while (n < 40 && is_name_char(p[n]))
		n++;
	return n ? n : 1;
}

int scan_unexpected(struct scan *s, const char *accepted)
{
	unsigned column;

	if (scan_end(s))
		return scan_fail(s, "the line ends too early", accepted);
	column = (unsigned)(s->at - s->line) + 1;
	if (!isprint((unsigned char)*s->at))
		return report_fail(s->r, -EINVAL, "%s:%u:%u: unexpected byte 0x%02x; %s", s->name,
				   s->row, column, (unsigned char)*s->at, accepted);
	return report_fail(s->r, -EINVAL, "%s:%u:%u: unexpected '%.*s'; %s", s->name, s->row,
			   column, word_length(s->at), s->at, accepted);
}
