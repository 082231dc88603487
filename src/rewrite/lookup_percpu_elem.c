/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_map_lookup_percpu_elem on a PERCPU_ARRAY: as a look-up, in the area of slot r3. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	if (!c->direct || !c->direct->percpu_off)
		return false;
	put_reg(c, OP_MOV, OP_W32, BPF_BX, 3);
	put_index(c);
	put_scale(c);
	put_slot_base(c, BPF_BX);
	put_imm(c, OP_ADD, 0, BPF_AX, c->direct->percpu_off);
	put_reg(c, OP_ADD, 0, 0, BPF_AX);
	return true;
}

static const struct inline_row row = {
	.scratch = 2,
	.helper = { BPF_FUNC_map_lookup_percpu_elem },
	.put = put,
};

int rewrite_lookup_percpu_elem(const struct unit *u, const struct rewrite_opts *opts,
			       struct report *r, struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
