/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slots: skep's CPUs. A running program has its slot to itself from entry to exit.
 *
 * A thread owns a slot from its first run until it ends; when there are more threads than slots,
 * the others borrow one for the length of a run. Either way the slot's lock is held during a run,
 * so a slot is never shared. Owner and lock are words in the slot's shared memory
 * (base/percpu.h), hence they hold across fork() too.
 */
#ifndef SKEP_RUN_SLOT_H
#define SKEP_RUN_SLOT_H

/* Makes slots usable (maps the per-CPU region). 0 or -errno. Thread-safe, cheap when done. */
int slot_init(void);

/* Enters a run: this thread holds a slot and percpu_self points to it. Runs may nest on a thread
 * (a helper that runs a program, a signal handler): they keep the slot. Waits while all slots
 * are taken. After slot_init succeeded. */
void slot_enter(void);

/* Leaves the innermost run of this thread. */
void slot_leave(void);

/* Number of the slot that this thread runs in, or would be given first; -1 when it has none. */
int slot_current(void);

/* Makes the next runs of this thread use one given slot (PROG_TEST_RUN with a CPU; tests).
 * -EINVAL when there is no such slot, -EBUSY inside of a run. */
int slot_prefer(unsigned slot);

#endif
