/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_kptr_xchg: an atomic exchange. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	put_reg(c, OP_MOV, 0, 0, 2);
	edit_put(
	    c->e,
	    (struct op){ .code = OP_XCHG, .mode = OP_FETCH | op_mode_size(8), .dst = 1, .src = 0 });
	return true;
}

static const struct inline_row row = {
	.helper = { BPF_FUNC_kptr_xchg },
	.put = put,
};

int rewrite_kptr_xchg(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		      struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
