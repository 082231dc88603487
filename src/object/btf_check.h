/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_OBJECT_BTF_CHECK_H
#define SKEP_OBJECT_BTF_CHECK_H

struct report;

/* Checks what libbpf (1.1) takes for granted in an object's BTF: that references lead to types and
 * names into the strings, that chains of modifiers end, that functions have prototypes and sections
 * variables. An object without BTF is fine. 0 or -EINVAL with a message that names the type. */
int btf_check_file(const char *path, struct report *r);

#endif
