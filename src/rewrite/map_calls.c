/* SPDX-License-Identifier: BSD-2-Clause */
/* Updates, deletions, pushes, pops and peeks: the function of the map's type is called, not the
 * helper that would ask for it. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static const struct direct_fn *direct_of(const struct inline_call *c)
{
	switch (c->helper) {
	case BPF_FUNC_map_update_elem:
		return &c->direct->update;
	case BPF_FUNC_map_delete_elem:
		return &c->direct->erase;
	case BPF_FUNC_map_push_elem:
		return &c->direct->push;
	case BPF_FUNC_map_pop_elem:
		return &c->direct->pop;
	case BPF_FUNC_map_peek_elem:
		return &c->direct->peek;
	default:
		return NULL;
	}
}

static bool put(struct inline_call *c)
{
	const struct direct_fn *fn = c->direct ? direct_of(c) : NULL;

	if (!fn || !fn->fn)
		return false;
	put_call_direct(c, fn);
	return true;
}

static const struct inline_row row = {
	.helper = { BPF_FUNC_map_update_elem, BPF_FUNC_map_delete_elem, BPF_FUNC_map_push_elem,
		    BPF_FUNC_map_pop_elem, BPF_FUNC_map_peek_elem },
	.put = put,
};

int rewrite_map_calls(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		      struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
