/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which loads and stores may fault: the images that have any, sorted by address. A signal handler
 * reads the table without a lock; it counts itself in while it does. Adding an image replaces the
 * table and waits until nobody who may have seen the old one is in; removing one needs no memory:
 * its row's code becomes NULL, and the next table is made without the row. The handler never waits,
 * and an image that is running cannot be the one that is removed.
 */
#include "jit/fault.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/mem.h"
#include "jit/host.h"
#include "jit/jit.h"

struct fault_row {
	uintptr_t base;
	size_t size;
	const struct code *code; /* NULL: removed */
};

struct fault_table {
	size_t n;
	struct fault_row at[];
};

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct fault_table *table;
	unsigned readers;
} faults = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

static void before_fork(void)
{
	pthread_mutex_lock(&faults.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&faults.lock);
}

/* Only the thread that forked is here: no handler is at work. */
static void in_child(void)
{
	faults.readers = 0;
	pthread_mutex_unlock(&faults.lock);
}

static void faults_once(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

static void readers_wait(void)
{
	while (__atomic_load_n(&faults.readers, __ATOMIC_SEQ_CST))
		sched_yield();
}

/* The rows of old that are still there, and i. */
static void table_fill(struct fault_table *t, const struct fault_table *old, const struct image *i)
{
	struct fault_row row = { (uintptr_t)i->bytes, i->size, i->code };
	size_t from = 0, n = old ? old->n : 0;

	for (; from < n && old->at[from].base < row.base; from++)
		if (old->at[from].code)
			t->at[t->n++] = old->at[from];
	t->at[t->n++] = row;
	for (; from < n; from++)
		if (old->at[from].code)
			t->at[t->n++] = old->at[from];
}

int fault_add(const struct image *i)
{
	struct fault_table *old, *t;

	if (!i->code->n_faults)
		return 0;
	pthread_once(&faults.once, faults_once);
	pthread_mutex_lock(&faults.lock);
	old = faults.table;
	t = mem_zalloc(1, sizeof(*t) + ((old ? old->n : 0) + 1) * sizeof(t->at[0]));
	if (t) {
		table_fill(t, old, i);
		__atomic_store_n(&faults.table, t, __ATOMIC_SEQ_CST);
		readers_wait();
		mem_free(old);
	}
	pthread_mutex_unlock(&faults.lock);
	return t ? 0 : -ENOMEM;
}

/* Index of the row that pc lies in; t->n when there is none. */
static size_t table_find(const struct fault_table *t, uintptr_t pc)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->at[mid].base + t->at[mid].size <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->n && t->at[lo].base <= pc ? lo : t->n;
}

void fault_remove(const struct image *i)
{
	struct fault_table *t;

	if (!i->code->n_faults)
		return;
	pthread_mutex_lock(&faults.lock);
	t = faults.table;
	__atomic_store_n(&t->at[table_find(t, (uintptr_t)i->bytes)].code, NULL, __ATOMIC_SEQ_CST);
	readers_wait();
	pthread_mutex_unlock(&faults.lock);
}

/* The row of the image whose instruction is at `off`, or NULL. Rows are sorted by offset. */
static const struct code_fault *fault_find(const struct code *c, uint32_t off)
{
	size_t lo = 0, hi = c->n_faults;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->faults[mid].offset < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->n_faults && c->faults[lo].offset == off ? &c->faults[lo] : NULL;
}

static bool resume(void *context, const struct fault_table *t)
{
	uintptr_t pc = host_pc(context);
	size_t at = t ? table_find(t, pc) : 0;
	const struct code_fault *f = NULL;
	const struct code *c;

	if (!t || at == t->n)
		return false;
	c = __atomic_load_n(&t->at[at].code, __ATOMIC_SEQ_CST);
	if (c)
		f = fault_find(c, (uint32_t)(pc - t->at[at].base));
	if (f)
		host_resume(context, t->at[at].base + f->resume, f->reg);
	return f;
}

bool image_resume(void *context)
{
	bool done;

	__atomic_add_fetch(&faults.readers, 1, __ATOMIC_SEQ_CST);
	done = resume(context, __atomic_load_n(&faults.table, __ATOMIC_SEQ_CST));
	__atomic_sub_fetch(&faults.readers, 1, __ATOMIC_SEQ_CST);
	return done;
}
