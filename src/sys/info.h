/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_SYS_INFO_H
#define SKEP_SYS_INFO_H

#include "run/prog.h"
#include "sys/cmd.h"

/* The client's info structure, of which we know `size` bytes; what is longer must be zero behind
 * (-E2BIG). *len is how much of ours the client has. */
int info_read(const struct attr_info *a, void *info, uint32_t size, uint32_t *len);
int info_write(const struct attr_info *a, const struct call *call, const void *info, uint32_t len);

int info_prog(const struct attr_info *a, const struct call *call, struct prog *p);

#endif
