/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct obj: the reference count that maps, programs, BTF objects and links share. What an object
 * is known by outside (file descriptor, id) is sys/'s business; this is only its lifetime.
 */
#ifndef SKEP_BASE_OBJ_H
#define SKEP_BASE_OBJ_H

#include <stddef.h>
#include <stdint.h>

enum obj_kind { OBJ_MAP = 1, OBJ_PROG, OBJ_BTF, OBJ_LINK, OBJ_PERF, OBJ_STATS };

struct obj {
	uint32_t refs;
	uint8_t kind;		     /* enum obj_kind */
	uint32_t id;		     /* unique for its kind, 0 until sys/ registers it */
	void (*free)(struct obj *o); /* called once, when the last reference is gone */
};

#define obj_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* One reference, held by the caller. */
static inline void obj_init(struct obj *o, enum obj_kind kind, void (*free)(struct obj *o))
{
	o->refs = 1;
	o->kind = (uint8_t)kind;
	o->id = 0;
	o->free = free;
}

/* Thread-safe. The caller already holds a reference. */
static inline struct obj *obj_get(struct obj *o)
{
	__atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
	return o;
}

/* Thread-safe. NULL is allowed. */
static inline void obj_put(struct obj *o)
{
	if (o && __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) == 0)
		o->free(o);
}

#endif
