/* SPDX-License-Identifier: BSD-2-Clause */
#include "rewrite/rewrite.h"

#include <errno.h>
#include <string.h>

#include "base/report.h"
#include "rewrite/divide.h"

typedef int (*pass_fn)(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		       struct unit **out);

static int pass_divide(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		       struct unit **out)
{
	return rewrite_divide(u, opts->scratch, r, out);
}

static const struct {
	const char *name;
	pass_fn run;
} passes[] = {
#define PASS(name, fn, what) { #name, fn },
#include "rewrite/pass.def"
};
enum { PASSES = sizeof(passes) / sizeof(passes[0]) };

/* Length of the first name in a comma-separated list. */
static size_t name_length(const char *list)
{
	return strcspn(list, ",");
}

static bool list_has(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (; list && *list; list += name_length(list), list += *list == ',') {
		if (name_length(list) == n && !strncmp(list, name, n))
			return true;
	}
	return false;
}

static bool is_pass(const char *name, size_t n)
{
	for (unsigned i = 0; i < PASSES; i++) {
		if (strlen(passes[i].name) == n && !strncmp(passes[i].name, name, n))
			return true;
	}
	return false;
}

static int names_check(const char *list, struct report *r)
{
	for (; list && *list; list += name_length(list), list += *list == ',') {
		if (!is_pass(list, name_length(list)))
			return report_fail(r, -EINVAL, "there is no rewrite '%.*s'",
					   (int)name_length(list), list);
	}
	return 0;
}

int rewrite(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
	    struct unit **out)
{
	struct unit *now, *next;
	int err = names_check(opts->off, r);

	if (err)
		return err;
	now = unit_copy(u);
	for (unsigned i = 0; now && i < PASSES && !err; i++) {
		if (list_has(opts->off, passes[i].name))
			continue;
		err = passes[i].run(now, opts, r, &next);
		unit_free(now);
		now = err ? NULL : next;
	}
	if (err || !now)
		return err ? err : -ENOMEM;
	*out = now;
	return 0;
}
