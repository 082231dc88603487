/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_MAP_CGROUP_ARRAY_H
#define SKEP_MAP_CGROUP_ARRAY_H

#include "map/map.h"

/* The number of the cgroup in element i, 0 when there is none or i is out of range. */
uint64_t cgroup_array_at(const struct map *m, uint32_t i);

#endif
