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

static void quoted(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
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
