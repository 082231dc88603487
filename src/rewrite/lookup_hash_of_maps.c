/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in a HASH_OF_MAPS, and in other maps whose own function gives what the helper would. */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	if (!c->direct || !c->direct->lookup.fn || c->direct->value_off)
		return false;
	put_call_direct(c, &c->direct->lookup);
	return true;
}

static const struct inline_row row = {
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_hash_of_maps(const struct unit *u, const struct rewrite_opts *opts,
				struct report *r, struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
