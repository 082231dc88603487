/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/calls.h"

#include <errno.h>

#include "base/report.h"
#include "isa/helper.h"
#include "isa/unit.h"

static int helper_check(const struct env *env, uint32_t id, struct report *log)
{
	const struct helper *h = helper_find(id);

	if (!h)
		return report_fail(log, -EINVAL, "invalid func unknown#%u", id);
	if (id >= env->n_helpers || !env->helper[id])
		return report_fail(log, -EINVAL, "skep does not have helper bpf_%s#%u yet", h->name,
				   id);
	return 0;
}

int calls_check(const struct unit *u, struct report *log)
{
	int err = 0;

	for (uint32_t i = 0; i < u->n_ops && !err; i++) {
		const struct op *op = &u->ops[i];

		if (op->code == OP_CALL)
			err = helper_check(u->env, (uint32_t)op->imm, log);
		else if (op->code == OP_CALLKFUNC)
			err = report_fail(log, -EINVAL, "calling kernel function is not allowed");
		else if (op->code == OP_CALLX)
			err = report_fail(log, -EINVAL, "unknown opcode 8d");
	}
	return err;
}
