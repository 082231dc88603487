/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands of cmd.def share. Internal to sys/. */
#ifndef SKEP_SYS_CMD_H
#define SKEP_SYS_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/attr.h"

/* The call as the client made it: handlers write results to `attr`, and only as far as `size`. */
struct call {
	void *attr;
	unsigned size;
};

enum {
#define CMD(name, handler, member, last) CMD_##name,
#include "sys/cmd.def"
	CMD_COUNT
};

#define CMD(name, handler, member, last)                                                           \
	int cmd_##handler(union attr *attr, const struct call *call);
#include "sys/cmd.def"

/* Errors of the kernel that libc has no name for. */
enum { E_NOTSUPP = 524 };

/* n bytes from the caller's address. -EFAULT when it cannot be read. */
int user_read(void *to, uint64_t from, size_t n);

/* n bytes to the caller's address. -EFAULT when it cannot be written. */
int user_write(uint64_t to, const void *from, size_t n);

/* A fresh copy of n bytes (mem_free). -EFAULT, -ENOMEM. */
int user_dup(uint64_t from, size_t n, void **out);

/* At most size - 1 characters and a NUL. The length, -EFAULT, or -E2BIG when there was no NUL. */
int user_string(char *to, uint64_t from, size_t size);

/* 0 when the n bytes are all zero, -E2BIG when not, -EFAULT. */
int user_zero(uint64_t from, size_t n);

/* A result field of the client's attributes, left out where they are too short to have it. */
int attr_write(const struct call *call, size_t offset, const void *from, size_t n);
#define ATTR_RESULT(call, member, value)                                                           \
	attr_write(call, offsetof(union attr, member), &(value), sizeof(value))

/* What a token's descriptor gives, of which there are none: -EBADF or -EINVAL. */
int token_error(int fd);

/* O_RDWR, O_RDONLY or O_WRONLY for BPF_F_RDONLY, BPF_F_WRONLY in flags; -EINVAL for both. */
int flags_mode(uint32_t flags);

/* An object's name as the kernel takes it: at most 15 of [A-Za-z0-9_.], NUL-padded. -EINVAL. */
int name_check(const char name[16]);

#endif
