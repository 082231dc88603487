/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In memory: a private page, the consumer's page, the producer's page, the data, the data again.
 * The memfd holds the consumer's page, the producer's page and the data. A record's page offset
 * counts from the private page, so that the map is found from the record alone.
 */
#include "map/ringbuf.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "map/impl.h"
#include "map/lock.h"
#include "map/region.h"
#include "map/types.h"

#define BUSY	   BPF_RINGBUF_BUSY_BIT
#define DISCARD	   BPF_RINGBUF_DISCARD_BIT
#define RECORD_MAX (UINT32_MAX / 4)
#define DATA_MAX   (1ull << 36)

enum { HEADER = BPF_RINGBUF_HDR_SZ, META_PAGES = 3, LOCK_OFFSET = 256 };

struct header {
	uint32_t len, page;
};

struct producer {
	uint64_t pos;
	uint64_t pending; /* the oldest record that is still busy, or further back */
};

static struct map **owner_at(uint8_t *base)
{
	return (struct map **)base;
}

static uint64_t *consumer_of(const struct map *m)
{
	return (uint64_t *)(m->mem + region_page());
}

static struct producer *producer_of(const struct map *m)
{
	return (struct producer *)(m->mem + 2 * region_page());
}

static uint32_t *lock_of(const struct map *m)
{
	return (uint32_t *)(m->mem + 2 * region_page() + LOCK_OFFSET);
}

static uint64_t mask_of(const struct map *m)
{
	return m->desc.max_entries - 1;
}

static struct header *record_at(const struct map *m, uint64_t pos)
{
	return (struct header *)(m->mem + META_PAGES * region_page() + (pos & mask_of(m)));
}

static int ringbuf_check(const struct map_desc *d)
{
	uint32_t n = d->max_entries;

	if (d->key_size || d->value_size || !n || n & (n - 1) || n % region_page())
		return -EINVAL;
	return 0;
}

static int ringbuf_create(struct map *m)
{
	size_t page = region_page(), data = m->desc.max_entries;
	size_t size = META_PAGES * page + 2 * data;
	void *base;
	int err = region_fd("bpf-map", 2 * page + data, &m->fd);

	if (err)
		return err;
	m->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->wake_fd < 0)
		return -errno;
	err = region_map_pieces(
	    (const struct region_piece[]){
		{ page, 2 * page + data, m->fd, 0 },
		{ META_PAGES * page + data, data, m->fd, 2 * page },
	    },
	    2, PROT_READ | PROT_WRITE, size, &base);
	if (err)
		return err;
	m->mem = base;
	m->mem_size = size;
	*owner_at(base) = m;
	return 0;
}

static uint64_t round_record(uint64_t size)
{
	return (size + HEADER + 7) & ~7ull;
}

/* Moves `pending` over records that are complete. */
static uint64_t pending_advance(const struct map *m)
{
	struct producer *p = producer_of(m);
	uint64_t pos = p->pending;

	while (pos < p->pos) {
		uint32_t len = __atomic_load_n(&record_at(m, pos)->len, __ATOMIC_ACQUIRE);

		if (len & BUSY)
			break;
		pos += round_record(len & ~DISCARD);
	}
	p->pending = pos;
	return pos;
}

static struct header *reserve_locked(const struct map *m, uint64_t size)
{
	struct producer *p = producer_of(m);
	uint64_t consumed = __atomic_load_n(consumer_of(m), __ATOMIC_ACQUIRE);
	uint64_t end = p->pos + round_record(size);
	struct header *h = record_at(m, p->pos);

	if (end - consumed > mask_of(m) || end - pending_advance(m) > mask_of(m))
		return NULL;
	h->page = (uint32_t)(((uint8_t *)h - m->mem) / region_page());
	__atomic_store_n(&h->len, (uint32_t)size | BUSY, __ATOMIC_RELAXED);
	__atomic_store_n(&p->pos, end, __ATOMIC_RELEASE);
	return h;
}

void *ringbuf_reserve(struct map *m, uint64_t size, uint64_t flags)
{
	struct header *h;

	if (flags || size > RECORD_MAX || round_record(size) > m->desc.max_entries)
		return NULL;
	if (lock_enter())
		return NULL;
	lock_take(lock_of(m));
	h = reserve_locked(m, size);
	lock_drop(lock_of(m));
	lock_leave();
	return h ? h + 1 : NULL;
}

static struct map *owner_of(const struct header *h)
{
	size_t page = region_page();
	uintptr_t at = (uintptr_t)h & ~(uintptr_t)(page - 1);

	return *owner_at((uint8_t *)at - (size_t)h->page * page);
}

/* Wakes the consumer when he has come up to this record: else he is at work, and will see it. */
static void commit(void *sample, uint64_t flags, uint32_t discard)
{
	struct header *h = (struct header *)sample - 1;
	const struct map *m = owner_of(h);
	uint64_t at = (uint64_t)((uint8_t *)h - (uint8_t *)record_at(m, 0));
	uint64_t consumed, one = 1;

	__atomic_exchange_n(&h->len, (h->len ^ BUSY) | discard, __ATOMIC_SEQ_CST);
	consumed = __atomic_load_n(consumer_of(m), __ATOMIC_ACQUIRE) & mask_of(m);
	if (flags & BPF_RB_FORCE_WAKEUP || (consumed == at && !(flags & BPF_RB_NO_WAKEUP)))
		if (write(m->wake_fd, &one, sizeof(one)) < 0)
			return; /* the counter is full: the consumer is awake */
}

void ringbuf_submit(void *sample, uint64_t flags)
{
	commit(sample, flags, 0);
}

void ringbuf_discard(void *sample, uint64_t flags)
{
	commit(sample, flags, DISCARD);
}

int ringbuf_output(struct map *m, const void *data, uint64_t size, uint64_t flags)
{
	void *sample;

	if (flags & ~(uint64_t)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))
		return -EINVAL;
	sample = ringbuf_reserve(m, size, 0);
	if (!sample)
		return -EAGAIN;
	memcpy(sample, data, size);
	ringbuf_submit(sample, flags);
	return 0;
}

uint64_t ringbuf_query(const struct map *m, uint64_t what)
{
	uint64_t made = __atomic_load_n(&producer_of(m)->pos, __ATOMIC_ACQUIRE);
	uint64_t consumed = __atomic_load_n(consumer_of(m), __ATOMIC_ACQUIRE);

	switch (what) {
	case BPF_RB_AVAIL_DATA:
		return made - consumed;
	case BPF_RB_RING_SIZE:
		return m->desc.max_entries;
	case BPF_RB_CONS_POS:
		return consumed;
	case BPF_RB_PROD_POS:
		return made;
	default:
		return 0;
	}
}

long ringbuf_consume(struct map *m, int (*fn)(void *ctx, const void *data, size_t size), void *ctx)
{
	uint64_t pos = __atomic_load_n(consumer_of(m), __ATOMIC_ACQUIRE);
	long n = 0;
	int stop = 0;

	while (pos < __atomic_load_n(&producer_of(m)->pos, __ATOMIC_ACQUIRE) && stop >= 0) {
		struct header *h = record_at(m, pos);
		uint32_t len = __atomic_load_n(&h->len, __ATOMIC_ACQUIRE);

		if (len & BUSY)
			break;
		if (!(len & DISCARD)) {
			stop = fn(ctx, h + 1, len);
			n++;
		}
		pos += round_record(len & ~DISCARD);
		__atomic_store_n(consumer_of(m), pos, __ATOMIC_SEQ_CST);
	}
	return stop < 0 ? stop : n;
}

int ringbuf_mmap(const struct map *m, uint64_t offset, size_t length, int prot, void **out)
{
	size_t page = region_page(), data = m->desc.max_entries, end;
	size_t once, file = 2 * page + data;

	if (prot & PROT_WRITE && (offset || length != page))
		return -EPERM;
	length = (length + page - 1) & ~(page - 1);
	if (offset % page || !length || offset > file + data || length > file + data - offset)
		return -EINVAL;
	end = offset + length;
	if (offset >= file)
		return region_map_pieces(
		    &(const struct region_piece){ 0, length, m->fd, offset - data }, 1, prot,
		    length, out);
	once = end > file ? file - offset : length;
	return region_map_pieces(
	    (const struct region_piece[]){ { 0, once, m->fd, offset },
					   { once, length - once, m->fd, 2 * page } },
	    once < length ? 2 : 1, prot, length, out);
}

const struct map_ops ringbuf_ops = {
	.check = ringbuf_check,
	.create = ringbuf_create,
	.user_lookup = op_enotsupp_lookup,
	.update = op_enotsupp_update,
	.erase = op_enotsupp_erase,
	.next_key = op_enotsupp_next,
};
