/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/slot.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "base/percpu.h"

/* The lock word is 0, or the holder's thread id, with LOCK_WAITED when someone sleeps on it. */
#define LOCK_WAITED 0x80000000u

static __thread struct {
	uint32_t tid;
	int32_t slot_plus_1; /* owned slot, 0: none yet */
	uint32_t depth;	     /* runs that this thread is in */
	uint32_t held;	     /* slot held while depth > 0 */
} self;

static pthread_key_t exit_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int init_err;

static struct percpu_head *slot_head(unsigned slot)
{
	return (struct percpu_head *)percpu_base(slot);
}

static bool thread_is_gone(uint32_t tid)
{
	return tid && kill((pid_t)tid, 0) && errno == ESRCH;
}

/* Takes the word from 0, or from a thread that no longer exists, for `tid`. */
static bool word_take(uint32_t *word, uint32_t tid)
{
	uint32_t old = 0;

	if (__atomic_compare_exchange_n(word, &old, tid, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return true;
	return thread_is_gone(old & ~LOCK_WAITED) &&
	       __atomic_compare_exchange_n(word, &old, tid | (old & LOCK_WAITED), false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void slot_disown(void *unused)
{
	uint32_t tid = self.tid;

	(void)unused;
	if (self.slot_plus_1)
		__atomic_compare_exchange_n(&slot_head((unsigned)self.slot_plus_1 - 1)->owner, &tid,
					    0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	self.slot_plus_1 = 0;
}

/* The child is another thread: it owns nothing. A run that it was forked from goes on in the
 * parent, which holds the lock; the child's copy of that run must not release it. */
static void slot_forked(void)
{
	self.tid = 0;
	self.slot_plus_1 = 0;
	urcu_bp_after_fork_child();
}

static void slot_setup(void)
{
	init_err = percpu_init();
	if (!init_err)
		init_err = -pthread_key_create(&exit_key, slot_disown);
	if (!init_err)
		init_err =
		    -pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent, slot_forked);
}

int slot_init(void)
{
	pthread_once(&once, slot_setup);
	return init_err;
}

static bool slot_own(unsigned slot)
{
	if (!word_take(&slot_head(slot)->owner, self.tid))
		return false;
	self.slot_plus_1 = (int32_t)slot + 1;
	pthread_setspecific(exit_key, &self);
	return true;
}

/* Looks for a slot without an owner, first the one of the CPU that this thread is on. */
static bool slot_adopt(void)
{
	unsigned n = percpu_slots(), first = (unsigned)sched_getcpu() % n;

	if (!self.tid)
		self.tid = (uint32_t)syscall(SYS_gettid);
	for (unsigned i = 0; i < n; i++) {
		if (slot_own((first + i) % n))
			return true;
	}
	return false;
}

static bool slot_try(unsigned slot)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(&slot_head(slot)->lock, &free, self.tid, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Sleeps at most 10 ms while the slot's lock is held by another thread. Waking up by time is how
 * a holder that died (another process, killed) is noticed. */
static void slot_sleep(unsigned slot)
{
	const struct timespec limit = { .tv_nsec = 10 * 1000 * 1000 };
	uint32_t *lock = &slot_head(slot)->lock;
	uint32_t now = __atomic_load_n(lock, __ATOMIC_RELAXED);

	if (!now)
		return;
	if (!(now & LOCK_WAITED) &&
	    !__atomic_compare_exchange_n(lock, &now, now | LOCK_WAITED, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	syscall(SYS_futex, lock, FUTEX_WAIT, now | LOCK_WAITED, &limit, NULL, 0);
}

static void slot_lock(unsigned slot)
{
	while (!word_take(&slot_head(slot)->lock, self.tid))
		slot_sleep(slot);
}

/* Any free slot, or a wait for one; for threads that found no slot to own. */
static unsigned slot_borrow(void)
{
	static uint32_t turn;
	unsigned n = percpu_slots();

	for (;;) {
		unsigned first = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % n;

		for (unsigned i = 0; i < n; i++) {
			if (slot_try((first + i) % n))
				return (first + i) % n;
		}
		slot_sleep(first);
		if (word_take(&slot_head(first)->lock, self.tid))
			return first;
	}
}

void slot_enter(void)
{
	if (self.depth++)
		return;
	if (self.slot_plus_1 || slot_adopt()) {
		self.held = (uint32_t)self.slot_plus_1 - 1;
		if (!slot_try(self.held))
			slot_lock(self.held);
	} else {
		self.held = slot_borrow();
	}
	percpu_self = percpu_base(self.held);
}

static void slot_unlock(unsigned slot)
{
	uint32_t *lock = &slot_head(slot)->lock, mine = self.tid;

	if (__atomic_compare_exchange_n(lock, &mine, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	if ((mine & ~LOCK_WAITED) != self.tid)
		return;
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, lock, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void slot_leave(void)
{
	if (--self.depth)
		return;
	percpu_self = NULL;
	slot_unlock(self.held);
}

int slot_current(void)
{
	return self.depth ? (int)self.held : (int)self.slot_plus_1 - 1;
}

int slot_prefer(unsigned slot)
{
	if (self.depth)
		return -EBUSY;
	if (slot >= percpu_slots())
		return -EINVAL;
	if (!self.tid)
		self.tid = (uint32_t)syscall(SYS_gettid);
	if (self.slot_plus_1 == (int32_t)slot + 1)
		return 0;
	slot_disown(NULL);
	/* Where another thread owns the slot, both use it in turn, under its lock. */
	if (!slot_own(slot))
		self.slot_plus_1 = (int32_t)slot + 1;
	return 0;
}
