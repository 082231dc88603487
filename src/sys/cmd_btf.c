/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/btf.h"
#include "sys/cmd.h"
#include "sys/fd.h"
#include "sys/log.h"

enum { FLAG_TOKEN_FD = 1 << 16 };

static int load_unlogged(const struct attr_btf_load *a, struct report *log, struct btf_obj **out)
{
	void *data = NULL;
	int err;

	if (a->size > BTF_SIZE_MAX)
		return -E2BIG;
	err = user_dup(a->btf, a->size, &data);
	if (!err)
		err = btf_obj_load(data, a->size, log, out);
	mem_free(data);
	return err;
}

static int load_logged(const struct attr_btf_load *a, const struct call *call, struct btf_obj **out)
{
	const struct user_log log = { a->log_level, a->log_size, a->log_buf };
	struct report report = log_report(&log);
	uint32_t true_size;
	int err = log_check(&log), log_err;

	if (err)
		return err;
	err = load_unlogged(a, &report, out);
	log_err = log_finish(&log, &report, &true_size);
	report_free(&report);
	if (ATTR_RESULT(call, btf_load.log_true_size, true_size))
		log_err = -EFAULT;
	return log_err ? log_err : err;
}

int cmd_btf_load(union attr *attr, const struct call *call)
{
	const struct attr_btf_load *a = &attr->btf_load;
	struct btf_obj *b = NULL;
	int err;

	if (a->flags & ~(uint32_t)FLAG_TOKEN_FD)
		return -EINVAL;
	if (a->flags & FLAG_TOKEN_FD)
		return token_error(a->token_fd);
	err = load_logged(a, call, &b);
	if (!err)
		return fd_publish(&b->obj, -1, NULL);
	if (b)
		obj_put(&b->obj);
	return err;
}
