/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array: `VEC(struct op) ops = {0};  vec_push(&ops, op)`. vec_push and vec_reserve
 * return 0 or -ENOMEM; on failure the old contents stay. Freed with vec_free.
 */
#ifndef SKEP_BASE_VEC_H
#define SKEP_BASE_VEC_H

#include <errno.h>
#include <stddef.h>

#include "base/mem.h"

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n, cap;                                                                     \
	}

static inline int vec_grow(void **at, size_t *cap, size_t need, size_t size)
{
	size_t want = *cap ? *cap : 16;
	void *p;

	if (need <= *cap)
		return 0;
	while (want < need)
		want += want / 2 + 1;
	p = mem_resize(*at, want, size);
	if (!p)
		return -ENOMEM;
	*at = p;
	*cap = want;
	return 0;
}

#define vec_reserve(v, extra)                                                                      \
	vec_grow((void **)&(v)->at, &(v)->cap, (v)->n + (extra), sizeof(*(v)->at))

#define vec_push(v, x) (vec_reserve(v, 1) ? -ENOMEM : ((v)->at[(v)->n++] = (x), 0))

#define vec_free(v) (mem_free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#endif
