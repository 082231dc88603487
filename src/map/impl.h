/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the families of maps share; for src/map/ only.
 */
#ifndef SKEP_MAP_IMPL_H
#define SKEP_MAP_IMPL_H

#include <errno.h>
#include <string.h>

#include "map/map.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own; user space sees it */
#endif

enum {
	MAP_ALLOC_MAX = 1 << 22,   /* the kernel's largest object: bounds keys and values */
	MAP_PERCPU_MAX = 32 << 10, /* the kernel's largest per-CPU object */
};

#define MAP_ACCESS_FLAGS (BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)

/* The shared region: a memfd of `size` bytes, zeroed, mapped at m->mem. Memory is taken when it is
 * touched; -ENOMEM when `need` bytes could not be had even so. */
int map_mem_new(struct map *m, uint64_t size, uint64_t need);
/* The same where generated code reaches it by a short address (base/near.h), if there is room. */
int map_mem_near(struct map *m, uint64_t size, uint64_t need);

/* m->percpu_off for n values of `stride` bytes in each slot. -ENOMEM. */
int map_percpu_new(struct map *m, uint64_t n, uint32_t stride);
void map_percpu_free(struct map *m, uint64_t n, uint32_t stride);

/* Puts o when no program that may use it runs any more. The node comes from defer_new. */
struct defer;
struct defer *defer_new(void);
void defer_put(struct defer *d, struct obj *o);
void defer_free(struct defer *d);

/* Whether `inner` may be stored where maps like `meta` are expected. */
bool map_like(const struct map_desc *meta, const struct map_desc *inner);

/* next_key of everything whose keys are 0 .. max_entries - 1. */
int index_next_key(struct map *m, const void *key, void *next);

/* Checks of attributes that several types have. */
int array_check(const struct map_desc *d);
int hash_check(const struct map_desc *d);

static inline uint32_t key_index(const void *key)
{
	uint32_t i;

	memcpy(&i, key, sizeof(i));
	return i;
}

/* Operations in the calling convention of helpers, for map_ops.direct: DIRECT(kind, name, fn) makes
 * `name` of the operation fn. */
#define DIRECT(kind, name, fn)                                                                     \
	static uint64_t name(                                                                      \
	    BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))           \
	{                                                                                          \
		return DIRECT_##kind(fn);                                                          \
	}
#define DIRECT_MAP	  ((struct map *)(uintptr_t)r1)
#define DIRECT_AT(r)	  ((void *)(uintptr_t)(r))
#define DIRECT_lookup(fn) (uintptr_t)fn(DIRECT_MAP, DIRECT_AT(r2))
#define DIRECT_update(fn) (uint64_t)(int64_t)fn(DIRECT_MAP, DIRECT_AT(r2), DIRECT_AT(r3), r4)
#define DIRECT_erase(fn)  (uint64_t)(int64_t)fn(DIRECT_MAP, DIRECT_AT(r2))
#define DIRECT_push(fn)	  (uint64_t)(int64_t)fn(DIRECT_MAP, DIRECT_AT(r2), r3)
#define DIRECT_peek(fn)	  (uint64_t)(int64_t)fn(DIRECT_MAP, DIRECT_AT(r2))
#define DIRECT_FN(name)	  { name, #name }

/* Operations that a type does not have. */
int op_einval_erase(struct map *m, const void *key);
int op_einval_update(struct map *m, const void *key, const void *value, uint64_t flags);
int op_einval_next(struct map *m, const void *key, void *next);
int op_enotsupp_lookup(struct map *m, const void *key, void *value, uint64_t flags);
int op_enotsupp_update(struct map *m, const void *key, const void *value, uint64_t flags);
int op_enotsupp_erase(struct map *m, const void *key);
int op_enotsupp_next(struct map *m, const void *key, void *next);

#endif
