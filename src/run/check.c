/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/check.h"

#include <errno.h>

#include "base/report.h"
#include "isa/helper.h"
#include "isa/unit.h"

static int check_helper(uint32_t id, const struct prog_spec *spec, struct report *log)
{
	const struct helper *h = helper_find(id);

	if (!h)
		return report_fail(log, -EINVAL, "invalid func unknown#%u", id);
	if (!helper_allowed(id, spec->type) || h->status == HELPER_NONE)
		return report_fail(log, -EINVAL, "program of this type cannot use helper bpf_%s#%u",
				   h->name, id);
	if ((h->flags & HELPER_GPL) && !spec->gpl)
		return report_fail(
		    log, -EINVAL,
		    "cannot call GPL-restricted function from non-GPL compatible program");
	return 0;
}

int check_calls(const struct unit *u, const struct prog_spec *spec, struct report *log)
{
	int err = 0;

	for (uint32_t i = 0; i < u->n_ops && !err; i++) {
		const struct op *op = &u->ops[i];

		if (op->code == OP_CALL)
			err = check_helper((uint32_t)op->imm, spec, log);
		else if (op->code == OP_TAILCALL)
			err = check_helper(12, spec, log);
		else if (op->code == OP_CALLKFUNC)
			err = report_fail(log, -EINVAL, "calling kernel function is not allowed");
		else if (op->code == OP_CALLX)
			err = report_fail(log, -EINVAL, "unknown opcode 8d");
	}
	return err;
}
