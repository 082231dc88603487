/* SPDX-License-Identifier: BSD-2-Clause */
/* What BTF says of a program's functions: which are global, and their arguments. */
#ifndef SKEP_VERIFY_SUBS_H
#define SKEP_VERIFY_SUBS_H

#include <linux/bpf.h>

#include "btf/btf.h"
#include "verify/verify.h"

/* Fresh rows (mem_free), one for each subprogram; names belong to b. funcs: n rows of func_info,
 * one for each subprogram in order, or none. 0 or -ENOMEM. */
int subs_make(const struct unit *u, const struct btf_obj *b, const struct bpf_func_info *funcs,
	      uint32_t n, uint32_t prog_type, struct verify_sub **out);

#endif
