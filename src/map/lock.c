/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPINS = 100 };

__thread volatile uint32_t lock_depth;

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Spins for a while, then marks the lock as waited for and sleeps. Whoever takes it here takes it
 * as 2: there may be further sleepers, and a wake-up too many does no harm. */
void lock_wait(uint32_t *word)
{
	for (int i = 0; i < SPINS; i++) {
		if (!__atomic_load_n(word, __ATOMIC_RELAXED) && lock_try(word))
			return;
		pause_cpu();
	}
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, word, FUTEX_WAIT, 2, NULL, NULL, 0);
}

void lock_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
