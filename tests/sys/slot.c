/* SPDX-License-Identifier: BSD-2-Clause */
/* Slots: a run has its slot to itself, with more threads than slots and across fork. */
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
	bool alone;

	slot_enter();
	n = percpu_this(counter);
	in = percpu_this(inside);
	alone = *in == 0;
	*in = 1;
	*n += 1;
	if (*n % 64 == 0)
		sched_yield();
	*in = 0;
	slot_leave();
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
			slot_prefer(i);
			slot_enter();
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

static void runs_nest_in_one_slot(void **state)
{
	char *self;

	assert_null(percpu_self);
	slot_enter();
	self = percpu_self;
	assert_non_null(self);
	slot_enter();
	assert_ptr_equal(percpu_self, self);
	slot_leave();
	assert_ptr_equal(percpu_self, self);
	slot_leave();
	assert_null(percpu_self);
}

static void *owner(void *arg)
{
	slot_enter();
	*(int *)arg = slot_current();
	slot_leave();
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
		cmocka_unit_test(runs_nest_in_one_slot),
		cmocka_unit_test(threads_that_ended_leave_their_slot),
	};

	setenv("SKEP_CPUS", "4", 0);
	if (slot_init())
		return 1;
	counter = percpu_alloc(8, 8);
	inside = percpu_alloc(8, 8);
	return cmocka_run_group_tests_name("slot", tests, NULL, NULL);
}
