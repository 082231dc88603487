/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_get_numa_node_id: the node is in the slot's head. */
#include <linux/bpf.h>
#include <stddef.h>

#include "base/percpu.h"
#include "rewrite/inline.h"

static bool put(struct inline_call *c)
{
	put_slot_field(c, offsetof(struct percpu_head, node));
	return true;
}

static const struct inline_row row = {
	.traits = TRAIT_PERCPU,
	.helper = { BPF_FUNC_get_numa_node_id },
	.put = put,
};

int rewrite_numa_node_id(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
			 struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
