/* SPDX-License-Identifier: BSD-2-Clause */
/* What lies at an offset of a kernel structure. */
#include "verify/ver.h"
#include "verify/walk.h"

#include <string.h>

static bool is_composite(const struct btf_type *t)
{
	return t && (btf_kind(t) == BTF_KIND_STRUCT || btf_kind(t) == BTF_KIND_UNION);
}

/* One of a single member is none: so contexts pad their pointers. */
static bool is_union(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_UNION && btf_vlen_of(t) > 1;
}

bool walk_is_struct(const struct btf_obj *b, uint32_t id)
{
	return is_composite(btf_obj_type(b, btf_obj_base(b, id)));
}

/* What the pointer type `ptr` points to, and the tags in between. */
uint32_t walk_target(const struct btf_obj *b, const struct btf_type *ptr, unsigned *tags)
{
	uint32_t id = ptr->type;

	*tags = 0;
	for (const struct btf_type *t = btf_obj_type(b, id); t && btf_kind(t) == BTF_KIND_TYPE_TAG;
	     t = btf_obj_type(b, id)) {
		const char *name = btf_obj_string(b, t->name_off);

		*tags |= !strcmp(name, "user")	   ? WALK_USER
			 : !strcmp(name, "percpu") ? WALK_PERCPU
			 : !strcmp(name, "rcu")	   ? WALK_RCU
						   : 0;
		id = t->type;
	}
	return btf_obj_base(b, id);
}

struct member {
	uint32_t off, size; /* bytes */
	uint32_t bits;	    /* of a bit field, 0: none */
	uint32_t bit;	    /* offset */
	const struct btf_type *type;
	const char *name;
};

static struct member member_at(const struct btf_obj *b, const struct btf_type *t, unsigned i)
{
	const struct btf_member *m = (const struct btf_member *)(t + 1) + i;
	bool kflag = BTF_INFO_KFLAG(t->info);
	struct member r = { .bit = kflag ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset,
			    .bits = kflag ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0,
			    .type = btf_obj_type(b, btf_obj_base(b, m->type)),
			    .name = btf_obj_string(b, m->name_off) };

	r.off = r.bit / 8;
	btf_obj_size(b, m->type, &r.size);
	return r;
}

/* The type of one element of an array of any number of dimensions. */
static uint32_t element(const struct btf_obj *b, const struct btf_type *t)
{
	uint32_t id = 0;

	while (t && btf_kind(t) == BTF_KIND_ARRAY) {
		id = btf_obj_base(b, ((const struct btf_array *)(t + 1))->type);
		t = btf_obj_type(b, id);
	}
	return id;
}

/* The end of a structure is an array of any length: into one of its elements. 0: it is not. */
static uint32_t flexible(const struct btf_obj *b, const struct btf_type *t, uint32_t *off)
{
	unsigned n = btf_vlen_of(t);
	struct member m;
	uint32_t id, size;

	if (!n)
		return 0;
	m = member_at(b, t, n - 1);
	if (btf_kind(m.type) != BTF_KIND_ARRAY || m.size || *off < m.off)
		return 0;
	id = element(b, m.type);
	if (!btf_obj_size(b, id, &size) || !size)
		return 0;
	*off = (*off - m.off) % size;
	return id;
}

static int beyond(struct ver *v, const struct btf_type *t, uint32_t off, uint32_t size)
{
	return fail(v, -EACCES, "access beyond struct %s at off %u size %u",
		    btf_obj_string(v->in->kernel, t->name_off), off, size);
}

static int pointer_member(struct ver *v, const struct btf_type *t, const struct member *m,
			  uint32_t off, uint32_t size, struct walk *w)
{
	const struct btf_obj *b = v->in->kernel;

	if (size != 8 || off != m->off)
		return fail(v, -EACCES,
			    "cannot access ptr member %s with moff %u in struct %s with off %u "
			    "size %u",
			    m->name, m->off, btf_obj_string(b, t->name_off), off, size);
	w->id = walk_target(b, m->type, &w->tags);
	if (!walk_is_struct(b, w->id))
		w->id = 0;
	w->field = m->name;
	return 0;
}

static int scalar_member(struct ver *v, const struct btf_type *t, const struct member *m,
			 uint32_t off, uint32_t size, const struct walk *w)
{
	/* In a union another member may be longer; it is a number then. */
	if (w->unions || off + size <= m->off + m->size)
		return 0;
	return fail(v, -EACCES,
		    "access beyond the end of member %s (mend:%u) in struct %s with off %u size %u",
		    m->name, m->off + m->size, btf_obj_string(v->in->kernel, t->name_off), off,
		    size);
}

/* Is the access to this bit field, and to all of it? */
static bool bits_inside(const struct member *m, uint32_t off, uint32_t size)
{
	return off <= m->off && (m->bit + m->bits + 7) / 8 <= off + size;
}

/* One structure. 1: go on in w->id at *off. */
static int walk_step(struct ver *v, const struct btf_type *t, uint32_t *off, uint32_t size,
		     struct walk *w)
{
	const struct btf_obj *b = v->in->kernel;

	for (unsigned i = 0; i < btf_vlen_of(t); i++) {
		struct member m = member_at(b, t, i);
		const struct btf_type *inner = m.type;
		uint32_t each = m.size;

		if (m.bits) {
			if (bits_inside(&m, *off, size))
				return 0;
			continue;
		}
		if (*off < m.off)
			break;
		if (*off >= m.off + m.size)
			continue;
		w->id = 0;
		if (btf_kind(inner) == BTF_KIND_ARRAY) {
			inner = btf_obj_type(b, element(b, inner));
			btf_obj_size(b, element(b, m.type), &each);
		}
		if (is_composite(inner)) {
			w->unions |= is_union(inner);
			w->inner = inner;
			*off = each ? (*off - m.off) % each : 0;
			return 1;
		}
		if (btf_kind(m.type) == BTF_KIND_PTR)
			return pointer_member(v, t, &m, *off, size, w);
		return scalar_member(v, t, &m, *off, size, w);
	}
	return fail(v, -EINVAL, "struct %s doesn't have field at offset %u",
		    btf_obj_string(b, t->name_off), *off);
}

/* [off, off + size) of structure `id`. 0 with what is there in w, or -errno with a message. */
int walk_struct(struct ver *v, uint32_t id, uint32_t off, uint32_t size, struct walk *w)
{
	const struct btf_type *t = btf_obj_type(v->in->kernel, id);
	int r = 1;

	*w = (struct walk){ .unions = is_union(t) };
	while (r == 1) {
		if (off + size > t->size) {
			id = flexible(v->in->kernel, t, &off);
			if (!id)
				return beyond(v, t, off, size);
			t = btf_obj_type(v->in->kernel, id);
			if (!is_composite(t))
				return 0;
			continue;
		}
		r = walk_step(v, t, &off, size, w);
		t = w->inner;
	}
	return r;
}

/* Does a structure of type `id` begin, at off, with one of type `want`? */
bool walk_begins_with(const struct btf_obj *b, uint32_t id, uint32_t off, uint32_t want)
{
	for (unsigned depth = 0; depth < 32; depth++) {
		const struct btf_type *t = btf_obj_type(b, id);
		uint32_t next = 0;

		if (id == want && !off)
			return true;
		for (unsigned i = 0; is_composite(t) && i < btf_vlen_of(t) && !next; i++) {
			const struct btf_member *raw = (const struct btf_member *)(t + 1) + i;
			struct member m = member_at(b, t, i);

			if (m.bits || off < m.off || off >= m.off + m.size)
				continue;
			off -= m.off;
			next = btf_obj_base(b, raw->type);
		}
		if (!next || !walk_is_struct(b, next))
			return false;
		id = next;
	}
	return false;
}

/* A structure by name, 0: there is none. */
uint32_t walk_find(const struct btf_obj *b, const char *name)
{
	for (uint32_t id = 1; id < b->n_types; id++) {
		const struct btf_type *t = btf_obj_type(b, id);

		if (btf_kind(t) == BTF_KIND_STRUCT && !strcmp(btf_obj_string(b, t->name_off), name))
			return id;
	}
	return 0;
}
