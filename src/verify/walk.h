/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel structures by their BTF (verify_input.kernel). */
#ifndef SKEP_VERIFY_WALK_H
#define SKEP_VERIFY_WALK_H

#include "btf/btf.h"

enum { WALK_USER = 1, WALK_PERCPU = 2, WALK_RCU = 4 };

/* What an access found. */
struct walk {
	uint32_t id; /* a pointer to this structure; 0: a number */
	unsigned tags;
	bool unions; /* on the way was a union: the pointer may be anything */
	const char *field;
	const struct btf_type *inner; /* walk_struct's own */
};

struct ver;
int walk_struct(struct ver *v, uint32_t id, uint32_t off, uint32_t size, struct walk *w);
bool walk_is_struct(const struct btf_obj *b, uint32_t id);
uint32_t walk_target(const struct btf_obj *b, const struct btf_type *ptr, unsigned *tags);
bool walk_begins_with(const struct btf_obj *b, uint32_t id, uint32_t off, uint32_t want);
uint32_t walk_find(const struct btf_obj *b, const char *name);

#endif
