/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes one JSON value to a file. JSON_LINE is for people: one line, keys without quotes.
 * Every function takes the key in an object, or NULL in an array and at the top.
 */
#ifndef SKEP_TOOL_JSON_H
#define SKEP_TOOL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum json_style { JSON_PRETTY, JSON_LINE };

struct json {
	FILE *f;
	enum json_style style;
	unsigned depth;
	bool some; /* the open object or array has a member */
};

void json_object(struct json *j, const char *key); /* opens one */
void json_array(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array_end(struct json *j);

void json_text(struct json *j, const char *key, const char *s);
void json_bytes(struct json *j, const char *key, const void *p, size_t n); /* "0x…" */
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_real(struct json *j, const char *key, double v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* A name that JSON_LINE prints without quotes (enumerators, addresses). */
void json_word(struct json *j, const char *key, const char *s);

#endif
