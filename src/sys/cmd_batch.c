/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "map/map.h"
#include "sys/cmd.h"
#include "sys/elem.h"
#include "sys/fd.h"

typedef int (*batch_op)(struct map *m, struct map_batch *b);

static int batch_run(const struct call *call, const struct attr_batch *a, struct map *m,
		     batch_op op)
{
	struct map_batch b = {
		.in_batch = (const void *)(uintptr_t)a->in_batch,
		.out_batch = (void *)(uintptr_t)a->out_batch,
		.keys = (void *)(uintptr_t)a->keys,
		.values = (void *)(uintptr_t)a->values,
		.count = a->count,
		.elem_flags = a->elem_flags,
		.flags = a->flags,
	};
	int err = op(m, &b);

	if (err != -EFAULT && ATTR_RESULT(call, batch.count, b.count))
		return -EFAULT;
	return err;
}

static int batch(union attr *attr, const struct call *call, batch_op op, bool read, bool write)
{
	struct obj *o = NULL;
	int err = fd_get_for((int)attr->batch.map_fd, OBJ_MAP, read, write, &o);

	if (err)
		return err;
	if (write && map_of(o)->desc.frozen)
		err = -EPERM;
	else
		err = batch_run(call, &attr->batch, map_of(o), op);
	obj_put(o);
	return err;
}

/* Values that are descriptors go one by one. */
static int update_objs(struct map *m, struct map_batch *b)
{
	const char *key = b->keys, *value = b->values;
	uint32_t done = 0;
	int err = 0;

	if (b->flags || (b->elem_flags & ~(uint64_t)BPF_F_LOCK))
		return -EINVAL;
	for (; done < b->count && !err; done += !err)
		err = elem_update(m, key + (size_t)done * m->desc.key_size,
				  value + (size_t)done * m->desc.value_size, b->elem_flags);
	b->count = done;
	return err;
}

static int update_any(struct map *m, struct map_batch *b)
{
	return m->type->obj_kind && (m->type->batch & BATCH_UPDATE) ? update_objs(m, b)
								    : map_update_batch(m, b);
}

int cmd_map_lookup_batch(union attr *attr, const struct call *call)
{
	return batch(attr, call, map_lookup_batch, true, false);
}

int cmd_map_lookup_delete_batch(union attr *attr, const struct call *call)
{
	return batch(attr, call, map_lookup_erase_batch, true, true);
}

int cmd_map_update_batch(union attr *attr, const struct call *call)
{
	return batch(attr, call, update_any, false, true);
}

int cmd_map_delete_batch(union attr *attr, const struct call *call)
{
	return batch(attr, call, map_delete_batch, false, true);
}
