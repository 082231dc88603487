/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the private libbpf calls instead of libc: the build renames these few symbols in a copy of
 * the distribution's libbpf.a (meson.build here). Any other libbpf in the process is left alone.
 */
#ifndef SKEP_OBJECT_GLUE_H
#define SKEP_OBJECT_GLUE_H

#include <stddef.h>
#include <sys/epoll.h>
#include <sys/types.h>
#include <sys/vfs.h>

/* syscall(2), but bpf(2) is skep_bpf(), and there are no perf events. */
long skep_libbpf_syscall(long number, ...);

/* mmap(2), but a ring buffer's descriptor is mapped as the kernel lays it out. */
void *skep_libbpf_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
void *skep_libbpf_mmap64(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

/* epoll_ctl(2), but a ring buffer's descriptor stands for the eventfd behind it. */
int skep_libbpf_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);

/* unlink(2), mkdir(2) and statfs(2), but what lies below /sys/fs/bpf is sys/pin.h's. */
int skep_libbpf_unlink(const char *path);
int skep_libbpf_mkdir(const char *path, mode_t mode);
int skep_libbpf_statfs64(const char *path, struct statfs64 *out);

#endif
