/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Executable memory.
 *
 * Images lie in one window of address space, reserved once, close enough to the engine's code for
 * a direct call. Its pages belong to a memory file and are mapped read + execute; there is no
 * writable mapping of the file, at any time: code is written to it with pwrite(2). So no address
 * is ever writable and executable, small programs share pages without any of them being made
 * writable, and loading costs one system call and no TLB flush. The window is mapped through a
 * read-only descriptor of the file where /proc is there to get one: then not even mprotect(2) can
 * make it writable.
 *
 * Room is handed out first fit, in units of a cache line. A block is mapped when it is first used;
 * what is not code in it is the target's trap.
 *
 * The descriptor is checked before each use, as an application may have closed all descriptors or
 * reused the number. A child of fork(2) shares the file with its parent, so it never writes to
 * it: it gets a window of its own when it loads a program. And the parent leaves alone what a child
 * may still run: the room of an image that a fork has seen is not used again.
 */
#include "jit/image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/report.h"
#include "base/room.h"
#include "jit/fault.h"
#include "jit/host.h"
#include "jit/target.h"

enum { UNIT = 64, BLOCK = 64 << 10 };

struct window {
	struct window *older; /* no longer written to: of a parent, or its descriptor was lost */
	uint8_t *base;
	size_t size;
	int fd;
	dev_t dev;
	ino_t ino;
	size_t kept; /* bytes that stay code for the sake of children */
	struct rooms rooms;
	uint8_t *mapped; /* one byte for each block */
};

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct window *window; /* where new images go, if `usable` */
	bool usable;
	uint64_t forks; /* of this process and, before it began, of its parents */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

/* struct image with what only this file knows. */
struct placed {
	struct image image;
	struct window *window;
	size_t off;
	uint64_t forks; /* before it was placed */
};

static void before_fork(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.forks++;
}

static void after_fork(void)
{
	pthread_mutex_unlock(&pool.lock);
}

static void in_child(void)
{
	pool.usable = false;
	pthread_mutex_unlock(&pool.lock);
}

static void pool_once(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}

/* Address space for the window: near, else anywhere, smaller when there is a limit. */
static uint8_t *reserve(uint64_t reach, size_t *size)
{
	size_t want = reach > (1u << 30) ? 512u << 20 : 32u << 20;

	for (*size = want; *size >= BLOCK * 16; *size /= 4) {
		uint8_t *p = near_reserve(*size, 0, reach - (16 << 20));

		if (p)
			return p;
	}
	for (*size = want; *size >= BLOCK * 16; *size /= 4) {
		void *p = mmap(NULL, *size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0);

		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

static void window_free(struct window *w)
{
	if (w->base)
		munmap(w->base, w->size);
	if (w->fd >= 0)
		close(w->fd);
	mem_free(w->mapped);
	room_free(&w->rooms);
	mem_free(w);
}

static int memory_file(void)
{
	int fd = memfd_create("skep-code", MFD_CLOEXEC | 0x10 /* MFD_EXEC */);

	return fd < 0 && errno == EINVAL ? memfd_create("skep-code", MFD_CLOEXEC) : fd;
}

static int window_set_up(struct window *w)
{
	struct stat st;

	w->fd = memory_file();
	if (w->fd < 0 || fstat(w->fd, &st))
		return -errno;
	w->dev = st.st_dev;
	w->ino = st.st_ino;
	w->base = reserve(host_target()->call_reach, &w->size);
	if (!w->base)
		return -ENOMEM;
	if (ftruncate(w->fd, (off_t)w->size))
		return -errno;
	w->mapped = mem_zalloc(w->size / BLOCK, 1);
	return w->mapped ? room_add(&w->rooms, 0, w->size) : -ENOMEM;
}

/* Whether the descriptor still is our file. */
static bool window_usable(const struct window *w)
{
	struct stat st;

	return !fstat(w->fd, &st) && st.st_dev == w->dev && st.st_ino == w->ino;
}

/* The window for new images; called with the lock held. A window whose descriptor was lost is
 * left to the images in it. */
static int window_current(struct window **out)
{
	struct window *w = pool.window;
	int err;

	pool.usable = pool.usable && window_usable(w);
	if (pool.usable) {
		*out = w;
		return 0;
	}
	if (!host_target())
		return -ENOEXEC;
	w = mem_zalloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->fd = -1;
	err = window_set_up(w);
	if (err) {
		window_free(w);
		return err;
	}
	w->older = pool.window;
	*out = pool.window = w;
	pool.usable = true;
	return 0;
}

int image_range(uint64_t *lo, uint64_t *hi)
{
	struct window *w;
	int err;

	*lo = *hi = 0;
	pthread_once(&pool.once, pool_once);
	pthread_mutex_lock(&pool.lock);
	err = window_current(&w);
	if (!err) {
		*lo = (uint64_t)(uintptr_t)w->base;
		*hi = *lo + w->size;
	}
	pthread_mutex_unlock(&pool.lock);
	return err;
}

static int file_write(const struct window *w, const uint8_t *p, size_t n, size_t off)
{
	while (n) {
		ssize_t done = pwrite(w->fd, p, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENOSPC;
		p += done;
		off += (size_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int trap_fill(const struct window *w, size_t off, size_t n)
{
	uint8_t traps[4096];
	int err = 0;

	for (size_t i = 0; i < sizeof(traps); i++)
		traps[i] = host_target()->trap[i % 4];
	for (size_t part; n && !err; n -= part, off += part) {
		part = n < sizeof(traps) ? n : sizeof(traps);
		err = file_write(w, traps, part, off);
	}
	return err;
}

/* A read-only descriptor of the window's file, or the window's own. */
static int read_only(const struct window *w)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? w->fd : fd;
}

/* Maps blocks [from, to) of the file where they belong; also again, in one step, what is mapped. */
static int blocks_show(struct window *w, size_t from, size_t to)
{
	size_t off = from * BLOCK;
	int fd = read_only(w), err;
	void *p;

	p = mmap(w->base + off, (to - from) * BLOCK, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED,
		 fd, (off_t)off);
	err = p == MAP_FAILED ? -errno : 0;
	if (fd != w->fd)
		close(fd);
	return err;
}

static int block_map(struct window *w, size_t block)
{
	int err = trap_fill(w, block * BLOCK, BLOCK);

	if (!err)
		err = blocks_show(w, block, block + 1);
	w->mapped[block] = !err;
	return err;
}

static int blocks_map(struct window *w, size_t off, size_t size)
{
	int err = 0;

	for (size_t i = off / BLOCK; i <= (off + size - 1) / BLOCK && !err; i++)
		if (!w->mapped[i])
			err = block_map(w, i);
	return err;
}

/* Whole blocks of a large image go back to the system. */
static void blocks_unmap(struct window *w, size_t off, size_t size)
{
	for (size_t i = (off + BLOCK - 1) / BLOCK; (i + 1) * BLOCK <= off + size; i++) {
		void *p = mmap(w->base + i * BLOCK, BLOCK, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

		if (p == MAP_FAILED)
			continue;
		w->mapped[i] = 0;
		fallocate(w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(i * BLOCK),
			  BLOCK);
	}
}

static size_t room_size(const struct image *i)
{
	return (i->size + UNIT) & ~(size_t)(UNIT - 1);
}

/* With the lock held: takes room, writes the code there. There is always a trap behind it. */
static int place(struct placed *p, const uint8_t *bytes)
{
	size_t size = room_size(&p->image);
	struct window *w = p->window;
	int err;

	err = room_take(&w->rooms, size, UNIT, &p->off);
	if (err)
		return err;
	err = blocks_map(w, p->off, size);
	if (!err)
		err = code_link(p->image.code, (uint64_t)(uintptr_t)w->base + p->off,
				(uint8_t *)bytes);
	if (!err)
		err = file_write(w, bytes, p->image.size, p->off);
	if (!err && host_shows_anew())
		err = blocks_show(w, p->off / BLOCK, (p->off + size - 1) / BLOCK + 1);
	if (err)
		room_give(&w->rooms, p->off, size);
	return err;
}

/* With the lock held: into the window, or a new one when the old one is full of what was kept. */
static int place_somewhere(struct placed *p, const uint8_t *bytes)
{
	int err = window_current(&p->window);

	p->forks = pool.forks;
	if (!err)
		err = place(p, bytes);
	if (err != -ENOMEM || !p->window || p->window->kept < room_size(&p->image))
		return err;
	pool.usable = false;
	err = window_current(&p->window);
	return err ? err : place(p, bytes);
}

static int image_place(struct placed *p, struct code *c)
{
	uint8_t *bytes = mem_zalloc(c->size, 1);
	int err = bytes ? 0 : -ENOMEM;

	p->image.size = c->size;
	p->image.code = c;
	pthread_once(&pool.once, pool_once);
	pthread_mutex_lock(&pool.lock);
	if (!err)
		err = place_somewhere(p, bytes);
	pthread_mutex_unlock(&pool.lock);
	mem_free(bytes);
	if (err)
		return err;
	p->image.bytes = p->window->base + p->off;
	p->image.entry = (helper_fn)(uintptr_t)(p->image.bytes + c->entry);
	p->image.tail_entry = p->image.bytes + c->tail_entry;
	host_sync(p->image.bytes, c->size);
	return 0;
}

/* The code's room is traps again, unless a child may still have the program. */
static void image_remove(struct placed *p)
{
	size_t size = room_size(&p->image);
	struct window *w = p->window;

	pthread_mutex_lock(&pool.lock);
	if (p->forks != pool.forks) {
		w->kept += size;
	} else if (w == pool.window && pool.usable && window_usable(w)) {
		if (!trap_fill(w, p->off, size)) {
			blocks_unmap(w, p->off, size);
			room_give(&w->rooms, p->off, size);
		}
	}
	pthread_mutex_unlock(&pool.lock);
}

int image_new(struct code *c, struct report *r, struct image **out)
{
	struct placed *p;
	int err;

	if (c->dump || c->target != host_target())
		return report_fail(r, -ENOEXEC, "jit: this code is not for the running machine");
	p = mem_zalloc(1, sizeof(*p));
	if (!p)
		return report_fail(r, -ENOMEM, "jit: out of memory");
	err = image_place(p, c);
	if (err) {
		mem_free(p);
		return report_fail(r, err, "jit: no executable memory for %zu bytes: %s", c->size,
				   strerror(-err));
	}
	err = fault_add(&p->image);
	if (err) {
		image_remove(p);
		mem_free(p);
		return report_fail(r, err, "jit: out of memory");
	}
	*out = &p->image;
	return 0;
}

void image_free(struct image *i)
{
	struct placed *p = (struct placed *)i;

	if (!i)
		return;
	fault_remove(i);
	image_remove(p);
	code_free((struct code *)i->code);
	mem_free(p);
}
