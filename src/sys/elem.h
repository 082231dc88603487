/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_SYS_ELEM_H
#define SKEP_SYS_ELEM_H

#include <stdint.h>

struct map;

/* map_update for any map: where values are descriptors, the object behind is stored. */
int elem_update(struct map *m, const void *key, const void *value, uint64_t flags);

#endif
