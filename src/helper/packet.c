/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper/packet.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define CHUNK	  (4ull << 20) /* address space taken at a time */
#define LOW_START (256ull << 20)
#define LOW_END	  (4ull << 30)

/* There is one address space in a process, hence one pool below 4 GiB and one above. Free buffers
 * are a list through their first bytes. */
static struct {
	pthread_mutex_t lock;
	uint8_t *free[2]; /* above, below */
	uint64_t next;	  /* where to look for the next chunk below */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .next = LOW_START };

static __thread struct packet_redirect redirect;

struct packet_redirect *packet_redirect(void)
{
	return &redirect;
}

static void list_push(uint8_t *block)
{
	uint8_t **list = &pool.free[(uintptr_t)block < LOW_END];

	memcpy(block, list, sizeof(*list));
	*list = block;
}

static uint8_t *list_pop(bool low)
{
	uint8_t *block = pool.free[low];

	memcpy(&pool.free[low], block, sizeof(block));
	return block;
}

/* Maps a free chunk at or behind pool.next, NULL when the low 4 GiB are full. */
static uint8_t *chunk_map_low(void)
{
	for (; pool.next + CHUNK <= LOW_END; pool.next += CHUNK) {
		void *want = (void *)(uintptr_t)pool.next;
		void *got =
		    mmap(want, CHUNK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

		if (got == MAP_FAILED)
			continue;
		if (got == want) {
			pool.next += CHUNK;
			return got;
		}
		munmap(got, CHUNK); /* a kernel without NOREPLACE took it as a hint */
	}
	return NULL;
}

/* Where the system puts it: above, but for processes that are made to live below, whose chunk then
 * goes to the other list. */
static uint8_t *chunk_map_any(void)
{
	void *got = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return got == MAP_FAILED ? NULL : got;
}

static int pool_fill(bool low)
{
	uint8_t *chunk = low ? chunk_map_low() : chunk_map_any();

	if (!chunk)
		return -ENOMEM;
	for (uint64_t at = CHUNK; at; at -= PACKET_BUF)
		list_push(chunk + at - PACKET_BUF);
	return 0;
}

int packet_buf_get(struct packet_buf *b, bool low)
{
	int err = 0;

	pthread_mutex_lock(&pool.lock);
	if (!pool.free[low])
		err = pool_fill(low);
	low |= !pool.free[low];
	b->base = err ? NULL : list_pop(low);
	pthread_mutex_unlock(&pool.lock);
	return err;
}

void packet_buf_put(struct packet_buf *b)
{
	if (!b->base)
		return;
	pthread_mutex_lock(&pool.lock);
	list_push(b->base);
	pthread_mutex_unlock(&pool.lock);
	b->base = NULL;
}
