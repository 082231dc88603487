/* SPDX-License-Identifier: BSD-2-Clause */
/* OBJ_GET_INFO_BY_FD. Programs have a file of their own (info_prog.c). */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "btf/btf.h"
#include "map/map.h"
#include "sys/cmd.h"
#include "sys/fd.h"
#include "sys/info.h"

int info_read(const struct attr_info *a, void *info, uint32_t size, uint32_t *len)
{
	int err;

	*len = a->info_len < size ? a->info_len : size;
	err = a->info_len > size ? user_zero(a->info + size, a->info_len - size) : 0;
	if (err)
		return err;
	memset(info, 0, size);
	return user_read(info, a->info, *len);
}

int info_write(const struct attr_info *a, const struct call *call, const void *info, uint32_t len)
{
	int err = user_write(a->info, info, len);

	return err ? err : ATTR_RESULT(call, info.info_len, len);
}

static int info_map(const struct attr_info *a, const struct call *call, const struct map *m)
{
	struct bpf_map_info info;
	uint32_t len;
	int err = info_read(a, &info, sizeof(info), &len);

	if (err)
		return err;
	memset(&info, 0, sizeof(info));
	info.type = m->desc.type;
	info.id = m->desc.id;
	info.key_size = m->desc.key_size;
	info.value_size = m->desc.value_size;
	info.max_entries = m->desc.max_entries;
	info.map_flags = m->desc.flags;
	info.map_extra = m->desc.extra;
	memcpy(info.name, m->desc.name, sizeof(info.name));
	info.btf_id = m->desc.btf_id;
	info.btf_key_type_id = m->desc.btf_key_id;
	info.btf_value_type_id = m->desc.btf_value_id;
	return info_write(a, call, &info, len);
}

/* A BTF object has no name: the client's buffer, if any, receives an empty string. */
static int btf_name(const struct bpf_btf_info *info)
{
	if (!info->name != !info->name_len)
		return -EINVAL;
	return info->name ? user_write(info->name, "", 1) : 0;
}

static int info_btf(const struct attr_info *a, const struct call *call, const struct btf_obj *b)
{
	struct bpf_btf_info info;
	uint32_t len, n;
	int err = info_read(a, &info, sizeof(info), &len);

	if (err)
		return err;
	n = info.btf_size < b->size ? info.btf_size : b->size;
	err = user_write(info.btf, b->data, n);
	if (!err)
		err = btf_name(&info);
	if (err)
		return err;
	info.id = b->obj.id;
	info.btf_size = b->size;
	info.name_len = 0;
	info.kernel_btf = 0;
	return info_write(a, call, &info, len);
}

int cmd_info(union attr *attr, const struct call *call)
{
	const struct attr_info *a = &attr->info;
	struct obj *o = NULL;
	int err = fd_get((int)a->bpf_fd, 0, &o);

	if (err)
		return err == -EBADF ? -EBADFD : err;
	err = -EINVAL;
	if (o->kind == OBJ_PROG)
		err = info_prog(a, call, prog_of(o));
	else if (o->kind == OBJ_MAP)
		err = info_map(a, call, map_of(o));
	else if (o->kind == OBJ_BTF)
		err = info_btf(a, call, btf_obj_of(o));
	obj_put(o);
	return err;
}
