/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Element commands. Keys and values stay in the caller's memory: a look-up copies once, from the
 * map to where the caller wants it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "map/map.h"
#include "run/prog.h"
#include "sys/cmd.h"
#include "sys/elem.h"
#include "sys/fd.h"

enum { PAGE_0 = 4096 };

static int map_get(uint32_t fd, bool read, bool write, struct map **out)
{
	struct obj *o = NULL;
	int err = fd_get_for((int)fd, OBJ_MAP, read, write, &o);

	if (!err)
		*out = map_of(o);
	return err;
}

/* A key as the kernel takes it: there is one exactly when the map has keys. */
static int key_check(const struct map *m, uint64_t key)
{
	if (m->desc.key_size)
		return key < PAGE_0 ? -EFAULT : 0;
	return key ? -EINVAL : 0;
}

static int lock_check(const struct map *m, uint64_t flags)
{
	return (flags & BPF_F_LOCK) && m->desc.spin_lock_off == UINT32_MAX ? -EINVAL : 0;
}

static void *user_ptr(uint64_t p)
{
	return (void *)(uintptr_t)p;
}

typedef int (*value_out)(struct map *m, const void *key, void *value, uint64_t flags);

/* op, for a value that cannot be written: what it would have said, else -EFAULT. */
static int out_nowhere(value_out op, struct map *m, const void *key, uint64_t flags)
{
	void *scratch = mem_zalloc(map_user_value_size(m) + m->desc.key_size, 1);
	int err = scratch ? op(m, key, scratch, flags) : -ENOMEM;

	mem_free(scratch);
	return err ? err : -EFAULT;
}

static int next_of(struct map *m, const void *key, void *next, uint64_t flags)
{
	return map_next_key(m, key, next);
}

static int elem_out(value_out op, struct map *m, const struct attr_elem *a)
{
	int err = lock_check(m, a->flags);

	if (!err)
		err = key_check(m, a->key);
	if (err)
		return err;
	if (a->value < PAGE_0)
		return out_nowhere(op, m, user_ptr(a->key), a->flags);
	return op(m, user_ptr(a->key), user_ptr(a->value), a->flags);
}

int cmd_map_lookup(union attr *attr, const struct call *call)
{
	struct map *m;
	int err;

	if (attr->elem.flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = map_get(attr->elem.map_fd, true, false, &m);
	if (err)
		return err;
	err = elem_out(map_lookup, m, &attr->elem);
	obj_put(&m->obj);
	return err;
}

static bool map_gives_up_elements(const struct map *m)
{
	switch (m->desc.type) {
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
		return true;
	}
	return false;
}

static int lookup_delete(struct map *m, const struct attr_elem *a)
{
	bool queue = m->desc.type == BPF_MAP_TYPE_QUEUE || m->desc.type == BPF_MAP_TYPE_STACK;

	if (queue && a->flags)
		return -EINVAL;
	if (!map_gives_up_elements(m))
		return m->desc.key_size && a->key < PAGE_0 ? -EFAULT : -E_NOTSUPP;
	return elem_out(map_lookup_erase, m, a);
}

int cmd_map_lookup_delete(union attr *attr, const struct call *call)
{
	struct map *m;
	int err;

	if (attr->elem.flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = map_get(attr->elem.map_fd, true, true, &m);
	if (err)
		return err;
	err = lookup_delete(m, &attr->elem);
	obj_put(&m->obj);
	return err;
}

/* Values that are descriptors of programs, maps or perf rings. */
static int update_obj(struct map *m, const void *key, int fd, uint64_t flags)
{
	struct obj *o = NULL;
	int err = fd_get(fd, m->type->obj_kind, &o);
	const void *target = o;

	if (err)
		return err;
	if (o->kind == OBJ_PROG) {
		target = &prog_of(o)->callee;
		err = prog_fits_array(prog_of(o), m);
	} else if (o->kind == OBJ_MAP) {
		target = map_of(o);
	}
	if (!err)
		err = map_update_obj(m, key, o, target, flags);
	obj_put(o);
	return err;
}

int elem_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	int fd;

	if (!m->type->obj_kind)
		return map_update(m, key, value, flags);
	memcpy(&fd, value, sizeof(fd));
	return update_obj(m, key, fd, flags);
}

int cmd_map_update(union attr *attr, const struct call *call)
{
	const struct attr_elem *a = &attr->elem;
	struct map *m;
	int err = map_get(a->map_fd, false, true, &m);

	if (err)
		return err;
	if (m->desc.frozen)
		err = -EPERM;
	if (!err)
		err = lock_check(m, a->flags);
	if (!err)
		err = key_check(m, a->key);
	if (!err && a->value < PAGE_0)
		err = -EFAULT;
	if (!err)
		err = elem_update(m, user_ptr(a->key), user_ptr(a->value), a->flags);
	obj_put(&m->obj);
	return err;
}

int cmd_map_delete(union attr *attr, const struct call *call)
{
	struct map *m;
	int err = map_get(attr->elem.map_fd, false, true, &m);

	if (err)
		return err;
	err = m->desc.frozen ? -EPERM : key_check(m, attr->elem.key);
	if (!err)
		err = map_erase(m, user_ptr(attr->elem.key));
	obj_put(&m->obj);
	return err;
}

int cmd_map_next_key(union attr *attr, const struct call *call)
{
	const struct attr_elem *a = &attr->elem;
	struct map *m;
	int err = map_get(a->map_fd, true, false, &m);

	if (err)
		return err;
	if (a->key)
		err = key_check(m, a->key);
	if (!err)
		err = a->value < PAGE_0 ? out_nowhere(next_of, m, user_ptr(a->key), 0)
					: map_next_key(m, user_ptr(a->key), user_ptr(a->value));
	obj_put(&m->obj);
	return err;
}

int cmd_map_freeze(union attr *attr, const struct call *call)
{
	struct map *m;
	int err = map_get(attr->elem.map_fd, false, true, &m);

	if (err)
		return err;
	err = m->desc.frozen ? -EPERM : map_freeze(m);
	obj_put(&m->obj);
	return err;
}
