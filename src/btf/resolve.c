/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What types say about each other. Two walks find all loops: one along what a value consists of
 * (modifiers, elements, members, variables), which a pointer ends; one along pointers and
 * modifiers, which a struct ends. Each type is done once, so both are linear.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/impl.h"

enum { DEPTH_MAX = 32 };
enum { TODO, DOING, DONE };

struct walk {
	struct btf_obj *b;
	struct report *log;
	uint8_t *state;
};

static int fail(const struct walk *w, uint32_t id, const char *what)
{
	return report_fail(w->log, -EINVAL, "[%u] %s", id, what);
}

static bool is_modifier(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return true;
	}
	return false;
}

/* Kinds that no other type may refer to by value or pointer. */
static bool is_source_only(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_VAR || btf_kind(t) == BTF_KIND_DECL_TAG ||
	       btf_kind(t) == BTF_KIND_DATASEC;
}

static bool has_size(const struct walk *w, uint32_t id)
{
	return w->b->sizes[id] != BTF_NO_SIZE;
}

/* A type that pointers and modifiers may lead to though it has no size. */
static bool sizeless_ok(const struct walk *w, uint32_t id)
{
	uint32_t base = w->b->bases[id];
	unsigned kind = btf_kind(w->b->types[base]);

	return base == 0 || kind == BTF_KIND_FWD || kind == BTF_KIND_FUNC_PROTO;
}

static int value_resolve(struct walk *w, uint32_t id, unsigned depth);

/* A type that `id` needs to be resolved first. */
static int needs(struct walk *w, uint32_t id, uint32_t other, unsigned depth, const char *what)
{
	if (other >= w->b->n_types || is_source_only(w->b->types[other]))
		return fail(w, id, what);
	return value_resolve(w, other, depth + 1);
}

static int modifier_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	uint32_t next = w->b->types[id]->type;
	int err = needs(w, id, next, depth, "Invalid type_id");

	if (err)
		return err;
	if (!has_size(w, next) && !sizeless_ok(w, next))
		return fail(w, id, "Invalid type_id");
	w->b->sizes[id] = w->b->sizes[next];
	w->b->bases[id] = w->b->bases[next];
	return 0;
}

static int var_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	uint32_t next = w->b->types[id]->type;
	int err = needs(w, id, next, depth, "Invalid type_id");

	if (err)
		return err;
	if (!has_size(w, next))
		return fail(w, id, "Invalid type_id");
	w->b->sizes[id] = w->b->sizes[next];
	return 0;
}

/* Whole bytes at offset 0, 1 to 16 of them, a power of two. */
static bool int_is_regular(const struct btf_type *t)
{
	uint32_t data = *(const uint32_t *)(t + 1), bits = BTF_INT_BITS(data);

	return !BTF_INT_OFFSET(data) && bits % 8 == 0 && bits && (bits & (bits - 1)) == 0;
}

static int array_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	const struct btf_array *a = (const void *)(w->b->types[id] + 1);
	const struct btf_type *index, *elem;
	int err = needs(w, id, a->index_type, depth, "Invalid index");

	if (err)
		return err;
	index = w->b->types[w->b->bases[a->index_type]];
	if (btf_kind(index) != BTF_KIND_INT || !int_is_regular(index))
		return fail(w, id, "Invalid index");
	err = needs(w, id, a->type, depth, "Invalid elem");
	if (err)
		return err;
	if (!has_size(w, a->type))
		return fail(w, id, "Invalid elem");
	elem = w->b->types[w->b->bases[a->type]];
	if (btf_kind(elem) == BTF_KIND_INT && !int_is_regular(elem))
		return fail(w, id, "Invalid array of int");
	if (a->nelems && w->b->sizes[a->type] > UINT32_MAX / a->nelems)
		return fail(w, id, "Array size overflows U32_MAX");
	w->b->sizes[id] = w->b->sizes[a->type] * a->nelems;
	return 0;
}

/* Bits of an integer in a struct, which may also be a bit field of fewer; 0: no integer. Enums
 * count as int, whatever their size. */
static uint32_t integer_bits(const struct btf_type *t)
{
	if (btf_kind(t) == BTF_KIND_INT)
		return BTF_INT_BITS(*(const uint32_t *)(t + 1));
	return btf_kind(t) == BTF_KIND_ENUM || btf_kind(t) == BTF_KIND_ENUM64 ? 32 : 0;
}

/* A member of resolved type: it lies in the struct, and only integers have odd bits. */
static int member_check(const struct walk *w, uint32_t id, const struct btf_member *m)
{
	const struct btf_type *s = w->b->types[id], *t = w->b->types[w->b->bases[m->type]];
	bool kflag = BTF_INFO_KFLAG(s->info);
	uint64_t off = kflag ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;
	uint64_t bits = kflag ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;
	bool odd_int = btf_kind(t) == BTF_KIND_INT && !kflag;

	if (bits > integer_bits(t))
		return fail(w, id, "Invalid member bitfield_size");
	if (odd_int)
		off += BTF_INT_OFFSET(*(const uint32_t *)(t + 1));
	else if (!bits && off % 8)
		return fail(w, id, "Member is not byte aligned");
	if (!bits)
		bits = kflag || odd_int ? integer_bits(t) : 0;
	if (!bits)
		bits = w->b->sizes[m->type] * 8;
	if (odd_int && off % 8 + bits > 128)
		return fail(w, id, "nr_copy_bits exceeds 128");
	return (off + bits + 7) / 8 > s->size ? fail(w, id, "Member exceeds struct_size") : 0;
}

static int struct_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	const struct btf_type *t = w->b->types[id];
	const struct btf_member *m = (const void *)(t + 1);
	int err = 0;

	for (unsigned i = 0; i < btf_vlen_of(t) && !err; i++) {
		err = needs(w, id, m[i].type, depth, "Invalid member");
		if (!err && !has_size(w, m[i].type))
			err = fail(w, id, "Invalid member");
		if (!err)
			err = member_check(w, id, &m[i]);
	}
	return err;
}

/* Fills in size and base of a type that refers to none. */
static void plain_resolve(struct walk *w, uint32_t id)
{
	const struct btf_type *t = w->b->types[id];

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FLOAT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
		w->b->sizes[id] = t->size;
		break;
	case BTF_KIND_PTR:
		w->b->sizes[id] = 8;
	}
	w->b->bases[id] = id;
}

static int kind_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	const struct btf_type *t = w->b->types[id];

	if (is_modifier(t))
		return modifier_resolve(w, id, depth);
	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		return array_resolve(w, id, depth);
	case BTF_KIND_VAR:
		return var_resolve(w, id, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return struct_resolve(w, id, depth);
	}
	return 0;
}

static int value_resolve(struct walk *w, uint32_t id, unsigned depth)
{
	int err;

	if (w->state[id] == DONE)
		return 0;
	if (w->state[id] == DOING)
		return report_fail(w->log, -EEXIST, "[%u] Loop detected", id);
	if (depth >= DEPTH_MAX)
		return report_fail(w->log, -E2BIG, "[%u] Exceeded max resolving depth:%u", id,
				   DEPTH_MAX);
	w->state[id] = DOING;
	plain_resolve(w, id);
	err = kind_resolve(w, id, depth);
	w->state[id] = DONE;
	return err;
}

/* A pointer's target exists and has a size, or is void, a function or declared only. */
static int pointer_check(const struct walk *w, uint32_t id)
{
	uint32_t next = w->b->types[id]->type;

	if (next >= w->b->n_types || is_source_only(w->b->types[next]))
		return fail(w, id, "Invalid type_id");
	return has_size(w, next) || sizeless_ok(w, next) ? 0 : fail(w, id, "Invalid type_id");
}

/* No chain of pointers and modifiers comes back to itself. Steps are counted, not marked: a chain
 * without a loop visits each type at most once. */
static int pointer_loops(struct walk *w, uint32_t id)
{
	uint32_t at = id, steps = 0;
	const struct btf_type *t = w->b->types[id];

	while (w->state[at] != DONE && (btf_kind(t) == BTF_KIND_PTR || is_modifier(t))) {
		if (steps++ > w->b->n_types)
			return report_fail(w->log, -EEXIST, "[%u] Loop detected", id);
		at = t->type;
		t = w->b->types[at];
	}
	for (at = id; steps--; at = w->b->types[at]->type)
		w->state[at] = DONE;
	return 0;
}

static int func_check(const struct walk *w, uint32_t id)
{
	const struct btf_type *t = w->b->types[id], *proto = btf_obj_type(w->b, t->type);
	const struct btf_param *p;

	if (!proto || btf_kind(proto) != BTF_KIND_FUNC_PROTO)
		return fail(w, id, "Invalid type_id");
	p = (const void *)(proto + 1);
	for (unsigned i = 0; i < btf_vlen_of(proto); i++) {
		if (!p[i].name_off && p[i].type)
			return report_fail(w->log, -EINVAL, "[%u] Invalid arg#%u", id, i + 1);
	}
	return 0;
}

/* A type that a function takes or returns by value. */
static bool passable(const struct walk *w, uint32_t id)
{
	return id < w->b->n_types && !is_source_only(w->b->types[id]) && has_size(w, id);
}

static int proto_check(const struct walk *w, uint32_t id)
{
	const struct btf_type *t = w->b->types[id];
	const struct btf_param *p = (const void *)(t + 1);
	unsigned n = btf_vlen_of(t);
	bool variadic = n && !p[n - 1].type;

	if (t->type && !passable(w, t->type) &&
	    !(t->type < w->b->n_types && w->b->bases[t->type] == 0))
		return fail(w, id, "Invalid return type");
	if (variadic && p[n - 1].name_off)
		return report_fail(w->log, -EINVAL, "[%u] Invalid arg#%u", id, n);
	for (unsigned i = 0; i < n - variadic; i++) {
		if (!passable(w, p[i].type) || !btf_obj_string_ok(w->b, p[i].name_off) ||
		    (p[i].name_off && !btf_obj_identifier(w->b, p[i].name_off)))
			return report_fail(w->log, -EINVAL, "[%u] Invalid arg#%u", id, i + 1);
	}
	return 0;
}

static int datasec_check(const struct walk *w, uint32_t id)
{
	const struct btf_type *t = w->b->types[id];
	const struct btf_var_secinfo *v = (const void *)(t + 1);

	for (unsigned i = 0; i < btf_vlen_of(t); i++) {
		const struct btf_type *var = btf_obj_type(w->b, v[i].type);

		if (!var || btf_kind(var) != BTF_KIND_VAR)
			return fail(w, id, "Not a VAR kind member");
		if (!has_size(w, v[i].type))
			return fail(w, id, "Invalid type");
		if (v[i].size < w->b->sizes[v[i].type])
			return fail(w, id, "Invalid type size");
	}
	return 0;
}

/* How many components a tag may name in its target; -1: only the whole. -2: no target. */
static int64_t tag_components(const struct walk *w, uint32_t target)
{
	const struct btf_type *t = btf_obj_type(w->b, target);

	if (!t)
		return -2;
	switch (btf_kind(t)) {
	case BTF_KIND_VAR:
	case BTF_KIND_TYPEDEF:
		return -1;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen_of(t);
	case BTF_KIND_FUNC:
		t = btf_obj_type(w->b, t->type);
		return t ? btf_vlen_of(t) : -2;
	}
	return -2;
}

static int tag_check(const struct walk *w, uint32_t id)
{
	const struct btf_type *t = w->b->types[id];
	int32_t component = *(const int32_t *)(t + 1);
	int64_t n = tag_components(w, t->type);

	if (n == -2)
		return fail(w, id, "Invalid type_id");
	return component == -1 || component < n ? 0 : fail(w, id, "Invalid component_idx");
}

/* In a chain of modifiers, type tags come before all others. */
static int tag_order_check(const struct walk *w, uint32_t id)
{
	bool others = false;
	const struct btf_type *t = w->b->types[id];

	for (; is_modifier(t); t = w->b->types[t->type]) {
		if (btf_kind(t) != BTF_KIND_TYPE_TAG)
			others = true;
		else if (others)
			return fail(w, id, "Type tags don't precede modifiers");
	}
	return 0;
}

static int relation_check(struct walk *w, uint32_t id)
{
	int err;

	switch (btf_kind(w->b->types[id])) {
	case BTF_KIND_PTR:
		err = pointer_check(w, id);
		return err ? err : pointer_loops(w, id);
	case BTF_KIND_FUNC:
		return func_check(w, id);
	case BTF_KIND_FUNC_PROTO:
		return proto_check(w, id);
	case BTF_KIND_DATASEC:
		return datasec_check(w, id);
	case BTF_KIND_DECL_TAG:
		return tag_check(w, id);
	}
	return 0;
}

static int walks(struct walk *w)
{
	int err = 0;

	for (uint32_t i = 0; i < w->b->n_types && !err; i++)
		err = value_resolve(w, i, 0);
	memset(w->state, TODO, w->b->n_types);
	for (uint32_t i = 1; i < w->b->n_types && !err; i++)
		err = relation_check(w, i);
	for (uint32_t i = 1; i < w->b->n_types && !err; i++)
		err = tag_order_check(w, i);
	return err;
}

int btf_obj_resolve(struct btf_obj *b, struct report *log)
{
	struct walk w = { b, log, mem_zalloc(b->n_types, 1) };
	int err = -ENOMEM;

	b->sizes = mem_zalloc(b->n_types, sizeof(*b->sizes));
	b->bases = mem_zalloc(b->n_types, sizeof(*b->bases));
	if (w.state && b->sizes && b->bases) {
		memset(b->sizes, 0xff, b->n_types * sizeof(*b->sizes));
		err = walks(&w);
	}
	mem_free(w.state);
	return err;
}
