/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching. There is nothing yet that a program could be attached to: each command checks what it
 * was given as the kernel does, and then says EOPNOTSUPP, or what the kernel says when the target
 * does not exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <unistd.h>

#include "run/prog.h"
#include "sys/cmd.h"
#include "sys/fd.h"

enum { NETFILTER = 32, ATTACH_TYPES = 57, QUERY_FLAGS = BPF_F_QUERY_EFFECTIVE };

/* The program type that each attach type takes, by number; 0: decided elsewhere. */
#define T(name) BPF_PROG_TYPE_##name
static const uint8_t takers[ATTACH_TYPES] = {
	T(CGROUP_SKB),
	T(CGROUP_SKB),
	T(CGROUP_SOCK),
	T(SOCK_OPS),
	T(SK_SKB),
	T(SK_SKB),
	T(CGROUP_DEVICE),
	T(SK_MSG),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK),
	T(CGROUP_SOCK),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(LIRC_MODE2),
	T(FLOW_DISSECTOR),
	T(CGROUP_SYSCTL),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCKOPT),
	T(CGROUP_SOCKOPT),
	T(TRACING),
	T(TRACING),
	T(TRACING),
	T(TRACING),
	T(LSM),
	T(TRACING),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(XDP),
	T(CGROUP_SOCK),
	T(XDP),
	T(SK_LOOKUP),
	T(XDP),
	T(SK_SKB),
	0,
	0,
	0,
	T(KPROBE),
	T(LSM),
	T(STRUCT_OPS),
	NETFILTER,
	T(SCHED_CLS),
	T(SCHED_CLS),
	T(KPROBE),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(CGROUP_SOCK_ADDR),
	T(SCHED_CLS),
	T(SCHED_CLS),
	T(KPROBE),
};
#undef T

/* May programs of `type` be attached so? */
static bool attach_takes(uint32_t attach, uint32_t type)
{
	if (attach >= ATTACH_TYPES)
		return false;
	if (attach == BPF_PERF_EVENT)
		return type == BPF_PROG_TYPE_PERF_EVENT || type == BPF_PROG_TYPE_KPROBE ||
		       type == BPF_PROG_TYPE_TRACEPOINT;
	return takers[attach] && takers[attach] == type;
}

/* 0 when fd is a program, else -EBADF or -EINVAL. *type is its type. */
static int prog_type_of(uint32_t fd, uint32_t *type)
{
	struct obj *o = NULL;
	int err = fd_get((int)fd, OBJ_PROG, &o);

	if (!err)
		*type = prog_of(o)->type;
	obj_put(o);
	return err;
}

static int link_check(uint32_t fd)
{
	struct obj *o = NULL;
	int err = fd_get((int)fd, OBJ_LINK, &o);

	obj_put(o);
	return err;
}

int cmd_prog_attach(union attr *attr, const struct call *call)
{
	uint32_t type;
	int err;

	if (attr->attach.attach_type >= ATTACH_TYPES)
		return -EINVAL;
	err = prog_type_of(attr->attach.attach_bpf_fd, &type);
	if (!err && !attach_takes(attr->attach.attach_type, type))
		err = -EINVAL;
	return err ? err : -EOPNOTSUPP;
}

int cmd_prog_detach(union attr *attr, const struct call *call)
{
	return attr->attach.attach_type >= ATTACH_TYPES ? -EINVAL : -EOPNOTSUPP;
}

int cmd_prog_query(union attr *attr, const struct call *call)
{
	if (attr->query.query_flags & ~(uint32_t)QUERY_FLAGS)
		return -EINVAL;
	return attr->query.attach_type >= ATTACH_TYPES ? -EINVAL : -EOPNOTSUPP;
}

/* No tracepoint exists, so a name is never found. */
int cmd_raw_tracepoint(union attr *attr, const struct call *call)
{
	char name[128];
	uint32_t type;
	int err = prog_type_of(attr->raw_tracepoint.prog_fd, &type);

	if (err)
		return err;
	if (type != BPF_PROG_TYPE_RAW_TRACEPOINT && type != BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE)
		return -EINVAL;
	err = user_string(name, attr->raw_tracepoint.name, sizeof(name));
	return err == -EFAULT ? err : -ENOENT;
}

static bool fd_is_open(uint32_t fd)
{
	return fcntl((int)fd, F_GETFD) >= 0;
}

int cmd_link_create(union attr *attr, const struct call *call)
{
	const struct attr_link_create *a = &attr->link_create;
	uint32_t type;
	int err = prog_type_of(a->prog_fd, &type);

	if (err)
		return err;
	if (!attach_takes(a->attach_type, type))
		return -EINVAL;
	if (a->attach_type == BPF_PERF_EVENT && !fd_is_open(a->target_fd))
		return -EBADF;
	return -EOPNOTSUPP;
}

int cmd_link_update(union attr *attr, const struct call *call)
{
	if (attr->link_update.flags & ~(uint32_t)BPF_F_REPLACE)
		return -EINVAL;
	return link_check(attr->link_update.link_fd);
}

int cmd_link_detach(union attr *attr, const struct call *call)
{
	return link_check(attr->link.fd);
}

int cmd_iter_create(union attr *attr, const struct call *call)
{
	return attr->link.flags ? -EINVAL : link_check(attr->link.fd);
}

/* No task has a descriptor with a program attached. */
int cmd_task_fd_query(union attr *attr, const struct call *call)
{
	const struct attr_task_fd_query *a = &attr->task_fd_query;

	if (a->flags)
		return -EINVAL;
	if (kill((pid_t)a->pid, 0) && errno == ESRCH)
		return -ENOENT;
	if (a->pid == (uint32_t)getpid() && !fd_is_open(a->fd))
		return -EBADF;
	return -E_NOTSUPP;
}

int cmd_token_create(union attr *attr, const struct call *call)
{
	if (attr->token_create.flags)
		return -EINVAL;
	return fd_is_open(attr->token_create.bpffs_fd) ? -EOPNOTSUPP : -EBADF;
}
