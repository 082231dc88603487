/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which parts of a range are free: offsets are handed out first fit and taken back. Not
 * thread-safe. Giving back needs no memory: each part that is taken has an entry in store.
 */
#ifndef SKEP_BASE_ROOM_H
#define SKEP_BASE_ROOM_H

#include <stddef.h>

#include "base/vec.h"

struct room {
	size_t off, size;
};

struct rooms {
	VEC(struct room) free; /* sorted by offset, apart from each other, none empty */
	size_t taken;	       /* parts that are to be given back */
};

/* `size` bytes at `align` (a power of two). -ENOMEM: no such room, or no memory for the entry. */
int room_take(struct rooms *r, size_t size, size_t align, size_t *off);

/* Takes back what room_take handed out. */
void room_give(struct rooms *r, size_t off, size_t size);

/* Makes new room, apart from all that there is or next to it. 0 or -ENOMEM. */
int room_add(struct rooms *r, size_t off, size_t size);

void room_free(struct rooms *r);

#endif
