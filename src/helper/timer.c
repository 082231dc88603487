/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper/timer.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/percpu.h"
#include "base/vec.h"
#include "helper/impl.h"
#include "map/map.h"

/* struct bpf_timer in a value holds the number of a row here, from 1 on. A row is never given
 * back: whoever still has its number finds it idle. */
struct timer {
	struct map *map; /* a reference while due is set */
	uint64_t value;	 /* address of the bpf_timer */
	uint64_t callback, owner;
	uint64_t due; /* ns of its clock; 0: not running */
	clockid_t clock;
};

static struct {
	pthread_mutex_t lock;
	VEC(struct timer) rows;
	uint32_t running; /* rows with due != 0; read without the lock */
} timers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread uint64_t owner_now;
static __thread uint64_t firing; /* address of the bpf_timer whose callback runs */

uint64_t timer_owner_set(uint64_t owner)
{
	uint64_t old = owner_now;

	owner_now = owner;
	return old;
}

/* The row that the bpf_timer at `at` has; a copy of the value elsewhere has none. */
static struct timer *timer_of(uint64_t at)
{
	uint64_t id = *(const uint64_t *)ptr_of(at);

	if (!id || id > timers.rows.n || timers.rows.at[id - 1].value != at)
		return NULL;
	return &timers.rows.at[id - 1];
}

static void timer_due_set(struct timer *t, uint64_t due)
{
	uint32_t n = timers.running + (due != 0) - (t->due != 0);

	if (due && !t->due)
		obj_get(&t->map->obj);
	t->due = due;
	__atomic_store_n(&timers.running, n, __ATOMIC_RELEASE);
}

static int timer_init(uint64_t at, struct map *m, uint64_t flags)
{
	struct timer t = { .map = m, .value = at, .clock = (clockid_t)flags };

	if (flags != CLOCK_REALTIME && flags != CLOCK_MONOTONIC && flags != CLOCK_BOOTTIME)
		return -EINVAL;
	if (timer_of(at))
		return -EBUSY;
	if (vec_push(&timers.rows, t))
		return -ENOMEM;
	*(uint64_t *)ptr_of(at) = timers.rows.n;
	return 0;
}

HELPER_FN(timer_init, r1, r2, r3, r4, r5)
{
	int err;

	pthread_mutex_lock(&timers.lock);
	err = timer_init(r1, ptr_of(r2), r3);
	pthread_mutex_unlock(&timers.lock);
	return helper_err(err);
}

HELPER_FN(timer_set_callback, r1, r2, r3, r4, r5)
{
	struct timer *t;

	pthread_mutex_lock(&timers.lock);
	t = timer_of(r1);
	if (t) {
		t->callback = r2;
		t->owner = owner_now;
	}
	pthread_mutex_unlock(&timers.lock);
	return helper_err(t ? 0 : -EINVAL);
}

HELPER_FN(timer_start, r1, r2, r3, r4, r5)
{
	enum { ABSOLUTE = 1, CPU_PIN = 2 };
	struct timer *t;
	bool ok;

	if (r3 & ~(uint64_t)(ABSOLUTE | CPU_PIN))
		return helper_err(-EINVAL);
	pthread_mutex_lock(&timers.lock);
	t = timer_of(r1);
	ok = t && t->callback;
	if (ok) {
		uint64_t due = r2 + (r3 & ABSOLUTE ? 0 : clock_ns(t->clock));

		timer_due_set(t, due ? due : 1);
	}
	pthread_mutex_unlock(&timers.lock);
	return helper_err(ok ? 0 : -EINVAL);
}

HELPER_FN(timer_cancel, r1, r2, r3, r4, r5)
{
	struct map *held = NULL;
	struct timer *t;
	int ret = -EINVAL;

	if (r1 == firing)
		return helper_err(-EDEADLK);
	pthread_mutex_lock(&timers.lock);
	t = timer_of(r1);
	if (t) {
		ret = t->due != 0;
		held = t->due ? t->map : NULL;
		timer_due_set(t, 0);
		t->callback = 0;
	}
	pthread_mutex_unlock(&timers.lock);
	if (held)
		obj_put(&held->obj);
	return helper_err(ret);
}

/* The key of the value that holds the timer, by search. -ENOENT when the element is gone. */
static int key_find(const struct timer *t, const uint8_t *value, void *key)
{
	struct map *m = t->map;
	int err = m->ops->next_key ? m->ops->next_key(m, NULL, key) : -ENOENT;

	while (!err && m->ops->lookup(m, key) != value)
		err = m->ops->next_key(m, key, key);
	return err;
}

/* The element is not the one any more that the timer was made in. */
static bool timer_is_stale(const struct timer *t, size_t row)
{
	return *(const uint64_t *)ptr_of(t->value) != row + 1;
}

static void timer_call(const struct timer *t)
{
	uint8_t *value = (uint8_t *)ptr_of(t->value) - t->map->desc.timer_off;
	void *key = mem_zalloc(1, t->map->desc.key_size);

	if (t->callback && key && key_find(t, value, key) == 0) {
		firing = t->value;
		callback_call(t->callback, (uintptr_t)t->map, (uintptr_t)key, (uintptr_t)value, 0,
			      0);
		firing = 0;
	}
	mem_free(key);
	obj_put(&t->map->obj);
}

/* Takes a due timer of owner out, with its map's reference; false when there is none. */
static bool timer_take(uint64_t owner, struct timer *out)
{
	bool found = false;

	pthread_mutex_lock(&timers.lock);
	for (size_t i = 0; i < timers.rows.n && !found; i++) {
		struct timer *t = &timers.rows.at[i];

		if (!t->due || t->owner != owner || clock_ns(t->clock) < t->due)
			continue;
		*out = *t;
		found = true;
		timer_due_set(t, 0);
		if (timer_is_stale(t, i))
			out->callback = 0;
	}
	pthread_mutex_unlock(&timers.lock);
	return found;
}

void timer_fire(uint64_t owner)
{
	enum { AT_ONCE_MAX = 1024 }; /* a timer that starts itself anew with 0 ns never ends */
	struct timer t;

	if (!owner || !__atomic_load_n(&timers.running, __ATOMIC_ACQUIRE))
		return;
	for (unsigned i = 0; i < AT_ONCE_MAX && timer_take(owner, &t); i++)
		timer_call(&t);
}
