/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinned objects: a table of paths of this process, which stands for /sys/fs/bpf. Nothing is made
 * in the real file system, and the real /sys/fs/bpf is not looked at.
 */
#ifndef SKEP_SYS_PIN_H
#define SKEP_SYS_PIN_H

#include <stdbool.h>

/* Whether the path lies in our bpffs. */
bool pin_covers(const char *path);

/* As unlink(2) there: 0 or -ENOENT. */
int pin_remove(const char *path);

#endif
