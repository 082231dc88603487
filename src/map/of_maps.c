/* SPDX-License-Identifier: BSD-2-Clause */
/* ARRAY_OF_MAPS and HASH_OF_MAPS: programs look up maps, user space sees their ids. */
#include "map/hash.h"
#include "map/obj_array.h"
#include "map/types.h"
#include "map/value.h"

/* Maps of maps of maps do not exist; a PROG_ARRAY belongs to one type of programs. */
static int inner_check(const struct map_desc *inner)
{
	if (!inner || inner->inner)
		return -EINVAL;
	return inner->type == BPF_MAP_TYPE_PROG_ARRAY ? -ENOTSUPP : 0;
}

static int array_of_maps_check(const struct map_desc *d)
{
	int err = obj_array_check(d);

	return err ? err : inner_check(d->inner);
}

static int hash_of_maps_check(const struct map_desc *d)
{
	int err = d->value_size != sizeof(uint32_t) ? -EINVAL : hash_check(d);

	return err ? err : inner_check(d->inner);
}

static int array_of_maps_update(struct map *m, const void *key, struct obj *obj, const void *target,
				uint64_t flags)
{
	if (flags != BPF_ANY)
		return -EINVAL;
	if (key_index(key) >= m->desc.max_entries)
		return -E2BIG;
	if (!map_like(m->desc.inner, &map_of(obj)->desc))
		return -EINVAL;
	return obj_array_update(m, key, obj, target, flags);
}

static void *array_of_maps_lookup(struct map *m, const void *key)
{
	return (void *)obj_array_at(m, key_index(key));
}

static int array_of_maps_create(struct map *m)
{
	int err = obj_array_create(m);

	m->direct.slots = (uintptr_t)m->tail.slot;
	return err;
}

const struct map_ops array_of_maps_ops = {
	.slots = true,
	.check = array_of_maps_check,
	.create = array_of_maps_create,
	.destroy = obj_array_destroy,
	.lookup = array_of_maps_lookup,
	.erase = obj_array_erase,
	.user_lookup = obj_array_user_lookup,
	.user_update = op_einval_update,
	.next_key = index_next_key,
	.update_obj = array_of_maps_update,
};

static void put_inner(const struct hash *h, uint32_t id, const void *src, bool fresh)
{
	const struct inner_ref *r = src;

	words_store(cell_value(h, cell_at(h, id)), &r->map->obj.id, sizeof(uint32_t));
	h->inner[id].defer = r->defer;
	__atomic_store_n(&h->inner[id].map, r->map, __ATOMIC_RELEASE);
}

static int hash_of_maps_update(struct map *m, const void *key, struct obj *obj, const void *target,
			       uint64_t flags)
{
	struct inner_ref ref = { map_of(obj), NULL };
	int err;

	if (flags > BPF_EXIST || !map_like(m->desc.inner, &ref.map->desc))
		return -EINVAL;
	ref.defer = defer_new();
	if (!ref.defer)
		return -ENOMEM;
	obj_get(obj);
	err = hash_put(m->priv, key, &ref, flags, put_inner, false);
	if (err) {
		obj_put(obj);
		defer_free(ref.defer);
	}
	return err;
}

static void *hash_of_maps_lookup(struct map *m, const void *key)
{
	const struct hash *h = m->priv;
	uint32_t id = hash_find(h, key);

	return id == NONE ? NULL : __atomic_load_n(&h->inner[id].map, __ATOMIC_ACQUIRE);
}

DIRECT(lookup, hash_of_maps_lookup_direct, hash_of_maps_lookup)
DIRECT(erase, hash_erase_direct, hash_erase)

const struct map_ops hash_of_maps_ops = {
	.priv_size = sizeof(struct hash),
	.direct = { .lookup = DIRECT_FN(hash_of_maps_lookup_direct),
		    .erase = DIRECT_FN(hash_erase_direct) },
	.check = hash_of_maps_check,
	.create = hash_create,
	.destroy = hash_destroy,
	.lookup = hash_of_maps_lookup,
	.erase = hash_erase,
	.user_lookup = hash_user_lookup,
	.user_update = op_einval_update,
	.next_key = hash_next_key,
	.bucket = hash_bucket,
	.update_obj = hash_of_maps_update,
};
