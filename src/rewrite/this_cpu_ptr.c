/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_this_cpu_ptr: a per-CPU pointer is an offset of 32 bits (system.md P9). */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	put_reg(c, OP_MOV, OP_W32, 0, 1);
	put_percpu(c, 0, 0);
	return true;
}

static const struct inline_row row = {
	.traits = TRAIT_PERCPU,
	.helper = { BPF_FUNC_this_cpu_ptr },
	.put = put,
};

int rewrite_this_cpu_ptr(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			 struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
