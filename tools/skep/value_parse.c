/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"
#include "skep/value.h"

enum { NESTED_MAX = 16, LEAVES_MAX = 4096, NAME_MAX_LEN = 128 };

/* What one item of the text fills. */
struct leaf {
	char name[NAME_MAX_LEN]; /* "a.b", "a[2]" */
	const struct btf_type *type;
	uint32_t offset, size; /* bytes */
	uint32_t bits, bit;    /* of a bit field */
	bool is_be;
};

struct leaves {
	const struct btf *btf;
	VEC(struct leaf) list;
	int err;
};

struct at {
	const char *name;
	uint32_t id, offset;
	uint32_t bits, bit;
	unsigned depth;
};

static void collect(struct leaves *l, const struct at *at);

static void collect_members(struct leaves *l, const struct at *at, const struct btf_type *t)
{
	char name[NAME_MAX_LEN];

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *own = btf__name_by_offset(l->btf, m->name_off);
		uint32_t bits = btf_member_bitfield_size(t, i), bit = btf_member_bit_offset(t, i);

		snprintf(name, sizeof(name), "%s%s%s", at->name, *at->name && *own ? "." : "", own);
		collect(l, &(struct at){ .name = name,
					 .id = m->type,
					 .offset = at->offset + (bits ? 0 : bit / 8),
					 .bits = bits,
					 .bit = bits ? bit : 0,
					 .depth = at->depth + 1 });
		if (btf_is_union(t))
			return; /* text in order fills a union's first member */
	}
}

static void collect_elements(struct leaves *l, const struct at *at, const struct btf_type *t)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(l->btf, a->type);
	char name[NAME_MAX_LEN];

	for (uint32_t i = 0; i < a->nelems && size > 0 && l->list.n < LEAVES_MAX; i++) {
		snprintf(name, sizeof(name), "%s[%u]", at->name, i);
		collect(l, &(struct at){ .name = name,
					 .id = a->type,
					 .offset = at->offset + i * (uint32_t)size,
					 .depth = at->depth + 1 });
	}
}

static bool is_bytes(const struct btf *btf, const struct btf_type *t)
{
	uint32_t id;
	bool is_be;
	const struct btf_type *element;

	if (!btf_is_array(t))
		return false;
	id = btf_array(t)->type;
	element = value_skip(btf, &id, &is_be);
	return element && btf_is_int(element) && element->size == 1;
}

/* The numbers of a type in order. */
static void collect(struct leaves *l, const struct at *at)
{
	uint32_t id = at->id;
	bool is_be = false;
	const struct btf_type *t = value_skip(l->btf, &id, &is_be);
	int64_t size = t ? btf__resolve_size(l->btf, id) : -1;
	struct leaf leaf;

	if (!t || size < 0 || at->depth > NESTED_MAX || l->list.n >= LEAVES_MAX || l->err)
		return;
	if (btf_is_composite(t) && !value_special(l->btf, t)) {
		collect_members(l, at, t);
		return;
	}
	if (btf_is_array(t) && !is_bytes(l->btf, t)) {
		collect_elements(l, at, t);
		return;
	}
	leaf = (struct leaf){ .type = t,
			      .offset = at->offset,
			      .size = (uint32_t)size,
			      .bits = at->bits,
			      .bit = at->bit,
			      .is_be = is_be };
	snprintf(leaf.name, sizeof(leaf.name), "%s", at->name);
	l->err = vec_push(&l->list, leaf);
}

/* "0x" and two digits for each of n bytes, or n pairs with colons between. */
static bool parse_bytes(const char *text, uint32_t n, uint8_t *out)
{
	bool colons = strchr(text, ':') != NULL;
	int used;

	if (!colons) {
		if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * (size_t)n)
			return false;
		text += 2;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!isxdigit((unsigned char)text[0]) ||
		    sscanf(text, "%2hhx%n", &out[i], &used) != 1)
			return false;
		text += used;
		if (colons && i + 1 < n && *text++ != ':')
			return false;
	}
	return !*text;
}

static bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return !errno && end != text && !*end;
}

static bool parse_enumerator(const struct btf *btf, const struct btf_type *t, const char *text,
			     uint64_t *out)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		bool wide = btf_is_enum64(t);
		uint32_t name = wide ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;

		if (strcmp(btf__name_by_offset(btf, name), text) != 0)
			continue;
		*out = wide ? btf_enum64_value(btf_enum64(t) + i)
			    : (uint64_t)(int64_t)btf_enum(t)[i].val;
		return true;
	}
	return false;
}

static bool fits(uint64_t v, uint32_t bits)
{
	int64_t s = (int64_t)v;

	if (bits >= 64)
		return true;
	return v >> bits == 0 || (s < 0 && s >= -(1ll << (bits - 1)));
}

static void store_bits(uint8_t *p, const struct leaf *l, uint64_t v)
{
	for (uint32_t i = 0; i < l->bits; i++) {
		uint32_t b = l->bit + i;

		p[b / 8] = (uint8_t)((p[b / 8] & ~(1u << b % 8)) | (v >> i & 1) << b % 8);
	}
}

static const char *parse_scalar(const struct btf *btf, const struct leaf *l, const char *text,
				uint8_t *out)
{
	bool is_enum = btf_is_any_enum(l->type);
	uint64_t v;

	if (!(is_enum && parse_enumerator(btf, l->type, text, &v)) && !parse_number(text, &v)) {
		if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
			return is_enum ? "a number or an enumerator" : "a number";
		v = *text == 't';
	}
	if (!fits(v, l->bits ? l->bits : 8 * l->size))
		return "a smaller number";
	if (l->bits)
		store_bits(out, l, v);
	else
		value_store(out + l->offset, l->size, v, l->is_be);
	return NULL;
}

/* One item into one leaf. NULL, or what would have been accepted. */
static const char *parse_leaf(const struct btf *btf, const struct leaf *l, const char *text,
			      uint8_t *out)
{
	size_t n = strlen(text);

	switch (value_special(btf, l->type)) {
	case SPECIAL_IN_ADDR:
		return inet_pton(AF_INET, text, out + l->offset) == 1 ? NULL : "an IPv4 address";
	case SPECIAL_IN6_ADDR:
		return inet_pton(AF_INET6, text, out + l->offset) == 1 ? NULL : "an IPv6 address";
	case SPECIAL_NONE:
		break;
	}
	if (!btf_is_array(l->type))
		return parse_scalar(btf, l, text, out);
	if (parse_bytes(text, l->size, out + l->offset))
		return NULL;
	if (strncmp(text, "0x", 2) == 0 || n > l->size)
		return "0x and two digits for each byte, or shorter text";
	memcpy(out + l->offset, text, n);
	return NULL;
}

static int parse_plain(const struct value_type *t, const char *text, const char *what,
		       struct report *r, uint8_t *out)
{
	uint64_t v;

	if (parse_bytes(text, t->size, out))
		return 0;
	if (t->size <= 8 && parse_number(text, &v) && fits(v, 8 * t->size)) {
		value_store(out, t->size, v, false);
		return 0;
	}
	return report_fail(r, -EINVAL,
			   "%s: '%s': no BTF says what this is; expected 0x and %u "
			   "hexadecimal digits%s",
			   what, text, 2 * t->size, t->size <= 8 ? ", or a number" : "");
}

/* The leaf that `name` means: its full name. */
static bool find_leaf(const struct leaves *l, const char *name, size_t n, size_t *at)
{
	for (size_t i = 0; i < l->list.n; i++) {
		if (strlen(l->list.at[i].name) == n && strncmp(l->list.at[i].name, name, n) == 0) {
			*at = i;
			return true;
		}
	}
	return false;
}

/* One item, "text" or "field=text"; *next is the leaf that it goes to unless it names one. */
static int parse_item(const struct leaves *l, char *item, size_t *next, const char *what,
		      struct report *r, uint8_t *out)
{
	char *eq = strchr(item, '=');
	const char *wanted;
	const struct leaf *leaf;

	if (eq && !find_leaf(l, item, (size_t)(eq - item), next))
		return report_fail(r, -EINVAL, "%s: no field '%.*s'; the first is '%s'", what,
				   (int)(eq - item), item, l->list.n ? l->list.at[0].name : "");
	if (*next >= l->list.n)
		return report_fail(r, -EINVAL, "%s: '%s' is one item too many; the type has %zu",
				   what, item, l->list.n);
	leaf = &l->list.at[(*next)++];
	wanted = parse_leaf(l->btf, leaf, eq ? eq + 1 : item, out);
	if (wanted)
		return report_fail(r, -EINVAL, "%s: '%s': expected %s%s%s", what,
				   eq ? eq + 1 : item, wanted, *leaf->name ? " for " : "",
				   leaf->name);
	return 0;
}

static int parse_items(const struct leaves *l, const char *text, const char *what, struct report *r,
		       uint8_t *out)
{
	char *copy = mem_strdup(text), *save = NULL, *item;
	size_t next = 0;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	for (item = strtok_r(copy, ",", &save); item && !err; item = strtok_r(NULL, ",", &save))
		err = parse_item(l, item, &next, what, r, out);
	mem_free(copy);
	return err;
}

int value_parse(const struct value_type *t, const char *text, const char *what, struct report *r,
		void *out)
{
	struct leaves l = { .btf = t->btf };
	int err;

	memset(out, 0, t->size);
	if (!t->btf || !t->id)
		return parse_plain(t, text, what, r, out);
	collect(&l, &(struct at){ .name = "", .id = t->id });
	err = l.err ? l.err : parse_items(&l, text, what, r, out);
	vec_free(&l.list);
	return err;
}
