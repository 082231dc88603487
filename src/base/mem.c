/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __thread struct {
	unsigned long seen, at;
	int sticky;
} fail;

int mem_must_fail(void)
{
	fail.seen++;
	return fail.at && (fail.seen == fail.at || (fail.sticky && fail.seen > fail.at));
}

void mem_fail_at(unsigned long count, int sticky)
{
	fail.seen = 0;
	fail.at = count;
	fail.sticky = sticky;
}

unsigned long mem_fail_count(void)
{
	return fail.seen;
}

void *mem_zalloc(size_t n, size_t size)
{
	if (mem_must_fail())
		return NULL;
	if (n == 0 || size == 0)
		return calloc(1, 1);
	return calloc(n, size);
}

void *mem_resize(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (mem_must_fail() || __builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return realloc(p, bytes ? bytes : 1);
}

void *mem_dup(const void *p, size_t n)
{
	void *copy = mem_zalloc(n, 1);

	if (copy && n)
		memcpy(copy, p, n);
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s) + 1);
}

void mem_free(void *p)
{
	free(p);
}
