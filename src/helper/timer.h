/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_timer without a thread: a timer that is due fires when its program is run the next time, or
 * when a run of it ends, on that thread. A program that is never run again never sees it fire.
 */
#ifndef SKEP_HELPER_TIMER_H
#define SKEP_HELPER_TIMER_H

#include <stdint.h>

/* What this thread runs from now on: a number that no other program ever has; 0: nothing. Timers
 * that get their callback meanwhile belong to it. Returns what was set before. */
uint64_t timer_owner_set(uint64_t owner);

/* Calls the callbacks of the owner's timers that are due. Inside of a run (percpu_self is set).
 * Cheap when no timer runs. */
void timer_fire(uint64_t owner);

#endif
