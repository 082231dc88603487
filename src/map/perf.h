/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf rings, the elements of PERF_EVENT_ARRAY: what perf_event_open gives for the software event
 * BPF_OUTPUT, in the kernel's format (struct perf_event_mmap_page, then 2^n pages of records).
 */
#ifndef SKEP_MAP_PERF_H
#define SKEP_MAP_PERF_H

#include <linux/perf_event.h>
#include <sys/uio.h>

#include "map/map.h"

struct perf_ring {
	struct obj obj;	      /* OBJ_PERF */
	int cpu;	      /* the slot that may write; -1: any */
	uint64_t sample_type; /* PERF_SAMPLE_*, with PERF_SAMPLE_RAW */
	uint32_t wakeup_events;
	int wake_fd; /* eventfd, written when records are there; poll it edge-triggered */
	int fd;	     /* memfd of the pages, -1 before perf_ring_mmap */
	uint8_t *mem;
	size_t mem_size; /* control page and data */
};

static inline struct perf_ring *perf_ring_of(struct obj *o)
{
	return obj_of(o, struct perf_ring, obj);
}

/* A ring without pages. wakeup_events 0 counts as 1. -EINVAL for a sample_type with fields that
 * only the kernel knows. One reference for the caller. */
int perf_ring_new(int cpu, uint64_t sample_type, uint32_t wakeup_events, struct perf_ring **out);

/* As mmap(2) of the event's fd at offset 0: 1 + 2^n pages; the first call sets the size, later
 * ones must agree. -EINVAL. */
int perf_ring_mmap(struct perf_ring *r, size_t length, int prot, void **out);

/* Sets up `pages` data pages without a mapping for a client (the command's own use). */
int perf_ring_pages(struct perf_ring *r, size_t pages);

/* Each record, oldest first, contiguous, to fn; stops when fn returns < 0 (returned). Number of
 * records. One consumer at a time. */
typedef int (*perf_record_fn)(void *ctx, int cpu, const struct perf_event_header *record);
long perf_ring_consume(struct perf_ring *r, perf_record_fn fn, void *ctx);

/* The core of bpf_perf_event_output: a sample whose raw data is the parts, one after the other,
 * into the ring at flags' BPF_F_INDEX_MASK (BPF_F_CURRENT_CPU: the running slot's). Other flags
 * are the helper's business. -E2BIG: index out of range, or too much data; -ENOENT: no ring there;
 * -EOPNOTSUPP: the ring of another slot; -ENOSPC: full or without pages (a full one counts the
 * loss and reports it by a PERF_RECORD_LOST later). */
int perf_output(const struct map *m, uint64_t flags, const struct iovec *part, size_t n_parts);

#endif
