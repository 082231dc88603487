/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands whose whole answer is short. */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/eventfd.h>

#include "sys/cmd.h"
#include "run/prog.h"
#include "sys/fd.h"

int cmd_obj_pin(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_obj_get(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_prog_attach(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_prog_detach(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_prog_test_run(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_info(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_prog_query(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_raw_tracepoint(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_btf_load(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_task_fd_query(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_link_create(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_link_update(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_enable_stats(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_iter_create(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_link_detach(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
int cmd_token_create(union attr *attr, const struct call *call)
{
	return -EOPNOTSUPP;
}
