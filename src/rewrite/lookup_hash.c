/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in a HASH or LRU_HASH: the table's own function for the key's size is called; in an LRU
 * the element is marked as looked up. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	if (!c->direct || !c->direct->lookup.fn || !c->direct->value_off || c->direct->percpu)
		return false;
	put_element(c);
	put_imm(c, OP_ADD, 0, 0, c->direct->value_off);
	return true;
}

static const struct inline_row row = {
	.scratch = 1,
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_hash(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
