/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots: a run has its slot to itself, with more threads than slots and across fork. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/percpu.h"
#include "run/slot.h"

enum { ROUNDS = 3000, THREADS = 9 };

static uint32_t counter; /* percpu offset: runs counted without atomics */
static uint32_t inside;	 /* percpu offset: set while a run is in the slot */

static bool run_once(void)
{
	volatile uint64_t *n, *in;
	struct slot_run run;
	bool alone;

	if (slot_enter(&run))
		return false;
	n = percpu_this(counter);
	in = percpu_this(inside);
	alone = *in == 0;
	*in = 1;
	*n += 1;
	if (*n % 64 == 0)
		sched_yield();
	*in = 0;
	slot_leave(&run);
	return alone;
}

static void *runs(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		if (!run_once())
			return "not alone";
	}
	return NULL;
}

static uint64_t total(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < percpu_slots(); i++)
		sum += *(uint64_t *)percpu_at(i, counter);
	return sum;
}

static void clear(void)
{
	for (unsigned i = 0; i < percpu_slots(); i++)
		*(uint64_t *)percpu_at(i, counter) = 0;
}

static void no_run_is_lost_by_more_threads_than_slots(void **state)
{
	pthread_t t[THREADS];
	void *bad;

	clear();
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, runs, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(t[i], &bad), 0);
		assert_null(bad);
	}
	assert_int_equal(total(), THREADS * ROUNDS);
}

static void no_run_is_lost_by_processes(void **state)
{
	pid_t child[3];
	int status;

	clear();
	assert_true(run_once());
	for (unsigned i = 0; i < 3; i++) {
		child[i] = fork();
		if (!child[i])
			_exit(runs(NULL) != NULL);
	}
	assert_null(runs(NULL));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(total(), 4 * ROUNDS + 1);
}

static void a_killed_process_gives_its_slots_back(void **state)
{
	unsigned n = percpu_slots();
	int ready[2], status;
	char c;

	assert_int_equal(pipe(ready), 0);
	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();

		if (!child) {
			struct slot_run run;

			slot_prefer(i);
			slot_enter(&run);
			_exit(write(ready[1], "x", 1) != 1);
		}
		assert_int_equal(read(ready[0], &c, 1), 1);
		assert_int_equal(waitpid(child, &status, 0), child);
	}
	for (unsigned i = 0; i < n; i++) {
		*(uint64_t *)percpu_at(i, inside) = 0;
		assert_int_equal(slot_prefer(i), 0);
		assert_true(run_once());
	}
	close(ready[0]);
	close(ready[1]);
}

/* Runs within a hold share its slot; a run that interrupts a run gets another one. */
static void runs_nest(void **state)
{
	struct slot_run hold, run, inner, deeper;
	char *self;

	assert_null(percpu_self);
	assert_int_equal(slot_hold(&hold), 0);
	self = percpu_self;
	assert_non_null(self);
	assert_int_equal(slot_enter(&run), 0);
	assert_ptr_equal(percpu_self, self);
	assert_int_equal(slot_hold(&inner), 0);
	assert_ptr_not_equal(percpu_self, self);
	self = percpu_self;
	assert_int_equal(slot_enter(&deeper), 0);
	assert_ptr_equal(percpu_self, self);
	slot_leave(&deeper);
	slot_leave(&inner);
	assert_ptr_equal(percpu_self,
			 hold.self ? hold.self : percpu_base((unsigned)slot_current()));
	slot_leave(&run);
	slot_leave(&hold);
	assert_null(percpu_self);
}

/* One thread holds every slot in runs that interrupted each other: the next is refused, and the
 * others are as they were. */
static void a_run_without_a_slot_is_refused(void **state)
{
	struct slot_run run[PERCPU_SLOTS_MAX], more;
	unsigned n = percpu_slots();

	for (unsigned i = 0; i < n; i++)
		assert_int_equal(slot_enter(&run[i]), 0);
	assert_int_equal(slot_enter(&more), -EBUSY);
	while (n--)
		slot_leave(&run[n]);
	assert_true(run_once());
}

static void *owner(void *arg)
{
	struct slot_run run;

	slot_enter(&run);
	*(int *)arg = slot_current();
	slot_leave(&run);
	return NULL;
}

static void threads_that_ended_leave_their_slot(void **state)
{
	for (unsigned i = 0; i < 4 * percpu_slots(); i++) {
		pthread_t t;
		int slot = -1;

		assert_int_equal(pthread_create(&t, NULL, owner, &slot), 0);
		assert_int_equal(pthread_join(t, NULL), 0);
		assert_in_range(slot, 0, percpu_slots() - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_run_is_lost_by_more_threads_than_slots),
		cmocka_unit_test(no_run_is_lost_by_processes),
		cmocka_unit_test(a_killed_process_gives_its_slots_back),
		cmocka_unit_test(runs_nest),
		cmocka_unit_test(a_run_without_a_slot_is_refused),
		cmocka_unit_test(threads_that_ended_leave_their_slot),
	};

	setenv("SKEP_CPUS", "4", 0);
	if (slot_init())
		return 1;
	counter = percpu_alloc(8, 8);
	inside = percpu_alloc(8, 8);
	return cmocka_run_group_tests_name("slot", tests, NULL, NULL);
}
