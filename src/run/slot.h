/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots: skep's CPUs. A running program has its slot to itself from entry to exit.
 *
 * A thread owns a slot from its first run until it ends; when there are more threads than slots,
 * the others borrow one for the length of a run. Either way the slot's lock is held during a run,
 * so a slot is never shared. Owner and lock are words in the slot's shared memory
 * (base/percpu.h), hence they hold across fork() too.
 *
 * A run that begins while another one of the same thread is under way (a signal handler that runs
 * a program) gets another slot: the interrupted program may stand between the load and the store
 * of an increment. It waits for one unless all slots are held by runs that wait in the same way;
 * then it is refused, as the kernel refuses a program that interrupted one of its own kind.
 */
#ifndef SKEP_RUN_SLOT_H
#define SKEP_RUN_SLOT_H

#include <stdint.h>

/* What a run or a hold found, for its end to restore. Lives on the caller's stack. */
struct slot_run {
	char *self;    /* percpu_self */
	uint32_t held; /* slot that is held */
	uint8_t depth; /* 0: none was */
	uint8_t running;
	uint8_t locked; /* this one took the slot's lock */
};

/* Makes slots usable (maps the per-CPU region). 0 or -errno. Thread-safe, cheap when done. */
int slot_init(void);

/* Enters a run of a program: this thread holds a slot and percpu_self points to it. Within a hold
 * it is the slot that is held. Waits while all slots are taken. 0, or -EBUSY (see above; then there
 * is nothing to leave). After slot_init succeeded. Async-signal-safe once the thread has run
 * something. */
int slot_enter(struct slot_run *run);

/* The same without a program that runs: for who prepares several runs in one slot. */
int slot_hold(struct slot_run *run);

/* Ends a run or a hold. */
void slot_leave(const struct slot_run *run);

/* Number of the slot that this thread holds, or would be given first; -1 when it has none. */
int slot_current(void);

/* Makes the next runs of this thread use one given slot (PROG_TEST_RUN with a CPU; tests).
 * -EINVAL when there is no such slot, -EBUSY while one is held. */
int slot_prefer(unsigned slot);

#endif
