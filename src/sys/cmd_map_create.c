/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "btf/btf.h"
#include "map/map.h"
#include "sys/cmd.h"
#include "sys/fd.h"

#ifndef BPF_F_VTYPE_BTF_OBJ_FD
#define BPF_F_VTYPE_BTF_OBJ_FD (1U << 15)
#endif
#ifndef BPF_F_TOKEN_FD
#define BPF_F_TOKEN_FD (1U << 16)
#endif

enum { TYPE_ARENA = 33 };

static bool node_is_online(uint32_t node)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
	return node == 0 || access(path, F_OK) == 0;
}

/* What bpf(2) refuses before it looks at the type. */
static int attr_check(const struct attr_map_create *a)
{
	if (a->map_flags & BPF_F_TOKEN_FD)
		return token_error(a->map_token_fd);
	if (a->map_flags & BPF_F_VTYPE_BTF_OBJ_FD)
		return -EINVAL; /* there is no module BTF */
	if (a->btf_vmlinux_value_type_id)
		return a->map_type != BPF_MAP_TYPE_STRUCT_OPS || a->btf_key_type_id ||
			       a->btf_value_type_id
			   ? -EINVAL
			   : -E_NOTSUPP;
	if (a->btf_key_type_id && !a->btf_value_type_id)
		return -EINVAL;
	if (a->map_type != BPF_MAP_TYPE_BLOOM_FILTER && a->map_type != TYPE_ARENA && a->map_extra)
		return -EINVAL;
	if (flags_mode(a->map_flags) < 0 || a->map_ifindex)
		return -EINVAL;
	if ((a->map_flags & BPF_F_NUMA_NODE) && !node_is_online(a->numa_node))
		return -EINVAL;
	return 0;
}

static bool is_map_of_maps(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY_OF_MAPS || type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* The map behind inner_map_fd as a model. */
static int inner_get(const struct attr_map_create *a, struct obj **out)
{
	uint32_t type;
	int err;

	*out = NULL;
	if (!is_map_of_maps(a->map_type))
		return 0;
	err = fd_get((int)a->inner_map_fd, OBJ_MAP, out);
	if (err)
		return err;
	type = map_of(*out)->desc.type;
	if (!is_map_of_maps(type) && type != BPF_MAP_TYPE_PROG_ARRAY)
		return 0;
	obj_put(*out);
	*out = NULL;
	return is_map_of_maps(type) ? -EINVAL : -E_NOTSUPP;
}

/* A map that has no key type in BTF: only .data-like arrays and Bloom filters may. */
static int keyless_check(const struct map_desc *d, const struct btf_obj *b)
{
	const struct btf_type *value = btf_obj_type(b, d->btf_value_id);

	if (d->type == BPF_MAP_TYPE_BLOOM_FILTER)
		return 0;
	if (d->type != BPF_MAP_TYPE_ARRAY || d->max_entries != 1)
		return -EINVAL;
	return value && btf_kind(value) == BTF_KIND_DATASEC ? 0 : -EINVAL;
}

/* What some types ask of their key's type. */
static int key_kind_check(const struct map_desc *d, const struct btf_obj *b)
{
	const struct btf_type *key = btf_obj_type(b, btf_obj_base(b, d->btf_key_id));
	uint32_t bits;

	switch (d->type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		if (btf_kind(key) != BTF_KIND_INT)
			return -EINVAL;
		bits = *(const uint32_t *)(key + 1);
		return BTF_INT_BITS(bits) == 32 && BTF_INT_OFFSET(bits) == 0 ? 0 : -EINVAL;
	case BPF_MAP_TYPE_LPM_TRIE:
		return btf_kind(key) == BTF_KIND_STRUCT ? 0 : -EINVAL;
	}
	return 0;
}

/* Types that the kernel takes no BTF for. */
static bool takes_no_btf(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_STACK_TRACE:
	case BPF_MAP_TYPE_CGROUP_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
	case BPF_MAP_TYPE_XSKMAP:
		return true;
	}
	return false;
}

/* Types with an opinion of their own on the key's type; for all others it must be there. */
static bool asks_for_key(uint32_t type)
{
	return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       type == BPF_MAP_TYPE_LPM_TRIE || type == BPF_MAP_TYPE_BLOOM_FILTER ||
	       takes_no_btf(type);
}

static int sizes_check(const struct map_desc *d, const struct btf_obj *b)
{
	uint32_t size;

	if (d->btf_key_id && (!btf_obj_size(b, d->btf_key_id, &size) || size != d->key_size))
		return -EINVAL;
	if (!btf_obj_size(b, d->btf_value_id, &size) || size != d->value_size)
		return -EINVAL;
	return 0;
}

static bool may_have_lock(uint32_t type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_ARRAY ||
	       type == BPF_MAP_TYPE_CGROUP_STORAGE || type == BPF_MAP_TYPE_SK_STORAGE;
}

static bool may_have_timer(uint32_t type)
{
	return type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_LRU_HASH ||
	       type == BPF_MAP_TYPE_ARRAY;
}

static int special_check(const struct map_desc *d, const struct btf_special *s)
{
	if (s->spin_lock != BTF_NO_OFFSET && !may_have_lock(d->type))
		return -EOPNOTSUPP;
	if ((s->timer != BTF_NO_OFFSET || s->workqueue != BTF_NO_OFFSET) &&
	    !may_have_timer(d->type))
		return -EOPNOTSUPP;
	return s->kptr ? -EOPNOTSUPP : 0;
}

static const struct btf_special none_special = { BTF_NO_OFFSET, BTF_NO_OFFSET, BTF_NO_OFFSET,
						 false };

/* The types of key and value against the map that they describe; *special is where the value has
 * fields that updates leave alone. */
static int btf_check(const struct map_desc *d, const struct btf_obj *b, struct btf_special *special)
{
	int err = sizes_check(d, b);

	*special = none_special;
	if (err || !d->btf_value_id)
		return err;
	if (!d->btf_key_id && !asks_for_key(d->type))
		return -EINVAL;
	err = btf_obj_special(b, d->btf_value_id, special);
	if (!err)
		err = special_check(d, special);
	if (!err && takes_no_btf(d->type))
		err = -E_NOTSUPP;
	if (err)
		return err;
	return d->btf_key_id ? key_kind_check(d, b) : keyless_check(d, b);
}

static int btf_get(const struct attr_map_create *a, struct obj **out)
{
	*out = NULL;
	if (!a->btf_key_type_id && !a->btf_value_type_id)
		return 0;
	return fd_get((int)a->btf_fd, OBJ_BTF, out);
}

static struct map_desc desc_of(const struct attr_map_create *a, const struct obj *btf,
			       struct obj *inner)
{
	struct map_desc d = {
		.type = a->map_type,
		.key_size = a->key_size,
		.value_size = a->value_size,
		.max_entries = a->max_entries,
		.flags = a->map_flags,
		.extra = a->map_extra,
		.inner = inner ? &map_of(inner)->desc : NULL,
		.btf_id = btf ? btf->id : 0,
		.btf_key_id = btf ? a->btf_key_type_id : 0,
		.btf_value_id = btf ? a->btf_value_type_id : 0,
	};

	memcpy(d.name, a->map_name, sizeof(d.name));
	return d;
}

/* Makes the map and gives it to the registry with its BTF, whose reference it uses up. */
static int map_make(const struct attr_map_create *a, struct obj *inner, struct obj *btf)
{
	const struct map_desc d = desc_of(a, btf, inner);
	struct map *m = NULL;
	struct btf_special special = none_special;
	int err = map_create(&d, &m);

	if (!err)
		err = name_check(a->map_name);
	if (!err && btf)
		err = btf_check(&d, btf_obj_of(btf), &special);
	if (err) {
		if (m)
			obj_put(&m->obj);
		obj_put(btf);
		return err;
	}
	m->desc.spin_lock_off = special.spin_lock;
	m->desc.timer_off = special.timer;
	m->desc.work_off = special.workqueue;
	return fd_publish(&m->obj, m->fd, btf);
}

int cmd_map_create(union attr *attr, const struct call *call)
{
	const struct attr_map_create *a = &attr->map_create;
	struct obj *inner = NULL, *btf = NULL;
	int err = attr_check(a);

	if (!err)
		err = inner_get(a, &inner);
	if (!err)
		err = btf_get(a, &btf);
	if (!err)
		err = map_make(a, inner, btf);
	obj_put(inner);
	return err;
}
