/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of map values with a meaning of their own, found by the names of their types. */
#include <errno.h>
#include <string.h>

#include "btf/btf.h"

enum { NESTING_MAX = 4 };

static bool type_is(const struct btf_obj *b, const struct btf_type *t, const char *name,
		    uint32_t size)
{
	return btf_kind(t) == BTF_KIND_STRUCT && t->size == size &&
	       !strcmp(btf_obj_string(b, t->name_off), name);
}

static int found(uint32_t *where, uint32_t off, uint32_t align)
{
	if (off % align)
		return -EINVAL;
	if (*where != BTF_NO_OFFSET)
		return -E2BIG;
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

static int field(const struct btf_obj *b, uint32_t id, uint32_t off, unsigned depth,
		 struct btf_special *s);

static int members(const struct btf_obj *b, const struct btf_type *t, uint32_t off, unsigned depth,
		   struct btf_special *s)
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
		 struct btf_special *s)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));

	if (type_is(b, t, "bpf_spin_lock", 4))
		return found(&s->spin_lock, off, 4);
	if (type_is(b, t, "bpf_timer", 16))
		return found(&s->timer, off, 8);
	if (type_is(b, t, "bpf_wq", 16))
		return found(&s->workqueue, off, 8);
	if (is_kptr(b, t) ||
	    (btf_kind(t) == BTF_KIND_STRUCT && is_graph(btf_obj_string(b, t->name_off))))
		s->kptr = true;
	if (btf_kind(t) == BTF_KIND_STRUCT && depth < NESTING_MAX)
		return members(b, t, off, depth, s);
	return 0;
}

static int variables(const struct btf_obj *b, const struct btf_type *t, struct btf_special *s)
{
	const struct btf_var_secinfo *v = (const void *)(t + 1);
	int err = 0;

	for (unsigned i = 0; i < btf_vlen_of(t) && !err; i++)
		err = field(b, btf_obj_type(b, v[i].type)->type, v[i].offset, 1, s);
	return err;
}

int btf_obj_special(const struct btf_obj *b, uint32_t id, struct btf_special *out)
{
	const struct btf_type *t = btf_obj_type(b, btf_obj_base(b, id));

	*out = (struct btf_special){ BTF_NO_OFFSET, BTF_NO_OFFSET, BTF_NO_OFFSET, false };
	if (btf_kind(t) == BTF_KIND_DATASEC)
		return variables(b, t, out);
	return btf_kind(t) == BTF_KIND_STRUCT ? members(b, t, 0, 0, out) : 0;
}
