/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in an ARRAY: the index is checked and scaled. A known index is an address. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	uint64_t index;

	if (!c->direct || !c->direct->values)
		return false;
	if (known_index(c, &index)) {
		put_value(c, index * c->direct->stride);
		return true;
	}
	put_index(c);
	put_scale(c);
	put_value(c, 0);
	put_reg(c, OP_ADD, 0, 0, BPF_AX);
	return true;
}

static const struct inline_row row = {
	.scratch = 1,
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_array(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			 struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
