/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * skep: BPF in user space. The whole engine stands behind one call with the meaning of bpf(2);
 * the rest of this header is convenience above it.
 */
#ifndef SKEP_SKEP_H
#define SKEP_SKEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SKEP_API __attribute__((visibility("default")))

union bpf_attr;

/*
 * Does what bpf(2) does in Linux 6.12, for the commands that docs/compat.md lists. `attr` may be
 * shorter (its missing tail counts as zero) or longer (bytes beyond what skep knows must be zero,
 * else E2BIG) than this header's union. File descriptors are real: close(2), dup(2) and fork(2)
 * work on them. Returns a result >= 0, or -1 with errno set. Any thread, no locks held.
 */
SKEP_API int skep_bpf(int cmd, union bpf_attr *attr, unsigned size);

#ifdef __cplusplus
}
#endif

#endif
