/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ops that only write a register which nobody reads are left out: what inlined look-ups leave of
 * the preparations of a call, mostly the address of the map.
 */
#include "base/mem.h"
#include "rewrite/live.h"
#include "rewrite/pass.h"

static bool is_unused(const struct unit *u, const uint16_t *live, uint32_t i)
{
	const struct op *op = &u->ops[i];

	return op_is_pure(op) && !(live_behind(u, live, i) & op_writes(op));
}

int rewrite_unused(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		   struct unit **out)
{
	uint16_t *live;
	struct edit e;

	if (!u->facts || !opts->jit)
		return 0;
	live = mem_zalloc(u->n_ops, sizeof(*live));
	if (!live)
		return -ENOMEM;
	live_find(u, live);
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		if (!is_unused(u, live, i))
			edit_keep(&e);
	}
	mem_free(live);
	return edit_finish(&e, r, out);
}
