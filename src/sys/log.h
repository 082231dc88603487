/* SPDX-License-Identifier: BSD-2-Clause */
/* The log buffer that PROG_LOAD and BTF_LOAD fill for the client. */
#ifndef SKEP_SYS_LOG_H
#define SKEP_SYS_LOG_H

#include <stdint.h>

#include "base/report.h"

struct user_log {
	uint32_t level, size;
	uint64_t buf;
};

/* Levels that there are, beside verify.h's: the first part of what does not fit is kept. */
enum { LOG_FIXED = 8, LOG_KNOWN = 15 };

/* Buffer and size come together, with a level; -EINVAL otherwise. */
int log_check(const struct user_log *l);

/* An empty report that keeps as much as the client has room for. */
struct report log_report(const struct user_log *l);

/* Writes the text where the client wants it: when it does not fit, its last part, or with
 * LOG_FIXED its first. *true_size is what it needs, NUL included (0 without a level), our words on
 * a refusal among it even where they gave way. 0, -ENOSPC when something of the kernel's was left
 * out, -EFAULT. */
int log_finish(const struct user_log *l, const struct report *r, uint32_t *true_size);

#endif
