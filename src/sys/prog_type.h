/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_SYS_PROG_TYPE_H
#define SKEP_SYS_PROG_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct prog_type {
	const char *name;
	uint64_t attach; /* bit by bpf_attach_type */
	uint32_t otherwise;
	bool loadable;
};

/* NULL: no such type in Linux 6.12. */
const struct prog_type *prog_type_find(uint32_t type);

/* What PROG_LOAD takes for expected_attach_type 0. */
uint32_t prog_type_attach(uint32_t type, uint32_t attach);

/* 0 or -EINVAL, as PROG_LOAD says before it looks at the instructions. btf_id: attach_btf_id. */
int prog_type_check(uint32_t type, uint32_t attach, uint32_t btf_id);

#endif
