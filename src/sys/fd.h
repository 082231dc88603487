/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects as file descriptors.
 *
 * An object is known by the inode of a memfd (named bpf-map, bpf-prog, btf or bpf-link), so every
 * duplicate of a descriptor is the same object, and a number that was closed and used again is
 * not. Each descriptor that is handed out is an open file description of its own with an OFD lock
 * on it; the registry asks over another description whether any lock is left. So an object's
 * last close, wherever it happened (dup, fork, a descriptor in flight, a mapping), is noticed
 * without interposing close(2): at the latest when the next objects are made, or ids are listed.
 */
#ifndef SKEP_SYS_FD_H
#define SKEP_SYS_FD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/obj.h"
#include "sys/sys.h"

/* Gives o an id and an inode and lets the registry hold a reference of its own. `memfd` is the
 * map's, which stays the map's; -1 makes one. `also` (may be NULL): a further object that lives as
 * long as o does, one reference of it moves to the registry on success. 0 or -errno. */
int fd_register(struct obj *o, int memfd, struct obj *also);

/* fd_register, then a descriptor for the client; the caller's reference of o is used up in any
 * case, and `also` too. The descriptor or -errno. */
int fd_publish(struct obj *o, int memfd, struct obj *also);

/* As fd_new (sys.h) with an access mode: O_RDWR, O_RDONLY or O_WRONLY. */
int fd_open(struct obj *o, int mode);

/* The object behind a descriptor with a reference for the caller. -EBADF: fd is not open,
 * -EINVAL: it is something else. */
int fd_get(int fd, enum obj_kind kind, struct obj **out);

/* As fd_get; the descriptor must also have been opened for reading (writing): -EPERM. */
int fd_get_for(int fd, enum obj_kind kind, bool read, bool write, struct obj **out);

/* By id, with a reference; NULL when there is none. */
struct obj *fd_by_id(enum obj_kind kind, uint32_t id);

/* The smallest id above `after`; 0 when there is none. */
uint32_t fd_next_id(enum obj_kind kind, uint32_t after);

/* Notes that a path (by = 1) holds o, or no longer (-1). */
void fd_pinned(struct obj *o, int by);

/* Frees what no client and no other object holds any more. */
void fd_reap(void);

#endif
