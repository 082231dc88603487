/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/mem.h"

enum { NESTED_MAX = 32, TEXT_MAX = 256 };

/* A type at a place in a value. Bit fields: `bits` of them from `bit` on, in p's bytes. */
struct place {
	const struct btf *btf;
	uint32_t id;
	const uint8_t *p;
	uint32_t bits, bit;
	unsigned depth;
};

const struct btf_type *value_skip(const struct btf *btf, uint32_t *id, bool *is_be)
{
	const struct btf_type *t = btf__type_by_id(btf, *id);

	for (unsigned i = 0; t && i < NESTED_MAX; i++) {
		const char *name = btf__name_by_offset(btf, t->name_off);

		if (btf_is_typedef(t) && name && strncmp(name, "__be", 4) == 0)
			*is_be = true;
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return t;
		*id = t->type;
		t = btf__type_by_id(btf, *id);
	}
	return NULL;
}

uint64_t value_load(const void *p, uint32_t size, bool is_signed, bool is_be)
{
	uint64_t v = 0;

	if (size > sizeof(v))
		return 0;
	for (uint32_t i = 0; i < size; i++)
		v |= (uint64_t)((const uint8_t *)p)[is_be ? size - 1 - i : i] << 8 * i;
	if (is_signed && size && size < 8)
		v = (uint64_t)((int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size));
	return v;
}

void value_store(void *p, uint32_t size, uint64_t v, bool is_be)
{
	for (uint32_t i = 0; i < size; i++)
		((uint8_t *)p)[is_be ? size - 1 - i : i] = i < 8 ? (uint8_t)(v >> 8 * i) : 0;
}

enum special value_special(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	if (!btf_is_struct(t) || !name)
		return SPECIAL_NONE;
	if (t->size == 4 && strcmp(name, "in_addr") == 0)
		return SPECIAL_IN_ADDR;
	if (t->size == 16 && strcmp(name, "in6_addr") == 0)
		return SPECIAL_IN6_ADDR;
	return SPECIAL_NONE;
}

static uint64_t load_bits(const struct place *at, bool is_signed)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < at->bits && i < 64; i++) {
		uint32_t b = at->bit + i;

		v |= (uint64_t)(at->p[b / 8] >> b % 8 & 1) << i;
	}
	if (is_signed && at->bits && at->bits < 64)
		v = (uint64_t)((int64_t)(v << (64 - at->bits)) >> (64 - at->bits));
	return v;
}

static uint64_t load(const struct place *at, uint32_t size, bool is_signed, bool is_be)
{
	return at->bits ? load_bits(at, is_signed) : value_load(at->p, size, is_signed, is_be);
}

static void print(struct json *j, const char *key, const struct place *at);

static void print_int(struct json *j, const char *key, const struct place *at,
		      const struct btf_type *t, bool is_be)
{
	bool is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	uint64_t v;

	if (t->size > 8) {
		json_bytes(j, key, at->p, t->size);
		return;
	}
	v = load(at, t->size, is_signed, is_be);
	if (btf_int_encoding(t) & BTF_INT_BOOL && v <= 1)
		json_bool(j, key, v);
	else if (is_signed)
		json_i64(j, key, (int64_t)v);
	else
		json_u64(j, key, v);
}

static void print_enum(struct json *j, const char *key, const struct place *at,
		       const struct btf_type *t)
{
	bool is_signed = btf_kflag(t);
	uint64_t v = load(at, t->size, is_signed, false);
	const char *name = NULL;

	for (uint32_t i = 0; i < btf_vlen(t) && !name; i++) {
		if (btf_is_enum64(t)) {
			const struct btf_enum64 *e = btf_enum64(t) + i;

			if (btf_enum64_value(e) == v)
				name = btf__name_by_offset(at->btf, e->name_off);
		} else {
			const struct btf_enum *e = btf_enum(t) + i;

			if ((uint32_t)e->val == (uint32_t)v)
				name = btf__name_by_offset(at->btf, e->name_off);
		}
	}
	if (name)
		json_word(j, key, name);
	else if (is_signed)
		json_i64(j, key, (int64_t)v);
	else
		json_u64(j, key, v);
}

static bool is_text(const uint8_t *p, uint32_t n)
{
	const uint8_t *end = memchr(p, 0, n);

	if (!end || end == p || n > TEXT_MAX)
		return false;
	for (const uint8_t *c = p; c < end; c++)
		if (!isprint(*c))
			return false;
	for (const uint8_t *c = end; c < p + n; c++)
		if (*c)
			return false;
	return true;
}

/* Bytes: as text when they are char and readable, in hexadecimal otherwise. */
static void print_bytes(struct json *j, const char *key, const struct place *at,
			const struct btf_type *element, uint32_t n)
{
	const char *name = btf__name_by_offset(at->btf, element->name_off);

	if (name && strcmp(name, "char") == 0 && is_text(at->p, n))
		json_text(j, key, (const char *)at->p);
	else
		json_bytes(j, key, at->p, n);
}

static void print_array(struct json *j, const char *key, const struct place *at,
			const struct btf_type *t)
{
	const struct btf_array *a = btf_array(t);
	uint32_t id = a->type;
	bool is_be = false;
	const struct btf_type *element = value_skip(at->btf, &id, &is_be);
	int64_t size = btf__resolve_size(at->btf, a->type);

	if (element && btf_is_int(element) && size == 1 && a->nelems &&
	    !(btf_int_encoding(element) & BTF_INT_BOOL)) {
		print_bytes(j, key, at, element, a->nelems);
		return;
	}
	json_array(j, key);
	for (uint32_t i = 0; i < a->nelems && size > 0; i++)
		print(j, NULL,
		      &(struct place){ .btf = at->btf,
				       .id = a->type,
				       .p = at->p + i * (uint64_t)size,
				       .depth = at->depth + 1 });
	json_array_end(j);
}

static struct place member_place(const struct place *at, const struct btf_type *t, uint32_t i)
{
	uint32_t bits = btf_member_bitfield_size(t, i), offset = btf_member_bit_offset(t, i);

	return (struct place){ .btf = at->btf,
			       .id = btf_members(t)[i].type,
			       .p = at->p + (bits ? 0 : offset / 8),
			       .bits = bits,
			       .bit = bits ? offset : 0,
			       .depth = at->depth + 1 };
}

static bool is_zero(const struct place *m)
{
	int64_t size = btf__resolve_size(m->btf, m->id);

	if (m->bits)
		return load_bits(m, false) == 0;
	for (int64_t i = 0; i < size; i++)
		if (m->p[i])
			return false;
	return true;
}

/* Members of a struct or union, for people only those that are not zero; those of an unnamed one
 * belong to the one around it. */
static void print_members(struct json *j, const struct place *at, const struct btf_type *t)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(at->btf, btf_members(t)[i].name_off);
		struct place m = member_place(at, t, i);
		bool is_be = false;
		const struct btf_type *inner;

		if (j->style == JSON_LINE && is_zero(&m))
			continue;
		if (name && *name) {
			print(j, name, &m);
			continue;
		}
		inner = value_skip(m.btf, &m.id, &is_be);
		if (inner && btf_is_composite(inner) && m.depth < NESTED_MAX)
			print_members(j, &m, inner);
	}
}

static void print_struct(struct json *j, const char *key, const struct place *at,
			 const struct btf_type *t)
{
	enum special special = value_special(at->btf, t);
	char text[INET6_ADDRSTRLEN];

	if (special) {
		inet_ntop(special == SPECIAL_IN_ADDR ? AF_INET : AF_INET6, at->p, text,
			  sizeof(text));
		json_word(j, key, text);
		return;
	}
	json_object(j, key);
	print_members(j, at, t);
	json_object_end(j);
}

/* Variables of a section (.data, .bss) as an object by their names. */
static void print_section(struct json *j, const char *key, const struct place *at,
			  const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	json_object(j, key);
	for (uint32_t i = 0; i < btf_vlen(t); i++, v++) {
		const struct btf_type *var = btf__type_by_id(at->btf, v->type);

		if (!var || !btf_is_var(var))
			continue;
		print(j, btf__name_by_offset(at->btf, var->name_off),
		      &(struct place){ .btf = at->btf,
				       .id = var->type,
				       .p = at->p + v->offset,
				       .depth = at->depth + 1 });
	}
	json_object_end(j);
}

static void print_float(struct json *j, const char *key, const struct place *at, uint32_t size)
{
	float f;
	double d;

	if (size == sizeof(f)) {
		memcpy(&f, at->p, sizeof(f));
		json_real(j, key, f);
	} else if (size == sizeof(d)) {
		memcpy(&d, at->p, sizeof(d));
		json_real(j, key, d);
	} else {
		json_bytes(j, key, at->p, size);
	}
}

static void print(struct json *j, const char *key, const struct place *at)
{
	struct place here = *at;
	bool is_be = false;
	const struct btf_type *t = value_skip(here.btf, &here.id, &is_be);
	int kind = t && here.depth < NESTED_MAX ? btf_kind(t) : BTF_KIND_UNKN;

	if (kind == BTF_KIND_INT)
		print_int(j, key, &here, t, is_be);
	else if (kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64)
		print_enum(j, key, &here, t);
	else if (kind == BTF_KIND_ARRAY)
		print_array(j, key, &here, t);
	else if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION)
		print_struct(j, key, &here, t);
	else if (kind == BTF_KIND_DATASEC)
		print_section(j, key, &here, t);
	else if (kind == BTF_KIND_PTR)
		json_u64(j, key, value_load(here.p, 8, false, false));
	else if (kind == BTF_KIND_FLOAT)
		print_float(j, key, &here, t->size);
	else
		json_null(j, key);
}

void value_print(struct json *j, const char *key, const struct value_type *t, const void *p)
{
	if (t->btf && t->id)
		print(j, key, &(struct place){ .btf = t->btf, .id = t->id, .p = p });
	else if (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8)
		json_u64(j, key, value_load(p, t->size, false, false));
	else
		json_bytes(j, key, p, t->size);
}

static bool add(const struct place *at, uint8_t *sum);

static bool add_members(const struct place *at, const struct btf_type *t, uint8_t *sum)
{
	if (value_special(at->btf, t))
		return false;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		struct place m = member_place(at, t, i);

		if (m.bits || !add(&m, sum + (m.p - at->p)))
			return false;
	}
	return true;
}

static bool add_elements(const struct place *at, const struct btf_type *t, uint8_t *sum)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(at->btf, a->type);

	for (uint32_t i = 0; i < a->nelems; i++)
		if (size <= 0 || !add(&(struct place){ .btf = at->btf,
						       .id = a->type,
						       .p = at->p + i * (uint64_t)size,
						       .depth = at->depth + 1 },
				      sum + i * (uint64_t)size))
			return false;
	return true;
}

static bool add(const struct place *at, uint8_t *sum)
{
	struct place here = *at;
	bool is_be = false;
	const struct btf_type *t = value_skip(here.btf, &here.id, &is_be);

	if (!t || here.depth >= NESTED_MAX)
		return false;
	if (btf_is_struct(t))
		return add_members(&here, t, sum);
	if (btf_is_array(t))
		return add_elements(&here, t, sum);
	if (!btf_is_int(t) || t->size > 8 || is_be)
		return false;
	value_store(sum, t->size,
		    value_load(sum, t->size, false, false) +
			value_load(here.p, t->size, false, false),
		    false);
	return true;
}

bool value_add(const struct value_type *t, void *sum, const void *p)
{
	if (t->btf && t->id)
		return add(&(struct place){ .btf = t->btf, .id = t->id, .p = p }, sum);
	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return false;
	value_store(sum, t->size,
		    value_load(sum, t->size, false, false) + value_load(p, t->size, false, false),
		    false);
	return true;
}
