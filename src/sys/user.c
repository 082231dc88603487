/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller's memory. A bad address gives EFAULT. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/reach.h"
#include "sys/cmd.h"

/* The first page is nobody's, even where a process has mapped it. */
static bool may_be_there(uint64_t far, size_t n)
{
	return !n || far >= 4096;
}

int user_read(void *to, uint64_t from, size_t n)
{
	return may_be_there(from, n) ? reach_read(to, from, n) : -EFAULT;
}

int user_write(uint64_t to, const void *from, size_t n)
{
	return may_be_there(to, n) ? reach_write(to, from, n) : -EFAULT;
}

int user_dup(uint64_t from, size_t n, void **out)
{
	void *copy = mem_zalloc(n, 1);
	int err = copy ? user_read(copy, from, n) : -ENOMEM;

	if (err) {
		mem_free(copy);
		return err;
	}
	*out = copy;
	return 0;
}

/* The string may end right before unreadable memory, so no read crosses a page. */
int user_string(char *to, uint64_t from, size_t size)
{
	size_t n = 0;

	while (n < size) {
		size_t room = 4096 - (size_t)((from + n) & 4095);
		size_t part = size - n < room ? size - n : room;
		int err = user_read(to + n, from + n, part);
		const char *end;

		if (err)
			return err;
		end = memchr(to + n, 0, part);
		if (end)
			return (int)(end - to);
		n += part;
	}
	to[size - 1] = '\0';
	return -E2BIG;
}

int user_zero(uint64_t from, size_t n)
{
	uint8_t part[256];

	while (n) {
		size_t len = n < sizeof(part) ? n : sizeof(part);
		int err = user_read(part, from, len);

		if (err)
			return err;
		for (size_t i = 0; i < len; i++) {
			if (part[i])
				return -E2BIG;
		}
		from += len;
		n -= len;
	}
	return 0;
}

int attr_write(const struct call *call, size_t offset, const void *from, size_t n)
{
	if (offset + n > call->size)
		return 0;
	return user_write((uint64_t)(uintptr_t)call->attr + offset, from, n);
}
