/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/prog_type.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>

#define ANY  UINT64_MAX
#define NONE 1ull

static const struct prog_type types[] = {
#define PROG_TYPE(name, attach, otherwise, loadable) { #name, attach, otherwise, loadable },
#include "sys/prog_type.def"
};

enum { TYPES = sizeof(types) / sizeof(types[0]), BTF_ID_MAX = 0xfffff };

const struct prog_type *prog_type_find(uint32_t type)
{
	return type > 0 && type < TYPES ? &types[type] : NULL;
}

uint32_t prog_type_attach(uint32_t type, uint32_t attach)
{
	return !attach && type < TYPES ? types[type].otherwise : attach;
}

static bool type_has_target(uint32_t type)
{
	return type == BPF_PROG_TYPE_TRACING || type == BPF_PROG_TYPE_LSM ||
	       type == BPF_PROG_TYPE_STRUCT_OPS || type == BPF_PROG_TYPE_EXT;
}

int prog_type_check(uint32_t type, uint32_t attach, uint32_t btf_id)
{
	uint64_t mask = type < TYPES ? types[type].attach : ANY;

	if (btf_id && (btf_id > BTF_ID_MAX || !type_has_target(type)))
		return -EINVAL;
	if (mask == ANY)
		return 0;
	return attach < 64 && (mask >> attach & 1) ? 0 : -EINVAL;
}
