/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of btf/ share. */
#ifndef SKEP_BTF_IMPL_H
#define SKEP_BTF_IMPL_H

#include "btf/btf.h"

/* Splits the data into types and checks each on its own. Fills b->types. */
int btf_obj_metas(struct btf_obj *b, const uint8_t *types, uint32_t len, struct report *log);

/* Checks what types say about each other, and fills b->sizes and b->bases. */
int btf_obj_resolve(struct btf_obj *b, struct report *log);

/* Structs with a bpf_spin_lock could be allocated by a program: -E2BIG when one has two, -EINVAL
 * when it is misaligned. */
int btf_obj_locks(const struct btf_obj *b);

/* Is there a name made as C identifiers are ('.' allowed)? */
bool btf_obj_identifier(const struct btf_obj *b, uint32_t off);

#endif
