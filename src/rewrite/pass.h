/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One rewrite: a const unit in, a fresh one out; *out stays NULL when there is nothing to change
 * (edit_finish sees to both). What needs facts does nothing when u->facts is NULL.
 */
#ifndef SKEP_REWRITE_PASS_H
#define SKEP_REWRITE_PASS_H

#include "rewrite/edit.h"
#include "rewrite/rewrite.h"

#define PASS(name, what)                                                                           \
	int rewrite_##name(const struct unit *u, const struct rewrite_opts *opts,                  \
			   struct report *r, struct unit **out);
#include "rewrite/pass.def"

#endif
