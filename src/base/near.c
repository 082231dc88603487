/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/near.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/room.h"

/* Small objects lie in chunks; larger ones have pages of their own. */
enum { LINE = 64, CHUNK = 64 << 10, STEP = 32 << 20, CODE_ROOM = 160 << 20 };

#if defined(__x86_64__)
enum { WINDOW = 256 << 20 };
#define REACH ((uint64_t)INT32_MAX - (512u << 20))
#else
#define WINDOW ((size_t)2 << 30)
#define REACH  (3ull << 30)
#endif

/* Of the leak checker, where there is one. */
void __lsan_register_root_region(const void *p, size_t size) __attribute__((weak));

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	uint8_t *base;
	size_t size;
	struct rooms pages; /* of the window */
	struct rooms lines; /* of chunks, for small objects */
} near = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

static size_t round_to(size_t n, size_t unit)
{
	return (n + unit - 1) & ~(unit - 1);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void *reserve_at(uint64_t at, size_t size)
{
	void *p = mmap((void *)(uintptr_t)at, size, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if ((uint64_t)(uintptr_t)p == at)
		return p;
	munmap(p, size); /* a kernel without NOREPLACE took it as a hint */
	return NULL;
}

void *near_reserve(size_t size, uint64_t away, uint64_t reach)
{
	uint64_t code = (uint64_t)(uintptr_t)&near_reserve & ~(uint64_t)(CHUNK - 1);
	uint64_t gap = away > STEP ? away : STEP;
	void *p = NULL;

	for (; !p && gap + size < reach; gap += STEP) {
		if (gap + size < code)
			p = reserve_at(code - gap - size, size);
		if (!p && gap + 8 * STEP + size < reach)
			p = reserve_at(code + gap + 8 * STEP, size);
	}
	return p;
}

static void *reserve_low(size_t size)
{
	void *p = MAP_FAILED;

#ifdef MAP_32BIT
	p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1,
		 0);
#endif
	return p == MAP_FAILED ? NULL : p;
}

static void before_fork(void)
{
	pthread_mutex_lock(&near.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&near.lock);
}

/* A limit on address space makes the window smaller. */
static void window_make(void)
{
	void *p = NULL;
	size_t size = WINDOW;

	for (; !p && size >= CHUNK; size /= 4) {
		p = reserve_low(size);
		if (!p)
			p = near_reserve(size, CODE_ROOM, REACH);
		if (p && room_add(&near.pages, 0, size)) {
			munmap(p, size);
			break;
		}
		near.size = p ? size : 0;
	}
	near.base = near.size ? p : NULL;
	/* What is referred to from here only is not leaked. */
	if (near.base && __lsan_register_root_region)
		__lsan_register_root_region(near.base, near.size);
	pthread_atfork(before_fork, after_fork, after_fork);
}

static bool in_window(const void *p)
{
	return (uintptr_t)p - (uintptr_t)near.base < near.size;
}

/* With the lock held. Parts of at most an eighth: one large map must not take all of it. */
static void *pages_take(size_t size)
{
	size_t off;

	if (size > near.size / 8 || room_take(&near.pages, size, page_size(), &off))
		return NULL;
	return near.base + off;
}

/* With the lock held. Where the system refuses to reserve it again it stays out of use. */
static void pages_give(void *p, size_t size)
{
	if (mmap(p, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) != MAP_FAILED)
		room_give(&near.pages, (size_t)((uint8_t *)p - near.base), size);
}

void *near_take(size_t size)
{
	void *p;

	pthread_once(&near.once, window_make);
	pthread_mutex_lock(&near.lock);
	p = pages_take(round_to(size, page_size()));
	pthread_mutex_unlock(&near.lock);
	return p;
}

void near_give(void *p, size_t size)
{
	size = round_to(size, page_size());
	if (!in_window(p)) {
		munmap(p, size);
		return;
	}
	pthread_mutex_lock(&near.lock);
	pages_give(p, size);
	pthread_mutex_unlock(&near.lock);
}

static void *private_take(size_t size)
{
	void *p = pages_take(size);

	if (p && mprotect(p, size, PROT_READ | PROT_WRITE)) {
		pages_give(p, size);
		p = NULL;
	}
	return p;
}

/* A small object; its memory is zero, as near_free leaves it. */
static void *lines_take(size_t size)
{
	uint8_t *chunk;
	size_t off;

	if (room_take(&near.lines, size, LINE, &off)) {
		chunk = private_take(CHUNK);
		if (!chunk)
			return NULL;
		if (room_add(&near.lines, (size_t)(chunk - near.base), CHUNK)) {
			pages_give(chunk, CHUNK);
			return NULL;
		}
		if (room_take(&near.lines, size, LINE, &off))
			return NULL;
	}
	return near.base + off;
}

static bool is_small(size_t size)
{
	return size <= CHUNK / 4;
}

void *near_zalloc(size_t size)
{
	void *p;

	if (mem_must_fail())
		return NULL;
	pthread_once(&near.once, window_make);
	pthread_mutex_lock(&near.lock);
	p = is_small(size) ? lines_take(round_to(size, LINE))
			   : private_take(round_to(size, page_size()));
	pthread_mutex_unlock(&near.lock);
	return p ? p : mem_zalloc(1, size);
}

void near_free(void *p, size_t size)
{
	if (!p || !in_window(p)) {
		mem_free(p);
		return;
	}
	pthread_mutex_lock(&near.lock);
	if (is_small(size)) {
		memset(p, 0, size);
		room_give(&near.lines, (size_t)((uint8_t *)p - near.base), round_to(size, LINE));
	} else {
		pages_give(p, round_to(size, page_size()));
	}
	pthread_mutex_unlock(&near.lock);
}
