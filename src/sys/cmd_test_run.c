/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "run/prog.h"
#include "run/test_run.h"
#include "sys/cmd.h"
#include "sys/fd.h"

static struct test_run test_of(const struct attr_test *a)
{
	static const struct test_mem mem = { .read = user_read, .write = user_write };

	return (struct test_run){
		.mem = &mem,
		.data_in = a->data_in,
		.data_out = a->data_out,
		.ctx_in = a->ctx_in,
		.ctx_out = a->ctx_out,
		.data_size_in = a->data_size_in,
		.ctx_size_in = a->ctx_size_in,
		.repeat = a->repeat,
		.flags = a->flags,
		.cpu = a->cpu,
		.batch_size = a->batch_size,
		.data_size_out = a->data_size_out,
		.ctx_size_out = a->ctx_size_out,
	};
}

static int results_write(const struct call *call, const struct test_run *t)
{
	int err = 0;

	if (t->data_done) {
		err = ATTR_RESULT(call, test.data_size_out, t->data_size_out);
		if (!err)
			err = ATTR_RESULT(call, test.retval, t->retval);
		if (!err)
			err = ATTR_RESULT(call, test.duration, t->duration);
	}
	if (!err && t->ctx_done)
		err = ATTR_RESULT(call, test.ctx_size_out, t->ctx_size_out);
	return err;
}

int cmd_prog_test_run(union attr *attr, const struct call *call)
{
	struct test_run t = test_of(&attr->test);
	struct obj *o = NULL;
	int err = fd_get((int)attr->test.prog_fd, OBJ_PROG, &o), failed;

	if (err)
		return err;
	err = test_run(prog_of(o), &t);
	failed = results_write(call, &t);
	obj_put(o);
	return failed ? failed : err;
}
