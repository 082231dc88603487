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

/* Signal handlers that interrupt any of the code below leave all of this as they found it. */
static __thread struct {
	uint32_t tid;
	int32_t slot_plus_1; /* owned slot, 0: none yet */
	uint32_t held;	     /* slot held while depth is not 0 */
	volatile uint8_t depth;
	volatile uint8_t running; /* a program is under way in it */
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

/* Takes the slot's lock if it is free or its holder is gone, whatever that one waited for. */
static bool slot_seize(unsigned slot)
{
	bool taken = word_take(&slot_head(slot)->lock, self.tid);

	if (taken)
		__atomic_store_n(&slot_head(slot)->stuck, 0, __ATOMIC_RELAXED);
	return taken;
}

static void slot_lock(unsigned slot)
{
	while (!slot_seize(slot))
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
		if (slot_seize(first))
			return first;
	}
}

static bool slot_is_mine(unsigned slot)
{
	return (__atomic_load_n(&slot_head(slot)->lock, __ATOMIC_RELAXED) & ~LOCK_WAITED) ==
	       self.tid;
}

/* A slot whose lock this thread holds though it holds none: a signal came while it was about to
 * enter or had just left. No program is under way in it; whom we interrupted unlocks it. */
static bool slot_between(unsigned *slot)
{
	unsigned n = percpu_slots();

	for (*slot = 0; *slot < n; ++*slot)
		if (slot_is_mine(*slot))
			return true;
	return false;
}

/* A slot for a thread that holds none. False: it need not be unlocked. */
static bool slot_first(unsigned *slot)
{
	bool own = self.slot_plus_1 || slot_adopt();

	*slot = (unsigned)self.slot_plus_1 - 1;
	if (own && slot_try(*slot))
		return true;
	if (slot_between(slot))
		return false;
	*slot = own ? (unsigned)self.slot_plus_1 - 1 : slot_borrow();
	if (own)
		slot_lock(*slot);
	return true;
}

/* Says of all slots that this thread holds whether their runs wait for another one. */
static void slots_stuck(uint32_t stuck)
{
	for (unsigned i = 0; i < percpu_slots(); i++)
		if (slot_is_mine(i))
			__atomic_store_n(&slot_head(i)->stuck, stuck, __ATOMIC_SEQ_CST);
}

/* The first slot whose run will come to its end, or the number of slots. */
static unsigned slot_unstuck(void)
{
	unsigned i = 0;

	while (i < percpu_slots() && __atomic_load_n(&slot_head(i)->stuck, __ATOMIC_SEQ_CST))
		i++;
	return i;
}

/* A slot that this thread does not hold. When every slot is held by a run that waits here, nobody
 * goes on unless one gives up; the last to come sees it. */
static int slot_other(unsigned *slot, uint8_t *locked)
{
	unsigned n = percpu_slots(), next = n;

	for (;;) {
		for (*slot = 0; *slot < n && !slot_seize(*slot);)
			++*slot;
		*locked = *slot < n;
		slots_stuck(!*locked);
		next = *locked ? n : slot_unstuck();
		if (next == n)
			break;
		slot_sleep(next);
	}
	slots_stuck(0);
	return *locked ? 0 : -EBUSY;
}

static int slot_take(struct slot_run *run, uint8_t running)
{
	unsigned slot = self.held;
	int err = 0;

	if (!self.tid)
		self.tid = (uint32_t)syscall(SYS_gettid);
	*run = (struct slot_run){ percpu_self, self.held, self.depth, self.running, false };
	if (!self.depth)
		run->locked = slot_first(&slot);
	else if (self.running)
		err = slot_other(&slot, &run->locked);
	if (err)
		return err;
	self.held = slot;
	percpu_self = percpu_base(slot);
	percpu_cpu = slot;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.running = running;
	self.depth = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 0;
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

/* A handler that comes in here must not take the slot that we give back for free of programs, nor
 * the one that we go back to: in the first case depth is 0 before anything else changes, in the
 * second `running` stays set. */
void slot_leave(const struct slot_run *run)
{
	unsigned slot = self.held;

	self.running |= run->running;
	self.depth = run->depth;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.held = run->held;
	percpu_self = run->self;
	percpu_cpu = run->held;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self.running = run->running;
	if (run->locked)
		slot_unlock(slot);
}

int slot_enter(struct slot_run *run)
{
	return slot_take(run, 1);
}

int slot_hold(struct slot_run *run)
{
	return slot_take(run, 0);
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
