/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/json.h"

#include <inttypes.h>
#include <math.h>

static void newline(const struct json *j)
{
	if (j->style == JSON_LINE)
		return;
	fputc('\n', j->f);
	for (unsigned i = 0; i < j->depth; i++)
		fputc('\t', j->f);
}

/* The character of UTF-8 at s; how many bytes it has, or 0: these bytes are none. */
static unsigned utf8_read(const unsigned char *s, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	*c = n > 1 ? s[0] & (0x7fu >> n) : s[0];
	if (s[0] >= 0xf8)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (s[i] & 0x3f);
	}
	return *c >= least[n] && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff) ? n : 0;
}

/* What is no text becomes U+FFFD, byte by byte; control characters are never written as they are.
 */
static void quoted(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c;

	fputc('"', f);
	for (unsigned n; *s; s += n ? n : 1) {
		n = utf8_read(s, &c);
		if (!n)
			fputs("\\ufffd", f);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", (int)c);
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			fprintf(f, "\\u%04x", c);
		else
			fwrite(s, 1, n, f);
	}
	fputc('"', f);
}

static void start(struct json *j, const char *key)
{
	if (j->some)
		fputs(j->style == JSON_LINE ? ", " : ",", j->f);
	if (j->depth)
		newline(j);
	j->some = true;
	if (!key)
		return;
	if (j->style == JSON_LINE)
		fputs(key, j->f);
	else
		quoted(j->f, key);
	fputs(": ", j->f);
}

static void open_with(struct json *j, const char *key, char c)
{
	start(j, key);
	fputc(c, j->f);
	j->depth++;
	j->some = false;
}

static void close_with(struct json *j, char c)
{
	j->depth--;
	if (j->some)
		newline(j);
	fputc(c, j->f);
	j->some = true;
}

void json_object(struct json *j, const char *key)
{
	open_with(j, key, '{');
}

void json_array(struct json *j, const char *key)
{
	open_with(j, key, '[');
}

void json_object_end(struct json *j)
{
	close_with(j, '}');
}

void json_array_end(struct json *j)
{
	close_with(j, ']');
}

void json_text(struct json *j, const char *key, const char *s)
{
	start(j, key);
	quoted(j->f, s);
}

void json_word(struct json *j, const char *key, const char *s)
{
	start(j, key);
	if (j->style == JSON_LINE)
		fputs(s, j->f);
	else
		quoted(j->f, s);
}

void json_bytes(struct json *j, const char *key, const void *p, size_t n)
{
	const uint8_t *at = p;

	start(j, key);
	fputs(j->style == JSON_LINE ? "0x" : "\"0x", j->f);
	for (size_t i = 0; i < n; i++)
		fprintf(j->f, "%02x", at[i]);
	if (j->style != JSON_LINE)
		fputc('"', j->f);
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	start(j, key);
	fprintf(j->f, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	start(j, key);
	fprintf(j->f, "%" PRId64, v);
}

void json_real(struct json *j, const char *key, double v)
{
	start(j, key);
	if (isfinite(v))
		fprintf(j->f, "%.10g", v);
	else
		fputs("null", j->f);
}

void json_bool(struct json *j, const char *key, bool v)
{
	start(j, key);
	fputs(v ? "true" : "false", j->f);
}

void json_null(struct json *j, const char *key)
{
	start(j, key);
	fputs("null", j->f);
}
