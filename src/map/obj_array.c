/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/obj_array.h"

#include "base/mem.h"
#include "map/lock.h"

struct obj_ref {
	struct obj *obj;
	struct defer *defer; /* for giving the reference back */
};

struct obj_array {
	uint32_t lock; /* of all below */
	uint32_t used; /* elements that refer to something */
	uint32_t end;  /* all used ones lie before it */
	struct obj_ref ref[];
};

/* The access flags for programs make no sense here: they never see the value. */
int obj_array_check(const struct map_desc *d)
{
	int err = array_check(d);

	if (err || d->value_size != sizeof(uint32_t))
		return err ? err : -EINVAL;
	return d->flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG) ? -EINVAL : 0;
}

int obj_array_create(struct map *m)
{
	size_t n = m->desc.max_entries;
	struct obj_array *a;
	int err = map_mem_new(m, 1, n * (sizeof(struct obj_ref) + sizeof(void *)));

	if (err)
		return err;
	a = mem_zalloc(1, sizeof(*a) + n * sizeof(*a->ref));
	if (!a)
		return -ENOMEM;
	m->priv = a;
	m->tail.n = m->desc.max_entries;
	m->tail.slot = (const struct callee **)((uint8_t *)m + TAIL_SLOTS_OFFSET);
	return 0;
}

void obj_array_destroy(struct map *m)
{
	struct obj_array *a = m->priv;

	for (uint32_t i = a ? a->end : 0; i-- && a->used;) {
		if (!a->ref[i].obj)
			continue;
		obj_put(a->ref[i].obj);
		defer_free(a->ref[i].defer);
		a->used--;
	}
	mem_free(a);
}

const void *obj_array_at(const struct map *m, uint32_t i)
{
	return i < m->tail.n ? __atomic_load_n(&m->tail.slot[i], __ATOMIC_ACQUIRE) : NULL;
}

/* Element i becomes `ref`; the one that it was. */
static int ref_swap(struct map *m, uint32_t i, struct obj_ref ref, const void *target,
		    struct obj_ref *old)
{
	struct obj_array *a = m->priv;
	int err = lock_enter();

	if (err)
		return err;
	lock_take(&a->lock);
	*old = a->ref[i];
	a->ref[i] = ref;
	a->used += !!ref.obj - !!old->obj;
	if (ref.obj && i >= a->end)
		a->end = i + 1;
	__atomic_store_n(&m->tail.slot[i], target, __ATOMIC_RELEASE);
	lock_drop(&a->lock);
	lock_leave();
	return 0;
}

int obj_array_update(struct map *m, const void *key, struct obj *obj, const void *target,
		     uint64_t flags)
{
	uint32_t i = key_index(key);
	struct obj_ref ref, old;
	int err;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (i >= m->desc.max_entries)
		return -E2BIG;
	ref.defer = defer_new();
	if (!ref.defer)
		return -ENOMEM;
	ref.obj = obj_get(obj);
	err = ref_swap(m, i, ref, target, &old);
	if (err) {
		obj_put(obj);
		defer_free(ref.defer);
	} else if (old.obj) {
		defer_put(old.defer, old.obj);
	}
	return err;
}

int obj_array_erase(struct map *m, const void *key)
{
	uint32_t i = key_index(key);
	struct obj_ref none = { 0 }, old;
	int err;

	if (i >= m->desc.max_entries)
		return -E2BIG;
	err = ref_swap(m, i, none, NULL, &old);
	if (err || !old.obj)
		return err ? err : -ENOENT;
	defer_put(old.defer, old.obj);
	return 0;
}

/* What is not used is not looked at: the array may have 2^32 elements and most of its memory may
 * never have been touched. */
void map_drop_refs(struct map *m)
{
	const struct obj_array *a = m->priv;

	for (uint32_t i = __atomic_load_n(&a->end, __ATOMIC_ACQUIRE);
	     i-- && __atomic_load_n(&a->used, __ATOMIC_RELAXED);)
		if (obj_array_at(m, i))
			obj_array_erase(m, &i);
}

/* User space sees the object's id. */
int obj_array_user_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	struct obj_array *a = m->priv;
	uint32_t i = key_index(key), id = 0;
	int err;

	if (i >= m->desc.max_entries)
		return -ENOENT;
	err = lock_enter();
	if (err)
		return err;
	lock_take(&a->lock);
	if (a->ref[i].obj)
		id = a->ref[i].obj->id;
	else
		err = -ENOENT;
	lock_drop(&a->lock);
	lock_leave();
	if (!err)
		memcpy(value, &id, sizeof(id));
	return err;
}
