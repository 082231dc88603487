/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies from and to addresses of this process that may be bad. It is the kernel that touches
 * them, so a bad one is an error and no signal: right for any address and without a handler.
 */
#ifndef SKEP_BASE_REACH_H
#define SKEP_BASE_REACH_H

#include <stddef.h>
#include <stdint.h>

/* 0, or -EFAULT where not all of `from` can be read; what `to` holds then is not said. */
int reach_read(void *to, uint64_t from, size_t n);

/* 0, or -EFAULT where not all of `to` can be written; a part may have been. */
int reach_write(uint64_t to, const void *from, size_t n);

#endif
