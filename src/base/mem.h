/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heap memory. Every allocation of the engine goes through here, so that a test can make the
 * n-th one fail (mem_fail_at) and see that nothing leaks and nothing is half done.
 */
#ifndef SKEP_BASE_MEM_H
#define SKEP_BASE_MEM_H

#include <stddef.h>

/* n * size zeroed bytes, or NULL when there is no memory, when n * size overflows or when a test
 * asked for this failure. mem_zalloc(0, x) returns a unique pointer. */
void *mem_zalloc(size_t n, size_t size);

/* As realloc(p, n * size) with overflow check; on NULL the old block stays valid. New bytes are
 * not zeroed. */
void *mem_resize(void *p, size_t n, size_t size);

/* A fresh copy of n bytes, or NULL. */
void *mem_dup(const void *p, size_t n);

char *mem_strdup(const char *s);

void mem_free(void *p);

/* Fault injection, for tests only: the count-th allocation of this thread from now on (1 = the
 * next) fails, and each after it when `sticky`; 0 switches it off. mem_fail_count() is the number
 * of allocations since then. */
void mem_fail_at(unsigned long count, int sticky);
unsigned long mem_fail_count(void);

/* For allocators elsewhere: counts an allocation; whether a test wants it to fail. */
int mem_must_fail(void);

#endif
