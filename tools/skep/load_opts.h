/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of the commands that load: how the engine is to load what follows.
 */
#ifndef SKEP_TOOL_LOAD_OPTS_H
#define SKEP_TOOL_LOAD_OPTS_H

#include <stdbool.h>

#include "skep/command.h"

struct report;

struct load_values {
	struct opt_list no_inline;
	bool unverified, harden, private_stacks;
	const char *after;
};

/* Rows of a command's options, whose values are `member` of struct `type`. */
#define LOAD_OPTS(type, member)                                                                    \
	{ "no-inline", 0,                                                                          \
	  OPT_LIST,    offsetof(type, member.no_inline),                                           \
	  "NAME",      "leave a rewrite out (a wrong name lists them)" },                          \
	    { "unverified", 0,                                                                     \
	      OPT_FLAG,	    offsetof(type, member.unverified),                                     \
	      NULL,	    "load without verification" },                                         \
	    { "harden", 0,                                                                         \
	      OPT_FLAG, offsetof(type, member.harden),                                             \
	      NULL,	"code hard to abuse: blinded, signed, landing pads" },                     \
	    { "private-stacks",                                                                    \
	      0,                                                                                   \
	      OPT_FLAG,                                                                            \
	      offsetof(type, member.private_stacks),                                               \
	      NULL,                                                                                \
	      "BPF stacks in per-slot memory" }

/* For the loads of this thread from now on. -EINVAL for a rewrite that there is not. */
int load_opts_set(const struct load_values *v, struct report *r);

#endif
