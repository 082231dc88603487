/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/log.h"

#include <errno.h>
#include <limits.h>

#include "sys/cmd.h"

int log_check(const struct user_log *l)
{
	if (!l->buf != !l->size)
		return -EINVAL;
	if (l->buf && !l->level)
		return -EINVAL;
	if (l->level & ~(uint32_t)LOG_KNOWN)
		return -EINVAL;
	return l->size > UINT_MAX >> 2 ? -EINVAL : 0;
}

struct report log_report(const struct user_log *l)
{
	return (struct report){ .limit = l->buf && l->size ? l->size : 1,
				.rolling = !(l->level & LOG_FIXED) };
}

int log_finish(const struct user_log *l, const struct report *r, uint32_t *true_size)
{
	const char *text = r->text ? r->text : "";
	size_t n = r->n, room, skip, all = r->most + r->gave_way;

	*true_size = !l->level ? 0 : all < UINT32_MAX ? (uint32_t)all + 1 : UINT32_MAX;
	if (!l->level || !l->buf)
		return 0;
	room = l->size - 1;
	skip = n > room && !(l->level & LOG_FIXED) ? n - room : 0;
	n = n < room ? n : room;
	if (user_write(l->buf, text + skip, n) || user_write(l->buf + n, "", 1))
		return -EFAULT;
	return r->most > room ? -ENOSPC : 0;
}
