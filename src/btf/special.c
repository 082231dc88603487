/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of map values with a meaning of their own, found by the names of their types: locks and
 * timers right in the value, kernel pointers also further in. */
#include <errno.h>
#include <string.h>

#include "btf/btf.h"
#include "btf/impl.h"

enum { NESTING_MAX = 4 };

static bool type_is(const struct btf_obj *b, const struct btf_type *t, const char *name,
		    uint32_t size)
{
	return btf_kind(t) == BTF_KIND_STRUCT && t->size == size &&
	       !strcmp(btf_obj_string(b, t->name_off), name);
}

/* A second one is an error, a misaligned one is not looked at. */
static int found(uint32_t *where, uint32_t off, uint32_t align)
{
	if (*where != BTF_NO_OFFSET)
		return -E2BIG;
	if (off % align == 0)
		*where = off;
	return 0;
}

static bool is_graph(const char *name)
{
	static const char *const names[] = { "bpf_list_head", "bpf_list_node", "bpf_rb_root",
					     "bpf_rb_node", "bpf_refcount" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* A pointer whose type tag says that the kernel counts what it points to. */
static bool is_kptr(const struct btf_obj *b, const struct btf_type *t)
{
	const struct btf_type *tag = btf_kind(t) == BTF_KIND_PTR ? btf_obj_type(b, t->type) : NULL;
	const char *name;

	if (!tag || btf_kind(tag) != BTF_KIND_TYPE_TAG)
		return false;
	name = btf_obj_string(b, tag->name_off);
	return !strcmp(name, "kptr") || !strcmp(name, "kptr_untrusted") ||
	       !strcmp(name, "percpu_kptr");
}

struct search {
	struct btf_special *found;
	bool locks_only;
};

static int field(const struct btf_obj *b, uint32_t id, uint32_t off, unsigned depth,
		 const struct search *s);

static int members(const struct btf_obj *b, const struct btf_type *t, uint32_t off, unsigned depth,
		   const struct search *s)
{
	const struct btf_member *m = (const void *)(t + 1);
	bool kflag = BTF_INFO_KFLAG(t->info);
	int err = 0;

	for (unsigned i = 0; i < btf_vlen_of(t) && !err; i++) {
		uint32_t bit = kflag ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;

		err = field(b, m[i].type, off + bit / 8, depth + 1, s);
	}
	return err;
}

static int field(const struct btf_obj *b, uint32_t id, uint32_t off, unsigned depth,
		 const struct search *s)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));
	struct btf_special *to = s->found;

	if (depth <= 1 && type_is(b, t, "bpf_spin_lock", 4))
		return found(&to->spin_lock, off, 4);
	if (depth <= 1 && !s->locks_only && type_is(b, t, "bpf_timer", 16))
		return found(&to->timer, off, 8);
	if (depth <= 1 && !s->locks_only && type_is(b, t, "bpf_wq", 16))
		return found(&to->workqueue, off, 8);
	if (is_kptr(b, t) ||
	    (btf_kind(t) == BTF_KIND_STRUCT && is_graph(btf_obj_string(b, t->name_off))))
		to->kptr = true;
	if (btf_kind(t) == BTF_KIND_STRUCT && depth < NESTING_MAX)
		return members(b, t, off, depth, s);
	return 0;
}

static int variables(const struct btf_obj *b, const struct btf_type *t, const struct search *s)
{
	const struct btf_var_secinfo *v = (const void *)(t + 1);
	int err = 0;

	for (unsigned i = 0; i < btf_vlen_of(t) && !err; i++)
		err = field(b, btf_obj_type(b, v[i].type)->type, v[i].offset, 1, s);
	return err;
}

static const struct btf_special none = { BTF_NO_OFFSET, BTF_NO_OFFSET, BTF_NO_OFFSET, false };

int btf_obj_special(const struct btf_obj *b, uint32_t id, struct btf_special *out)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));
	const struct search s = { out, false };

	*out = none;
	if (btf_kind(t) == BTF_KIND_DATASEC)
		return variables(b, t, &s);
	return btf_kind(t) == BTF_KIND_STRUCT ? members(b, t, 0, 0, &s) : 0;
}

static bool has_lock(const struct btf_obj *b, const struct btf_type *t)
{
	const struct btf_member *m = (const void *)(t + 1);

	for (unsigned i = 0; i < btf_vlen_of(t); i++) {
		if (type_is(b, btf_obj_type(b, m[i].type), "bpf_spin_lock", 4))
			return true;
	}
	return false;
}

int btf_obj_locks(const struct btf_obj *b)
{
	int err = 0;

	for (uint32_t i = 1; i < b->n_types && !err; i++) {
		struct btf_special found = none;
		const struct search s = { &found, true };

		if (btf_kind(b->types[i]) == BTF_KIND_STRUCT && has_lock(b, b->types[i]))
			err = members(b, b->types[i], 0, 0, &s);
	}
	return err;
}
