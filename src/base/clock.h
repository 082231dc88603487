/* SPDX-License-Identifier: BSD-2-Clause */
/* Time in nanoseconds. */
#ifndef SKEP_BASE_CLOCK_H
#define SKEP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What the clock (CLOCK_*) says. Async-signal-safe. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
