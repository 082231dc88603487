/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/percpu.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/vec.h"

/* A free range of offsets, the same in every slot. Ranges are kept sorted and apart. */
struct range {
	uint64_t off, size;
};

static struct {
	pthread_mutex_t lock;
	char *base;
	unsigned slots;
	VEC(struct range) free;
} region = { .lock = PTHREAD_MUTEX_INITIALIZER };

__thread char *percpu_self;

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

static int region_map(void)
{
	unsigned slots = slots_wanted();
	struct range all = { 64, PERCPU_STRIDE - 64 };
	char *p;

	p = mmap(NULL, slots * PERCPU_STRIDE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (vec_push(&region.free, all)) {
		munmap(p, slots * PERCPU_STRIDE);
		return -ENOMEM;
	}
	madvise(p, slots * PERCPU_STRIDE, MADV_DONTDUMP);
	region.slots = slots;
	for (unsigned i = 0; i < slots; i++)
		((struct percpu_head *)(p + i * PERCPU_STRIDE))->cpu = i;
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

/* Takes size bytes at the given alignment from free range i; the room before the aligned start
 * stays free. Returns 0 when the range is too small or there is no memory for the second part. */
static uint32_t range_take(size_t i, uint64_t size, uint64_t align)
{
	struct range *r = &region.free.at[i];
	uint64_t start = (r->off + align - 1) & ~(align - 1);
	struct range tail = { start + size, r->off + r->size - (start + size) };

	if (start + size > r->off + r->size)
		return 0;
	if (vec_reserve(&region.free, 1))
		return 0;
	r = &region.free.at[i];
	r->size = start - r->off;
	memmove(r + 2, r + 1, (region.free.n - i - 1) * sizeof(*r));
	r[1] = tail;
	region.free.n++;
	return (uint32_t)start;
}

uint32_t percpu_alloc(uint64_t size, uint32_t align)
{
	uint32_t off = 0;

	if (percpu_init() || size > PERCPU_STRIDE)
		return 0;
	size = (size + 7) & ~7ull;
	align = align < 8 ? 8 : align;
	pthread_mutex_lock(&region.lock);
	for (size_t i = 0; i < region.free.n && !off; i++)
		off = range_take(i, size, align);
	pthread_mutex_unlock(&region.lock);
	return off;
}

/* Zeroes the range in each slot and gives whole pages back to the system. */
static void range_clear(uint64_t off, uint64_t size)
{
	uint64_t page = 4096, from = (off + page - 1) & ~(page - 1), to = (off + size) & ~(page - 1);

	for (unsigned i = 0; i < region.slots; i++) {
		char *base = percpu_base(i);

		if (from < to && to - from >= 16 * page && !madvise(base + from, to - from, MADV_REMOVE)) {
			memset(base + off, 0, from - off);
			memset(base + to, 0, off + size - to);
		} else {
			memset(base + off, 0, size);
		}
	}
}

void percpu_free(uint32_t off, uint64_t size)
{
	size_t i = 0;
	struct range *r;

	if (!off)
		return;
	size = (size + 7) & ~7ull;
	range_clear(off, size);
	pthread_mutex_lock(&region.lock);
	while (i < region.free.n && region.free.at[i].off + region.free.at[i].size < off)
		i++;
	r = &region.free.at[i];
	if (i < region.free.n && r->off + r->size == off) {
		r->size += size;
		if (i + 1 < region.free.n && r[1].off == off + size) {
			r->size += r[1].size;
			memmove(r + 1, r + 2, (region.free.n - i - 2) * sizeof(*r));
			region.free.n--;
		}
	} else if (i < region.free.n && r->off == (uint64_t)off + size) {
		r->off = off;
		r->size += size;
	} else if (!vec_reserve(&region.free, 1)) {
		r = &region.free.at[i];
		memmove(r + 1, r, (region.free.n - i) * sizeof(*r));
		*r = (struct range){ off, size };
		region.free.n++;
	}
	pthread_mutex_unlock(&region.lock);
}
