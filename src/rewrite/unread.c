/* SPDX-License-Identifier: BSD-2-Clause */
/* What became unused since `unused` ran: that one made registers keep what they hold, which lets
 * `known` do without memory. */
#include "rewrite/pass.h"

int rewrite_unread(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		   struct unit **out)
{
	return rewrite_unused(u, opts, r, out);
}
