/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2): one row of cmd.def for each command. skep_bpf() is declared in <skep/skep.h>.
 */
#ifndef SKEP_SYS_SYS_H
#define SKEP_SYS_SYS_H

#include "base/obj.h"
#include "run/load_opts.h"

/* The object behind a file descriptor, with a reference for the caller; NULL when fd is not
 * one of ours or not of this kind (0: any). */
struct obj *fd_obj(int fd, enum obj_kind kind);

/* A fresh, close-on-exec file descriptor for o. The fd holds its own reference. -errno. */
int fd_new(struct obj *o);

/* What holds for the loads of the calling thread; to be changed in place. */
struct load_opts *sys_load_opts(void);

#endif
