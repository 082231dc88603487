/* SPDX-License-Identifier: BSD-2-Clause */
/* Look-ups in a PERCPU_HASH or LRU_PERCPU_HASH: as in a HASH; what the element holds is the offset
 * of its value in each slot's area (system.md P6). */
#include <linux/bpf.h>

#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	if (!c->direct || !c->direct->lookup.fn || !c->direct->value_off || !c->direct->percpu)
		return false;
	put_element(c);
	put_load(c, 4, 0, 0, (int32_t)c->direct->value_off);
	put_percpu(c, 0, 0);
	return true;
}

static const struct inline_row row = {
	.traits = TRAIT_PERCPU,
	.scratch = 1,
	.helper = { BPF_FUNC_map_lookup_elem },
	.put = put,
};

int rewrite_lookup_percpu_hash(const struct unit *u, const struct rewrite_opts *opts,
			       struct report *r, struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
