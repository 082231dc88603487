/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/percpu.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/vec.h"

enum { RANGES_MAX = 1 << 16 };

/* A free range of offsets, the same in every slot. */
struct range {
	uint64_t off, size;
};

/* What is free, in memory that processes share after fork(): no two of them get the same
 * offsets. Ranges are sorted, apart from each other and not empty. */
struct free_list {
	pthread_mutex_t lock;
	size_t n;
	struct range at[RANGES_MAX];
};

static struct {
	pthread_mutex_t lock;
	char *base;
	unsigned slots;
	bool removes; /* MADV_REMOVE gives zeroed pages */
	struct free_list *free;
	/* Offsets that this process got and will give back; a child begins with none, what it
	 * inherits is its parent's. */
	VEC(uint32_t) own;
} region = { .lock = PTHREAD_MUTEX_INITIALIZER };

__thread char *percpu_self;
__thread uint32_t percpu_cpu;

/* Highest number of a list such as "0-3,8", plus one; 0 when it cannot be read. */
static unsigned possible_cpus(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	unsigned last = 0, n = 0;
	int c;

	if (!f)
		return 0;
	while ((c = fgetc(f)) != EOF) {
		if (c >= '0' && c <= '9') {
			last = last * 10 + (unsigned)(c - '0');
			n = last + 1 > n ? last + 1 : n;
		} else {
			last = 0;
		}
	}
	fclose(f);
	return n;
}

static unsigned slots_wanted(void)
{
	const char *env = getenv("SKEP_CPUS");
	long n = env ? strtol(env, NULL, 10) : 0;

	if (n <= 0)
		n = possible_cpus();
	if (n <= 0)
		n = sysconf(_SC_NPROCESSORS_CONF);
	if (n <= 0)
		n = 1;
	return n > PERCPU_SLOTS_MAX ? PERCPU_SLOTS_MAX : (unsigned)n;
}

static void *shared_map(uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Robust: a process may die while it holds the lock; each change of the list is a few stores, and
 * the worst that it leaves is a lost range. */
static struct free_list *free_list_new(void)
{
	struct free_list *f = shared_map(sizeof(*f));
	pthread_mutexattr_t a;

	if (!f)
		return NULL;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&f->lock, &a);
	pthread_mutexattr_destroy(&a);
	f->at[f->n++] = (struct range){ 64, PERCPU_STRIDE - 64 };
	return f;
}

static void free_lock(void)
{
	if (pthread_mutex_lock(&region.free->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&region.free->lock);
}

static void free_unlock(void)
{
	pthread_mutex_unlock(&region.free->lock);
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&region.lock);
}

static void fork_parent(void)
{
	pthread_mutex_unlock(&region.lock);
}

static void fork_child(void)
{
	region.own.n = 0;
	pthread_mutex_unlock(&region.lock);
}

static void head_init(struct percpu_head *h, unsigned slot)
{
	h->cpu = slot;
	while (!h->random)
		if (getrandom(&h->random, sizeof(h->random), 0) != sizeof(h->random))
			h->random = 0x9e3779b97f4a7c15ull * (slot + 1);
}

/* Whether MADV_REMOVE does what it promises: emulators take it for a hint, and answer 0. */
static bool removes(char *page)
{
	bool good;

	*(volatile char *)page = 1;
	good = !madvise(page, 4096, MADV_REMOVE) && !*(volatile char *)page;
	*page = 0;
	return good;
}

static int region_map(void)
{
	unsigned slots = slots_wanted();
	struct free_list *f = free_list_new();
	char *p = f ? shared_map(slots * PERCPU_STRIDE) : NULL;

	if (!p) {
		if (f)
			munmap(f, sizeof(*f));
		return -ENOMEM;
	}
	madvise(p, slots * PERCPU_STRIDE, MADV_DONTDUMP);
	pthread_atfork(fork_prepare, fork_parent, fork_child);
	region.slots = slots;
	region.free = f;
	region.removes = removes(p + PERCPU_STRIDE - 4096);
	for (unsigned i = 0; i < slots; i++)
		head_init((struct percpu_head *)(p + i * PERCPU_STRIDE), i);
	__atomic_store_n(&region.base, p, __ATOMIC_RELEASE);
	return 0;
}

int percpu_init(void)
{
	int err = 0;

	if (__atomic_load_n(&region.base, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&region.lock);
	if (!region.base)
		err = region_map();
	pthread_mutex_unlock(&region.lock);
	return err;
}

unsigned percpu_slots(void)
{
	return region.slots ? region.slots : slots_wanted();
}

char *percpu_base(unsigned slot)
{
	return region.base + slot * PERCPU_STRIDE;
}

/* `with` (n_new of them) instead of n_old free ranges from the i-th on. */
static void ranges_replace(size_t i, size_t n_old, const struct range *with, size_t n_new)
{
	struct free_list *f = region.free;

	memmove(f->at + i + n_new, f->at + i + n_old, (f->n - i - n_old) * sizeof(*with));
	memcpy(f->at + i, with, n_new * sizeof(*with));
	f->n += n_new - n_old;
}

/* Takes size bytes at the given alignment from free range i; what is left before and behind stays
 * free. 0 when the range is too small. */
static uint32_t range_take(size_t i, uint64_t size, uint64_t align)
{
	struct range r = region.free->at[i], rest[2];
	uint64_t start = (r.off + align - 1) & ~(align - 1), end = r.off + r.size;
	size_t n = 0;

	if (start + size > end)
		return 0;
	if (start > r.off)
		rest[n++] = (struct range){ r.off, start - r.off };
	if (end > start + size)
		rest[n++] = (struct range){ start + size, end - (start + size) };
	ranges_replace(i, 1, rest, n);
	return (uint32_t)start;
}

static uint32_t range_find(uint64_t size, uint64_t align)
{
	uint32_t off = 0;

	free_lock();
	if (region.free->n < RANGES_MAX)
		for (size_t i = 0; i < region.free->n && !off; i++)
			off = range_take(i, size, align);
	free_unlock();
	return off;
}

/* Adds a range, in one piece with its free neighbours. */
static void range_give(uint64_t off, uint64_t size)
{
	struct range *at = region.free->at, r = { off, size };
	size_t i = 0, n = region.free->n, old = 0;

	while (i < n && at[i].off < off)
		i++;
	if (i < n && at[i].off == off + size) {
		r.size += at[i].size;
		old++;
	}
	if (i && at[i - 1].off + at[i - 1].size == off) {
		i--;
		r = (struct range){ at[i].off, at[i].size + r.size };
		old++;
	}
	if (old || n < RANGES_MAX)
		ranges_replace(i, old, &r, 1);
}

uint32_t percpu_alloc(uint64_t size, uint32_t align)
{
	uint32_t off = 0;

	if (percpu_init() || size > PERCPU_STRIDE)
		return 0;
	pthread_mutex_lock(&region.lock);
	if (!vec_reserve(&region.own, 1))
		off = range_find((size + 7) & ~7ull, align < 8 ? 8 : align);
	if (off)
		region.own.at[region.own.n++] = off;
	pthread_mutex_unlock(&region.lock);
	return off;
}

/* Zeroes a slot's part of the range and gives whole pages back to the system. */
static void slot_clear(char *base, uint64_t off, uint64_t size)
{
	uint64_t page = 4096, from = (off + page - 1) & ~(page - 1);
	uint64_t to = (off + size) & ~(page - 1);

	if (region.removes && to >= from + 16 * page &&
	    !madvise(base + from, to - from, MADV_REMOVE)) {
		memset(base + off, 0, from - off);
		memset(base + to, 0, off + size - to);
	} else {
		memset(base + off, 0, size);
	}
}

static bool own_remove(uint32_t off)
{
	size_t i = 0;

	while (i < region.own.n && region.own.at[i] != off)
		i++;
	if (i == region.own.n)
		return false;
	region.own.at[i] = region.own.at[--region.own.n];
	return true;
}

void percpu_free(uint32_t off, uint64_t size)
{
	bool own;

	if (!off)
		return;
	size = (size + 7) & ~7ull;
	pthread_mutex_lock(&region.lock);
	own = own_remove(off);
	pthread_mutex_unlock(&region.lock);
	if (!own)
		return;
	for (unsigned i = 0; i < region.slots; i++)
		slot_clear(percpu_base(i), off, size);
	free_lock();
	range_give(off, size);
	free_unlock();
}
