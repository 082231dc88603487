/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/rewrite.h"

#include <errno.h>
#include <stddef.h>

#include "rewrite/divide.h"

typedef int (*pass_fn)(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		       struct unit **out);

static int pass_divide(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		       struct unit **out)
{
	return rewrite_divide(u, opts->scratch, r, out);
}

static const pass_fn passes[] = {
#define PASS(name, fn, what) fn,
#include "rewrite/pass.def"
};
enum { PASSES = sizeof(passes) / sizeof(passes[0]) };

int rewrite(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
	    struct unit **out)
{
	struct unit *now = unit_copy(u), *next = NULL;
	int err = now ? 0 : -ENOMEM;

	for (unsigned i = 0; i < PASSES && !err; i++) {
		err = passes[i](now, opts, r, &next);
		unit_free(now);
		now = next;
	}
	if (!err)
		*out = now;
	return err;
}
