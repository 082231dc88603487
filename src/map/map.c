/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/map.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/percpu.h"
#include "map/impl.h"
#include "map/obj_array.h"
#include "map/types.h"
#include "map/value.h"

#define MAP_ROW(type_, name_, ops_, kind_, percpu_, no_key_, flags_, batch_)                       \
	{ .type = BPF_MAP_TYPE_##type_,                                                            \
	  .name = name_,                                                                           \
	  .ops = &ops_,                                                                            \
	  .obj_kind = kind_,                                                                       \
	  .percpu = percpu_,                                                                       \
	  .no_key = no_key_,                                                                       \
	  .flags = flags_,                                                                         \
	  .batch = batch_ },

static const struct map_type types[] = {
#include "map/map.def"
};

const struct map_type *map_type_find(uint32_t type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

static int desc_check(const struct map_type *t, const struct map_desc *d)
{
	const uint32_t rw = BPF_F_RDONLY | BPF_F_WRONLY;
	const uint32_t rw_prog = BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG;

	if (!t || d->flags & ~t->flags || (d->flags & rw) == rw || (d->flags & rw_prog) == rw_prog)
		return -EINVAL;
	if (t->no_key && d->key_size)
		return -EINVAL;
	if (d->extra && d->type != BPF_MAP_TYPE_BLOOM_FILTER)
		return -EINVAL;
	return t->ops->check ? t->ops->check(d) : 0;
}

_Static_assert(sizeof(struct map) <= TAIL_SLOTS_OFFSET && sizeof(struct map) <= MAP_PRIV_OFFSET,
	       "slots and private state lie behind the map");

/* Slots of arrays of objects and private state of a fixed size are part of the map. */
static size_t map_size(const struct map_type *t, const struct map_desc *d)
{
	if (t->ops->slots)
		return TAIL_SLOTS_OFFSET + (size_t)d->max_entries * sizeof(void *);
	return t->ops->priv_size ? MAP_PRIV_OFFSET + t->ops->priv_size : sizeof(struct map);
}

static void map_free(struct obj *o)
{
	struct map *m = map_of(o);

	if (m->ops->destroy)
		m->ops->destroy(m);
	if (m->mem)
		near_give(m->mem, m->mem_size);
	if (m->fd >= 0)
		close(m->fd);
	if (m->wake_fd >= 0)
		close(m->wake_fd);
	mem_free((void *)m->desc.inner);
	near_free(m, map_size(m->type, &m->desc));
}

/* The map owns a copy of the inner map's description. */
static int inner_copy(struct map *m)
{
	const struct map_desc *inner = m->desc.inner;

	if (!inner)
		return 0;
	m->desc.inner = mem_dup(inner, sizeof(*inner));
	if (!m->desc.inner)
		return -ENOMEM;
	((struct map_desc *)m->desc.inner)->direct = NULL;
	return 0;
}

int map_create(const struct map_desc *d, struct map **out)
{
	const struct map_type *t = map_type_find(d->type);
	int err = desc_check(t, d);
	struct map *m;

	if (err)
		return err;
	err = percpu_init();
	if (err)
		return err;
	m = near_zalloc(map_size(t, d));
	if (!m)
		return -ENOMEM;
	obj_init(&m->obj, OBJ_MAP, map_free);
	m->desc = *d;
	m->desc.frozen = 0;
	m->desc.direct = &m->direct;
	m->direct = t->ops->direct;
	m->type = t;
	m->ops = t->ops;
	m->fd = m->wake_fd = -1;
	m->desc.spin_lock_off = m->desc.timer_off = m->desc.work_off = UINT32_MAX;
	err = inner_copy(m);
	if (!err)
		err = t->ops->create(m);
	if (err) {
		obj_put(&m->obj);
		return err;
	}
	*out = m;
	return 0;
}

bool map_like(const struct map_desc *meta, const struct map_desc *inner)
{
	return meta->type == inner->type && meta->key_size == inner->key_size &&
	       meta->value_size == inner->value_size && meta->flags == inner->flags &&
	       meta->spin_lock_off == inner->spin_lock_off && meta->timer_off == inner->timer_off &&
	       meta->work_off == inner->work_off &&
	       (meta->type != BPF_MAP_TYPE_ARRAY || meta->flags & BPF_F_INNER_MAP ||
		meta->max_entries == inner->max_entries);
}

size_t map_user_value_size(const struct map *m)
{
	if (m->type->percpu)
		return round8(m->desc.value_size) * percpu_slots();
	return m->type->obj_kind ? sizeof(uint32_t) : m->desc.value_size;
}

static bool may_read(const struct map *m)
{
	return !(m->desc.flags & BPF_F_WRONLY);
}

static bool may_write(const struct map *m)
{
	return !(m->desc.flags & BPF_F_RDONLY) && !m->desc.frozen;
}

/* Flags of a look-up: at most BPF_F_LOCK, and that only where there is a lock. */
static int flags_check(const struct map *m, uint64_t flags)
{
	return flags & BPF_F_LOCK && !value_has_lock(m) ? -EINVAL : 0;
}

static int value_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	void *at = m->ops->lookup ? m->ops->lookup(m, key) : NULL;

	if (!at)
		return -ENOENT;
	value_read(m, value, at, flags);
	return 0;
}

int map_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	if (!may_read(m))
		return -EPERM;
	if (flags_check(m, flags))
		return -EINVAL;
	if (m->ops->user_lookup)
		return m->ops->user_lookup(m, key, value, flags);
	return value_lookup(m, key, value, flags);
}

int map_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	if (!may_write(m))
		return -EPERM;
	if (flags_check(m, flags))
		return -EINVAL;
	if (m->ops->user_update)
		return m->ops->user_update(m, key, value, flags);
	if (m->ops->update)
		return m->ops->update(m, key, value, flags);
	return m->ops->push ? m->ops->push(m, value, flags) : -EINVAL;
}

int map_update_obj(struct map *m, const void *key, struct obj *obj, const void *target,
		   uint64_t flags)
{
	if (!may_write(m))
		return -EPERM;
	if (flags_check(m, flags) || !m->ops->update_obj)
		return -EINVAL;
	return m->ops->update_obj(m, key, obj, target, flags);
}

int map_erase(struct map *m, const void *key)
{
	if (!may_write(m))
		return -EPERM;
	return m->ops->erase ? m->ops->erase(m, key) : -EINVAL;
}

int map_lookup_erase(struct map *m, const void *key, void *value, uint64_t flags)
{
	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	if (!may_read(m) || !may_write(m))
		return -EPERM;
	if (m->type->no_key && flags)
		return -EINVAL;
	if (flags_check(m, flags))
		return -EINVAL;
	return m->ops->user_lookup_erase ? m->ops->user_lookup_erase(m, key, value, flags)
					 : -ENOTSUPP;
}

int map_next_key(struct map *m, const void *key, void *next)
{
	if (!may_read(m))
		return -EPERM;
	return m->ops->next_key ? m->ops->next_key(m, key, next) : -ENOTSUPP;
}

int map_freeze(struct map *m)
{
	if (value_special(m))
		return -ENOTSUPP;
	if (m->desc.flags & BPF_F_RDONLY)
		return -EPERM;
	if (__atomic_exchange_n(&m->desc.frozen, 1, __ATOMIC_SEQ_CST))
		return -EBUSY;
	return 0;
}

int op_einval_erase(struct map *m, const void *key)
{
	return -EINVAL;
}

int op_einval_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return -EINVAL;
}

int op_einval_next(struct map *m, const void *key, void *next)
{
	return -EINVAL;
}

int op_enotsupp_lookup(struct map *m, const void *key, void *value, uint64_t flags)
{
	return -ENOTSUPP;
}

int op_enotsupp_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	return -ENOTSUPP;
}

int op_enotsupp_erase(struct map *m, const void *key)
{
	return -ENOTSUPP;
}

int op_enotsupp_next(struct map *m, const void *key, void *next)
{
	return -ENOTSUPP;
}
