/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/rewrite.h"

#include <errno.h>
#include <string.h>

#include "base/report.h"
#include "rewrite/pass.h"

static const struct {
	const char *name, *what;
	int (*run)(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		   struct unit **out);
} passes[] = {
#define PASS(name, what) { #name, what, rewrite_##name },
#include "rewrite/pass.def"
};

_Static_assert(REWRITES <= 64, "rewrite_opts.off has a bit for each rewrite");

const char *rewrite_name(unsigned id)
{
	return id < REWRITES ? passes[id].name : NULL;
}

const char *rewrite_what(unsigned id)
{
	return id < REWRITES ? passes[id].what : NULL;
}

/* The row of this name, or -EINVAL with a message that lists the names. */
static int pass_find(const char *name, struct report *r)
{
	struct report names = { 0 };

	for (unsigned i = 0; i < REWRITES; i++) {
		if (!strcmp(passes[i].name, name)) {
			report_free(&names);
			return (int)i;
		}
		report_add(&names, i ? ", %s" : "%s", passes[i].name);
	}
	report_fail(r, -EINVAL, "there is no rewrite '%s'; there are %s", name,
		    names.text ? names.text : "");
	report_free(&names);
	return -EINVAL;
}

int rewrite_turn_off(const char *name, struct report *r, uint64_t *off)
{
	int id = pass_find(name, r);

	if (id >= 0)
		*off |= 1ull << id;
	return id < 0 ? id : 0;
}

int rewrite_stop_after(const char *name, struct report *r, unsigned *stop)
{
	int id = pass_find(name, r);

	if (id >= 0)
		*stop = (unsigned)id + 1;
	return id < 0 ? id : 0;
}

int rewrite(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
	    struct unit **out)
{
	struct unit *now = unit_copy(u);
	int err = now ? 0 : -ENOMEM;

	for (unsigned i = 0; i < REWRITES && !err; i++) {
		struct unit *next = NULL;

		if (!rewrite_does(opts, i))
			continue;
		err = passes[i].run(now, opts, r, &next);
		if (!next && !err)
			continue;
		unit_free(now);
		now = next;
	}
	if (!err)
		*out = now;
	return err;
}
