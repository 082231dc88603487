/* SPDX-License-Identifier: BSD-2-Clause */
/* The families' operations, for map.def; for src/map/ only. */
#ifndef SKEP_MAP_TYPES_H
#define SKEP_MAP_TYPES_H

#include "map/map.h"

extern const struct map_ops array_ops, percpu_array_ops, prog_array_ops, perf_event_array_ops,
    array_of_maps_ops, hash_ops, percpu_hash_ops, lru_hash_ops, lru_percpu_hash_ops,
    hash_of_maps_ops, lpm_ops, queue_ops, stack_ops, bloom_ops, ringbuf_ops, devmap_ops,
    devmap_hash_ops, cpumap_ops, xskmap_ops, stack_trace_ops, cgroup_array_ops;

int ringbuf_mmap(const struct map *m, uint64_t offset, size_t length, int prot, void **out);

#endif
