/* SPDX-License-Identifier: BSD-2-Clause */
/* Each type on its own: sizes, names, and fields that the kind does not have. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"
#include "btf/impl.h"

enum { NAME_ANY, NAME_NONE, NAME_MAY, NAME_MUST, NAME_SECTION, NAME_TEXT };
enum { VLEN_0 = 1, KFLAG = 2, REF = 4 };
enum { INFO_MASK = 0x9f00ffff, INT_MASK = 0x0fffffff, E_NOTSUPP = 524 };

struct meta {
	const struct btf_obj *b;
	const struct btf_type *t;
	uint32_t id;
	struct report *log;
};

static int meta_fail(const struct meta *m, const char *what)
{
	return report_fail(m->log, -EINVAL, "[%u] %s", m->id, what);
}

static bool id_ok(uint32_t id)
{
	return id <= BTF_TYPES_MAX;
}

static int meta_none(const struct meta *m)
{
	return 0;
}

static int meta_int(const struct meta *m)
{
	uint32_t data = *(const uint32_t *)(m->t + 1),
		 bits = BTF_INT_BITS(data) + BTF_INT_OFFSET(data);
	uint32_t encoding = BTF_INT_ENCODING(data);

	if (data & ~(uint32_t)INT_MASK)
		return meta_fail(m, "Invalid int_data");
	if (bits > 128)
		return meta_fail(m, "nr_bits exceeds 128");
	if ((bits + 7) / 8 > m->t->size)
		return meta_fail(m, "nr_bits exceeds type_size");
	if (encoding & (encoding - 1) || encoding > BTF_INT_BOOL)
		return report_fail(m->log, -E_NOTSUPP, "[%u] Unsupported encoding", m->id);
	return 0;
}

static int meta_array(const struct meta *m)
{
	const struct btf_array *a = (const void *)(m->t + 1);

	if (m->t->size)
		return meta_fail(m, "size != 0");
	if (!a->type || !id_ok(a->type))
		return meta_fail(m, "Invalid elem");
	return a->index_type && id_ok(a->index_type) ? 0 : meta_fail(m, "Invalid index");
}

static int meta_struct(const struct meta *m)
{
	const struct btf_member *member = (const void *)(m->t + 1);
	bool kflag = BTF_INFO_KFLAG(m->t->info), is_union = btf_kind(m->t) == BTF_KIND_UNION;
	uint32_t last = 0;

	for (unsigned i = 0; i < btf_vlen_of(m->t); i++, member++) {
		uint32_t off = kflag ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;

		if (!btf_obj_string_ok(m->b, member->name_off))
			return meta_fail(m, "Invalid member name_offset");
		if (member->name_off && !btf_obj_identifier(m->b, member->name_off))
			return meta_fail(m, "Invalid name");
		if (!member->type || !id_ok(member->type))
			return meta_fail(m, "Invalid type_id");
		if ((is_union && off) || last > off)
			return meta_fail(m, "Invalid member bits_offset");
		if (off / 8 + (off % 8 != 0) > m->t->size)
			return meta_fail(m, "Member bits_offset exceeds its struct size");
		last = off;
	}
	return 0;
}

/* Both widths of enum: names come first in each member. */
static int meta_enum(const struct meta *m)
{
	unsigned each = btf_kind(m->t) == BTF_KIND_ENUM ? 8 : 12;
	const char *member = (const char *)(m->t + 1);

	if (m->t->size > 8 || !m->t->size || (m->t->size & (m->t->size - 1)))
		return meta_fail(m, "Unexpected size");
	for (unsigned i = 0; i < btf_vlen_of(m->t); i++, member += each) {
		uint32_t name = *(const uint32_t *)member;

		if (!btf_obj_string_ok(m->b, name))
			return meta_fail(m, "Invalid name_offset");
		if (!btf_obj_identifier(m->b, name))
			return meta_fail(m, "Invalid name");
	}
	return 0;
}

static int meta_fwd(const struct meta *m)
{
	return m->t->type ? meta_fail(m, "type != 0") : 0;
}

static int meta_func(const struct meta *m)
{
	return btf_vlen_of(m->t) > BTF_FUNC_GLOBAL ? meta_fail(m, "Invalid func linkage") : 0;
}

static int meta_var(const struct meta *m)
{
	const struct btf_var *v = (const void *)(m->t + 1);

	if (!m->t->type || !id_ok(m->t->type))
		return meta_fail(m, "Invalid type_id");
	return v->linkage > BTF_VAR_GLOBAL_ALLOCATED ? meta_fail(m, "Linkage not supported") : 0;
}

static int meta_datasec(const struct meta *m)
{
	const struct btf_var_secinfo *v = (const void *)(m->t + 1);
	uint64_t end = 0, sum = 0;

	if (!m->t->size)
		return meta_fail(m, "size == 0");
	for (unsigned i = 0; i < btf_vlen_of(m->t); i++, v++) {
		if (!v->type || !id_ok(v->type))
			return meta_fail(m, "Invalid type_id");
		if (v->offset < end || v->offset >= m->t->size)
			return meta_fail(m, "Invalid offset");
		if (!v->size || v->size > m->t->size)
			return meta_fail(m, "Invalid size");
		end = (uint64_t)v->offset + v->size;
		if (end > m->t->size)
			return meta_fail(m, "Invalid offset+size");
		sum += v->size;
	}
	return m->t->size < sum ? meta_fail(m, "Invalid btf_info size") : 0;
}

static int meta_float(const struct meta *m)
{
	uint32_t size = m->t->size;

	return size == 2 || size == 4 || size == 8 || size == 12 || size == 16
		   ? 0
		   : meta_fail(m, "Invalid type_size");
}

static int meta_decl_tag(const struct meta *m)
{
	int32_t component = *(const int32_t *)(m->t + 1);

	return component < -1 ? meta_fail(m, "Invalid component_idx") : 0;
}

static const struct kind_row {
	uint8_t fixed, each, name, flags;
	int (*check)(const struct meta *m);
} kinds[] = {
#define KIND(id, fixed, each, name, flags, check)                                                  \
	[BTF_KIND_##id] = { fixed, each, name, flags, meta_##check },
#include "btf/kind.def"
};

enum { KIND_MAX = BTF_KIND_ENUM64 };

/* In the kernel's character set, which is Latin-1. */
static bool printable(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || (c > 0x7e && c < 0xa0))
			return false;
	}
	return true;
}

static bool name_ok(const struct meta *m, unsigned rule)
{
	const char *s = btf_obj_string(m->b, m->t->name_off);

	switch (rule) {
	case NAME_NONE:
		return !m->t->name_off;
	case NAME_MAY:
		return !m->t->name_off || btf_obj_identifier(m->b, m->t->name_off);
	case NAME_MUST:
		return btf_obj_identifier(m->b, m->t->name_off);
	case NAME_SECTION:
		return m->t->name_off && *s && printable(s);
	case NAME_TEXT:
		return *s != '\0';
	}
	return true;
}

static int meta_check(const struct meta *m, const struct kind_row *row)
{
	if ((row->flags & VLEN_0) && btf_vlen_of(m->t))
		return meta_fail(m, "vlen != 0");
	if (!(row->flags & KFLAG) && BTF_INFO_KFLAG(m->t->info) &&
	    !(m->b->kernel && row->name == NAME_TEXT))
		return meta_fail(m, "Invalid btf_info kind_flag");
	if (!name_ok(m, row->name))
		return meta_fail(m, row->name == NAME_TEXT ? "Invalid value" : "Invalid name");
	if ((row->flags & REF) && !id_ok(m->t->type))
		return meta_fail(m, "Invalid type_id");
	return row->check(m);
}

/* Checks the type at m->t, of which `left` bytes are there; its length or -errno. */
static int meta_length(const struct meta *m, uint32_t left)
{
	const struct kind_row *row;
	uint32_t need = sizeof(*m->t);
	int err;

	if (left < need)
		goto cut;
	if (m->t->info & ~(uint32_t)INFO_MASK)
		return report_fail(m->log, -EINVAL, "[%u] Invalid btf_info:%x", m->id, m->t->info);
	if (!btf_kind(m->t) || btf_kind(m->t) > KIND_MAX)
		return report_fail(m->log, -EINVAL, "[%u] Invalid kind:%u", m->id, btf_kind(m->t));
	if (!btf_obj_string_ok(m->b, m->t->name_off))
		return report_fail(m->log, -EINVAL, "[%u] Invalid name_offset:%u", m->id,
				   m->t->name_off);
	row = &kinds[btf_kind(m->t)];
	need += row->fixed + row->each * btf_vlen_of(m->t);
	if (left < need)
		goto cut;
	err = meta_check(m, row);
	return err ? err : (int)need;
cut:
	return report_fail(m->log, -EINVAL, "[%u] meta_left:%u meta_needed:%u", m->id, left, need);
}

int btf_obj_metas(struct btf_obj *b, const uint8_t *types, uint32_t len, struct report *log)
{
	static const struct btf_type void_type;
	VEC(const struct btf_type *) list = { 0 };
	struct meta m = { b, &void_type, 0, log };
	int n = 0, err = vec_push(&list, m.t);

	for (uint32_t at = 0; at < len && !err; at += (uint32_t)n) {
		m.t = (const void *)(types + at);
		m.id = (uint32_t)list.n;
		n = meta_length(&m, len - at);
		err = n < 0 ? n : 0;
		if (!err && list.n > BTF_TYPES_MAX)
			err = report_fail(log, -E2BIG, "Exceeded max num of types");
		if (!err)
			err = vec_push(&list, m.t);
	}
	b->types = list.at;
	b->n_types = (uint32_t)list.n;
	return err;
}
