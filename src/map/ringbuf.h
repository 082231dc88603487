/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RINGBUF in the kernel's format: records of 8 bytes of header (u32 length with BUSY and DISCARD
 * bits, u32 page offset) and data, each on 8 bytes, contiguous because the data pages are mapped
 * twice. What the helpers bpf_ringbuf_* do.
 */
#ifndef SKEP_MAP_RINGBUF_H
#define SKEP_MAP_RINGBUF_H

#include "map/map.h"

/* `size` bytes of a record that only the caller sees until he submits or discards it; NULL when
 * there is no room, or flags are not 0. */
void *ringbuf_reserve(struct map *m, uint64_t size, uint64_t flags);

/* The end of a record from ringbuf_reserve. flags: BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP. */
void ringbuf_submit(void *sample, uint64_t flags);
void ringbuf_discard(void *sample, uint64_t flags);

/* A record with a copy of data. -EINVAL: bad flags; -EAGAIN: no room. */
int ringbuf_output(struct map *m, const void *data, uint64_t size, uint64_t flags);

/* BPF_RB_AVAIL_DATA, _RING_SIZE, _CONS_POS, _PROD_POS; 0 for others. */
uint64_t ringbuf_query(const struct map *m, uint64_t what);

/* Hands each complete record to fn, oldest first, and frees it; stops when fn returns < 0 (that is
 * returned then). Returns the number of records. One consumer at a time. */
long ringbuf_consume(struct map *m, int (*fn)(void *ctx, const void *data, size_t size), void *ctx);

#endif
