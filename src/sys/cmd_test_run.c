/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "run/prog.h"
#include "sys/cmd.h"
#include "sys/fd.h"

int cmd_prog_test_run(union attr *attr, const struct call *call)
{
	struct obj *o = NULL;
	int err = fd_get((int)attr->test.prog_fd, OBJ_PROG, &o);

	if (err)
		return err;
	obj_put(o);
	return -E_NOTSUPP;
}
