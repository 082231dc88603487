/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/lock.h"

#include <sched.h>
#include <time.h>

enum { SPINS = 200, YIELDS = 200, SLEEP_NS = 50000 };

__thread volatile uint32_t lock_depth;

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* The n-th round of waiting: the holder runs on another CPU; or waits for ours; or has a lower
 * priority than we, and only sleeping lets it run. */
static void wait_round(unsigned n)
{
	const struct timespec t = { 0, SLEEP_NS };

	if (n < SPINS)
		pause_cpu();
	else if (n < SPINS + YIELDS)
		sched_yield();
	else
		nanosleep(&t, NULL);
}

void lock_wait(uint32_t *word)
{
	for (unsigned n = 0;; n += n < SPINS + YIELDS) {
		if (!__atomic_load_n(word, __ATOMIC_RELAXED) && lock_try(word))
			return;
		wait_round(n);
	}
}
