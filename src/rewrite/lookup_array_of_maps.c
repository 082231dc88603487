/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in an ARRAY_OF_MAPS: pointers to maps, NULL where there is none. What is read of the
 * map depends on the pointer, which orders the two. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	if (!c->direct || !c->direct->slots)
		return false;
	put_index(c);
	put_imm(c, OP_LSH, 0, BPF_AX, 3);
	put_constant(c, 0, c->direct->slots);
	put_reg(c, OP_ADD, 0, 0, BPF_AX);
	put_load(c, 8, 0, 0, 0);
	return true;
}

static const struct inline_row row = {
	.scratch = 1,
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_array_of_maps(const struct unit *u, const struct rewrite_opts *opts,
				 struct report *r, struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
