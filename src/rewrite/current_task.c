/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_get_current_task and its typed form: there is no task, and the helpers return 0. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	put_imm(c, OP_MOV, 0, 0, 0);
	return true;
}

static const struct inline_row row = {
	.helper = { BPF_FUNC_get_current_task, BPF_FUNC_get_current_task_btf },
	.put = put,
};

int rewrite_current_task(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			 struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
