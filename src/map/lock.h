/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Locks that lie in shared memory: one 32-bit word, 0 when free, 1 when held. They work between
 * processes. They are held for some tens of instructions; who has to wait spins, then yields, then
 * sleeps for short times, so that giving a lock back is a plain store. bpf_spin_lock is one too.
 */
#ifndef SKEP_MAP_LOCK_H
#define SKEP_MAP_LOCK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

void lock_wait(uint32_t *word);

static inline bool lock_try(uint32_t *word)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline void lock_take(uint32_t *word)
{
	if (!lock_try(word))
		lock_wait(word);
}

static inline void lock_drop(uint32_t *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* Locks that this thread holds inside of map operations. A signal handler that interrupts a holder
 * must not wait for it: an operation begins with lock_enter, which gives -EBUSY then, as the
 * kernel's maps do for nested use. */
extern __thread volatile uint32_t lock_depth __attribute__((tls_model("initial-exec")));

static inline int lock_enter(void)
{
	if (lock_depth)
		return -EBUSY;
	lock_depth = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 0;
}

static inline void lock_leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lock_depth = 0;
}

#endif
