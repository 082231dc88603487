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
#include "isa/direct.h"
#include "isa/unit.h"

struct report;
struct map;

struct map_ops {
	bool slots;	  /* max_entries pointers lie at TAIL_SLOTS_OFFSET of struct map */
	size_t priv_size; /* bytes of zeroed private state at MAP_PRIV_OFFSET of struct map */
	/* What a map's `direct` begins with; `create` adds what depends on the map. */
	struct map_direct direct;
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
	/* The action of bpf_redirect_map: XDP_REDIRECT when there is a target (the helper records
	 * map, key and flags; `lookup` gives the target's value), else the action in flags' low
	 * bits; XDP_ABORTED for bad flags. Changes nothing. */
	long (*redirect)(struct map *m, uint64_t key, uint64_t flags);

	/* What bpf(2) calls. Values are what user space sees: per-CPU maps take and give
	 * round_up(value_size, 8) * percpu_slots() bytes. NULL: derived from the above. */
	int (*user_lookup)(struct map *m, const void *key, void *value, uint64_t flags);
	int (*user_update)(struct map *m, const void *key, const void *value, uint64_t flags);
	int (*user_lookup_erase)(struct map *m, const void *key, void *value, uint64_t flags);
	int (*next_key)(struct map *m, const void *key, void *next); /* key NULL: the first */
	/* Hash-like maps, for batches whose token is a bucket number: moves *bucket to the first
	 * bucket from there on that has elements, and stores all of these to keys/values (with
	 * `erase`, takes them out of the map) if there are at most *count. *count becomes their
	 * number; -ENOSPC when they do not fit, -ENOENT behind the last bucket. */
	int (*bucket)(struct map *m, uint32_t *bucket, void *keys, void *values, uint32_t *count,
		      uint64_t flags, bool erase);
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
	int wake_fd;	/* RINGBUF: eventfd that is written when a record is there; else -1. Clients
			 * poll it edge-triggered: nobody reads it */
	uint8_t *value; /* first value of an array-like map with direct values, else NULL */
	uint32_t stride;     /* bytes from one value to the next in array-like maps */
	uint32_t percpu_off; /* per-CPU maps: offset of the first value in a slot's area, else 0 */
	const struct map_type *type;
	void *priv;		  /* the family's own */
	struct map_direct direct; /* desc.direct */
	uint32_t owner; /* PROG_ARRAY: which programs may be in it and use it; run/prog.c */
};

enum { MAP_PRIV_OFFSET = 512 };

/* Which batch commands a type has. */
enum { BATCH_LOOKUP = 1, BATCH_UPDATE = 2, BATCH_DELETE = 4, BATCH_ERASE = 8 };

/* One row of map.def. */
struct map_type {
	uint32_t type;
	const char *name; /* "hash", as bpftool prints it */
	const struct map_ops *ops;
	uint8_t
	    obj_kind; /* values that user space writes are fds of this enum obj_kind; 0: plain */
	bool percpu;
	bool no_key;	/* key_size must be 0 */
	uint32_t flags; /* those that MAP_CREATE allows */
	uint8_t batch;	/* BATCH_* */
};

const struct map_type *map_type_find(uint32_t type); /* NULL: not supported */

/* Creates a map from MAP_CREATE's attributes as they stand in `d` (d->inner for map-in-map: the
 * desc of the map behind inner_map_fd, copied). The offsets of special fields may be set by the
 * caller before the map is used. The kernel's errno: -EINVAL, -E2BIG, -ENOMEM, -ENOTSUPP... One
 * reference for the caller. */
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
/* Erases all elements of a PROG_ARRAY. */
void map_drop_refs(struct map *m);
/* -EBUSY when frozen already, -ENOTSUPP when values have special fields. */
int map_freeze(struct map *m);

/* What bpf(2) does for element values that are file descriptors (map_type.obj_kind): as map_update,
 * with the object behind the fd. `target` as in map_ops.update_obj. */
int map_update_obj(struct map *m, const void *key, struct obj *obj, const void *target,
		   uint64_t flags);

/* A batch as bpf_attr.batch has it. Memory is the caller's. */
struct map_batch {
	const void *in_batch; /* NULL: from the start */
	void *out_batch;
	void *keys, *values; /* values: map_user_value_size() apart */
	uint32_t count;	     /* in: room or elements; out: elements done, also on errors */
	uint64_t elem_flags, flags;
};

/* 0, or the kernel's errno: -ENOENT after the last element, -ENOSPC when one hash bucket has more
 * elements than count, -ENOTSUPP for a type without it. Batch tokens have key_size bytes, in
 * hash maps 4. map_update_batch is for plain values; those that are fds go one by one. */
int map_lookup_batch(struct map *m, struct map_batch *b);
int map_lookup_erase_batch(struct map *m, struct map_batch *b);
int map_update_batch(struct map *m, struct map_batch *b);
int map_delete_batch(struct map *m, struct map_batch *b);

/* As mmap(2) of the map's fd: ARRAY with BPF_F_MMAPABLE, RINGBUF (offset 0: the consumer's page;
 * one page further: the producer's, then the data, twice). prot: PROT_*. */
int map_mmap(const struct map *m, uint64_t offset, size_t length, int prot, void **out);

#endif
