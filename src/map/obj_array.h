/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays whose elements refer to objects; for src/map/ only. m->tail.slot[i] is what programs use
 * (const struct callee *, struct map *, struct perf_ring *), private to the process; a replaced
 * one stays valid for programs that run (RCU).
 */
#ifndef SKEP_MAP_OBJ_ARRAY_H
#define SKEP_MAP_OBJ_ARRAY_H

#include "map/impl.h"

int obj_array_check(const struct map_desc *d);
int obj_array_create(struct map *m);
void obj_array_destroy(struct map *m);
const void *obj_array_at(const struct map *m, uint32_t i); /* NULL: empty or out of range */
int obj_array_update(struct map *m, const void *key, struct obj *obj, const void *target,
		     uint64_t flags);
int obj_array_erase(struct map *m, const void *key);
int obj_array_user_lookup(struct map *m, const void *key, void *value, uint64_t flags);

#endif
