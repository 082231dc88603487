/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_per_cpu_ptr: the pointer is an offset of 32 bits, slots are PERCPU_STRIDE apart (P9). */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	put_reg(c, OP_MOV, OP_W32, BPF_AX, 1);
	put_reg(c, OP_MOV, OP_W32, BPF_BX, 2);
	put_slot_base(c, BPF_BX);
	put_reg(c, OP_ADD, 0, 0, BPF_AX);
	return true;
}

static const struct inline_row row = {
	.scratch = 2,
	.helper = { BPF_FUNC_per_cpu_ptr },
	.put = put,
};

int rewrite_per_cpu_ptr(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
