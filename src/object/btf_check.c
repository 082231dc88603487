/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/btf_check.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/report.h"

struct check {
	const char *path;
	const struct btf *btf;
	uint32_t n;  /* types, void included */
	uint32_t id; /* of the type at hand */
	struct report *r;
};

static int bad(const struct check *c, const char *what)
{
	return report_fail(c->r, -EINVAL,
			   "%s: section .BTF: type %u: %s: corrupt; compile it again with -g",
			   c->path, c->id, what);
}

static bool has_name(const struct check *c, uint32_t off)
{
	return btf__name_by_offset(c->btf, off) != NULL;
}

/* Kind of a type, -1 when there is none. Void is BTF_KIND_UNKN. */
static int kind_of(const struct check *c, uint32_t id)
{
	return id < c->n ? (int)btf_kind(btf__type_by_id(c->btf, id)) : -1;
}

static int check_members(const struct check *c, const struct btf_type *t)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, m++)
		if (!has_name(c, m->name_off) || kind_of(c, m->type) < 0)
			return bad(c, "a member has no type or name");
	return 0;
}

static int check_params(const struct check *c, const struct btf_type *t)
{
	const struct btf_param *p = btf_params(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, p++)
		if (!has_name(c, p->name_off) || kind_of(c, p->type) < 0)
			return bad(c, "a parameter has no type or name");
	return kind_of(c, t->type) < 0 ? bad(c, "no result type") : 0;
}

static int check_enum(const struct check *c, const struct btf_type *t)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint32_t name =
		    btf_is_enum64(t) ? btf_enum64(t)[i].name_off : btf_enum(t)[i].name_off;

		if (!has_name(c, name))
			return bad(c, "an enumerator has no name");
	}
	return 0;
}

static int check_section(const struct check *c, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, v++) {
		int kind = kind_of(c, v->type);

		if (kind != BTF_KIND_VAR && kind != BTF_KIND_FUNC)
			return bad(c, "a section holds what is no variable");
	}
	return 0;
}

static int check_array(const struct check *c, const struct btf_type *t)
{
	const struct btf_array *a = btf_array(t);

	if (kind_of(c, a->type) < 0 || kind_of(c, a->index_type) < 0)
		return bad(c, "an array has no element type");
	return 0;
}

/* A chain of modifiers has at most as many links as there are types, unless it is a circle. */
static int check_reference(const struct check *c, const struct btf_type *t)
{
	for (uint32_t i = 0; btf_is_mod(t) || btf_is_typedef(t); i++) {
		if (i > c->n || kind_of(c, t->type) < 0)
			return bad(c, "leads nowhere");
		t = btf__type_by_id(c->btf, t->type);
	}
	return 0;
}

static int check_type(const struct check *c, const struct btf_type *t)
{
	if (!has_name(c, t->name_off))
		return bad(c, "its name lies outside of the strings");
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return check_members(c, t);
	case BTF_KIND_FUNC_PROTO:
		return check_params(c, t);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return check_enum(c, t);
	case BTF_KIND_DATASEC:
		return check_section(c, t);
	case BTF_KIND_ARRAY:
		return check_array(c, t);
	case BTF_KIND_FUNC:
		return kind_of(c, t->type) == BTF_KIND_FUNC_PROTO ? 0 : bad(c, "no prototype");
	case BTF_KIND_PTR:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return kind_of(c, t->type) < 0 ? bad(c, "leads nowhere") : 0;
	default:
		return check_reference(c, t);
	}
}

int btf_check_file(const char *path, struct report *r)
{
	struct btf *btf = btf__parse_elf(path, NULL);
	struct check c = { .path = path, .btf = btf, .r = r };
	int err = 0;

	if (!btf) /* none, or so broken that libbpf says so itself */
		return 0;
	c.n = btf__type_cnt(btf);
	for (c.id = 1; c.id < c.n && !err; c.id++)
		err = check_type(&c, btf__type_by_id(btf, c.id));
	btf__free(btf);
	return err;
}
