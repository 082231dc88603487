/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>

#include "map/map.h"
#include "sys/cmd.h"
#include "sys/fd.h"

static int next_id(const union attr *attr, const struct call *call, enum obj_kind kind)
{
	uint32_t id;

	if (attr->id.id >= INT_MAX)
		return -EINVAL;
	id = fd_next_id(kind, attr->id.id);
	return id ? ATTR_RESULT(call, id.next_id, id) : -ENOENT;
}

int cmd_prog_next_id(union attr *attr, const struct call *call)
{
	return next_id(attr, call, OBJ_PROG);
}

int cmd_map_next_id(union attr *attr, const struct call *call)
{
	return next_id(attr, call, OBJ_MAP);
}

int cmd_btf_next_id(union attr *attr, const struct call *call)
{
	return next_id(attr, call, OBJ_BTF);
}

int cmd_link_next_id(union attr *attr, const struct call *call)
{
	return next_id(attr, call, OBJ_LINK);
}

static int fd_of_id(enum obj_kind kind, uint32_t id, int mode)
{
	struct obj *o = fd_by_id(kind, id);
	int fd = o ? fd_open(o, mode) : -ENOENT;

	obj_put(o);
	return fd;
}

int flags_mode(uint32_t flags)
{
	switch (flags & (BPF_F_RDONLY | BPF_F_WRONLY)) {
	case 0:
		return O_RDWR;
	case BPF_F_RDONLY:
		return O_RDONLY;
	case BPF_F_WRONLY:
		return O_WRONLY;
	}
	return -EINVAL;
}

int cmd_prog_fd_by_id(union attr *attr, const struct call *call)
{
	return fd_of_id(OBJ_PROG, attr->id.id, O_RDWR);
}

int cmd_map_fd_by_id(union attr *attr, const struct call *call)
{
	int mode = flags_mode(attr->id.open_flags);

	if ((attr->id.open_flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY)) || mode < 0)
		return -EINVAL;
	return fd_of_id(OBJ_MAP, attr->id.id, mode);
}

int cmd_btf_fd_by_id(union attr *attr, const struct call *call)
{
	return fd_of_id(OBJ_BTF, attr->id.id, O_RDWR);
}

int cmd_link_fd_by_id(union attr *attr, const struct call *call)
{
	return fd_of_id(OBJ_LINK, attr->id.id, O_RDWR);
}
