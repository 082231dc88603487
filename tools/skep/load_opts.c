/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/load_opts.h"

#include "rewrite/rewrite.h"
#include "sys/sys.h"

int load_opts_set(const struct load_values *v, struct report *r)
{
	struct load_opts opts = { .unverified = v->unverified,
				  .hardened = v->harden,
				  .private_stacks = v->private_stacks };
	int err = 0;

	for (size_t i = 0; i < v->no_inline.n && !err; i++)
		err = rewrite_turn_off(v->no_inline.at[i], r, &opts.rewrites_off);
	if (!err && v->after)
		err = rewrite_stop_after(v->after, r, &opts.rewrite_stop);
	if (!err)
		*sys_load_opts() = opts;
	return err;
}
