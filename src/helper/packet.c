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

/* There is one address space below 4 GiB in a process, hence one pool. Free buffers are a list
 * through their first bytes. */
static struct {
	pthread_mutex_t lock;
	uint8_t *free;
	uint64_t next; /* where to look for the next chunk */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .next = LOW_START };

static __thread struct packet_redirect redirect;

struct packet_redirect *packet_redirect(void)
{
	return &redirect;
}

static void list_push(uint8_t *block)
{
	memcpy(block, &pool.free, sizeof(pool.free));
	pool.free = block;
}

static uint8_t *list_pop(void)
{
	uint8_t *block = pool.free;

	memcpy(&pool.free, block, sizeof(pool.free));
	return block;
}

/* Maps a free chunk at or behind pool.next, NULL when the low 4 GiB are full. */
static uint8_t *chunk_map(void)
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

static int pool_fill(void)
{
	uint8_t *chunk = chunk_map();

	if (!chunk)
		return -ENOMEM;
	for (uint64_t at = CHUNK; at; at -= PACKET_BUF)
		list_push(chunk + at - PACKET_BUF);
	return 0;
}

int packet_buf_get(struct packet_buf *b)
{
	int err = 0;

	pthread_mutex_lock(&pool.lock);
	if (!pool.free)
		err = pool_fill();
	b->base = err ? NULL : list_pop();
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
