/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_MAP_TYPES_H
#define SKEP_MAP_TYPES_H

#include "map/map.h"

extern const struct map_ops array_ops, hash_ops, percpu_hash_ops, lru_hash_ops,
	lru_percpu_hash_ops;

#endif
