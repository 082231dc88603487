/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in a PERCPU_ARRAY: the index is checked and scaled, and gives an offset in each slot's
 * area (system.md P5). A known index is such an offset. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	uint64_t index;

	if (!c->direct || !c->direct->percpu_off)
		return false;
	if (known_index(c, &index)) {
		put_constant(c, 0, c->direct->percpu_off + index * c->direct->stride);
		put_percpu(c, 0, 0);
		return true;
	}
	put_index(c);
	put_scale(c);
	put_reg(c, OP_MOV, 0, 0, BPF_AX);
	put_imm(c, OP_ADD, 0, 0, c->direct->percpu_off);
	put_percpu(c, 0, 0);
	return true;
}

static const struct inline_row row = {
	.traits = TRAIT_PERCPU,
	.scratch = 1,
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_percpu_array(const struct unit *u, const struct rewrite_opts *opts,
				struct report *r, struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
