/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps. One row of map.def and one struct map_ops for each type.
 *
 * All state that changes (elements, buckets, locks, counts, ring positions) lies in one MAP_SHARED
 * region backed by the map's memfd, linked by indexes and offsets, never by pointers: a forked
 * child, and later another process, works on the same map. struct map itself is private to the
 * process. Per-CPU values are offsets into base/percpu.h's region. Exceptions: what refers to
 * objects (PROG_ARRAY, map-in-map, ...) also keeps process-private pointers.
 *
 * Thread rules: all operations may run concurrently. Look-ups take no lock. What a program gets
 * from look-up stays readable memory while the map lives (elements are reused, never unmapped), as
 * with the kernel's preallocated maps.
 */
#ifndef SKEP_MAP_MAP_H
#define SKEP_MAP_MAP_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/obj.h"
#include "isa/abi.h"
#include "isa/unit.h"

struct report;
struct map;

struct map_ops {
	/* Checks attributes beyond what map.def says; 0 or the kernel's -errno. May be NULL. */
	int (*check)(const struct map_desc *d);
	/* Sets up map->mem (map_mem_new) and private state. */
	int (*create)(struct map *m);
	void (*destroy)(struct map *m);

	/* What programs call. lookup gives the value's address (per-CPU: this slot's), or NULL. */
	void *(*lookup)(struct map *m, const void *key);
	int (*update)(struct map *m, const void *key, const void *value, uint64_t flags);
	int (*erase)(struct map *m, const void *key);
	int (*push)(struct map *m, const void *value, uint64_t flags);
	int (*pop)(struct map *m, void *value);
	int (*peek)(struct map *m, void *value);
	void *(*lookup_percpu)(struct map *m, const void *key, uint32_t cpu);
	long (*for_each)(struct map *m, uint64_t callback, uint64_t ctx);
	long (*redirect)(struct map *m, uint64_t key, uint64_t flags); /* see helper/packet.h */

	/* What bpf(2) calls. Values are what user space sees: per-CPU maps take and give
	 * round_up(value_size, 8) * percpu_slots() bytes. NULL: derived from the above. */
	int (*user_lookup)(struct map *m, const void *key, void *value, uint64_t flags);
	int (*user_update)(struct map *m, const void *key, const void *value, uint64_t flags);
	int (*user_lookup_erase)(struct map *m, const void *key, void *value, uint64_t flags);
	int (*next_key)(struct map *m, const void *key, void *next); /* key NULL: the first */
	/* Stores a reference to another object (program, map, perf ring); takes its own reference.
	 * `target`: const struct callee * for programs, struct map * for maps. obj is checked to
	 * be of the row's object kind by the caller. */
	int (*update_obj)(struct map *m, const void *key, struct obj *obj, const void *target,
			  uint64_t flags);
};

struct map {
	struct map_desc desc;	/* first: the JITs and the verifier see a map as its map_desc */
	struct tail_array tail; /* second: TAIL_ARRAY_OFFSET; PROG_ARRAY only */
	const struct map_ops *ops;
	struct obj obj;
	uint8_t *mem; /* the shared region */
	size_t mem_size;
	int fd; /* memfd behind mem, owned; direct values start at file offset 0 so that a client
		 * may mmap it (BPF_F_MMAPABLE) */
	uint8_t *value; /* first value of an array-like map with direct values, else NULL */
	uint32_t stride; /* bytes from one value to the next in array-like maps */
	void *priv; /* the family's own */
	uint32_t spin_lock_off; /* offset of struct bpf_spin_lock in the value, or UINT32_MAX */
};

/* One row of map.def. */
struct map_type {
	uint32_t type;
	const char *name; /* "hash", as bpftool prints it */
	const struct map_ops *ops;
	uint8_t obj_kind; /* values that user space writes are fds of this enum obj_kind; 0: plain */
	bool percpu;
	bool no_key; /* key_size must be 0 */
};

const struct map_type *map_type_find(uint32_t type); /* NULL: not supported */

/* Creates a map from MAP_CREATE's attributes as they stand in `d` (d->inner for map-in-map).
 * The kernel's errno: -EINVAL, -E2BIG, -ENOMEM, -EOPNOTSUPP... One reference for the caller. */
int map_create(const struct map_desc *d, struct map **out);

static inline struct map *map_of(struct obj *o)
{
	return obj_of(o, struct map, obj);
}

/* Size of a value as user space sees it. */
size_t map_user_value_size(const struct map *m);

/* What bpf(2) does, complete with flag checks, spin lock copies, frozen and RDONLY/WRONLY checks
 * of user space. key/value are the caller's memory. The kernel's errno. */
int map_lookup(struct map *m, const void *key, void *value, uint64_t flags);
int map_update(struct map *m, const void *key, const void *value, uint64_t flags);
int map_erase(struct map *m, const void *key);
int map_lookup_erase(struct map *m, const void *key, void *value, uint64_t flags);
int map_next_key(struct map *m, const void *key, void *next);
int map_freeze(struct map *m);

#endif
