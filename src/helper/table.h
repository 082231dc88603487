/* SPDX-License-Identifier: BSD-2-Clause */
/* The helpers as one table for each kind of context, made from isa/helper.def. */
#ifndef SKEP_HELPER_TABLE_H
#define SKEP_HELPER_TABLE_H

#include "isa/abi.h"
#include "isa/helper.h"

/* Programs that see a socket buffer. */
extern const struct env helper_env;

/* XDP programs: some helpers with the same number take another context. */
extern const struct env helper_env_xdp;

/* The one for this BPF_PROG_TYPE_*. */
const struct env *helper_env_of(uint32_t prog_type);

#endif
