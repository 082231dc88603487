/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/perf.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "map/lock.h"
#include "map/obj_array.h"
#include "map/region.h"
#include "map/types.h"
#include "map/value.h"

/* What the control page keeps for us, behind what its users know. */
struct state {
	uint32_t lock;
	uint32_t since_wakeup; /* samples */
	uint64_t lost;	       /* not yet reported */
};

enum { STATE_OFFSET = 2048, RECORD_MAX = UINT16_MAX & ~7, FIELDS_MAX = 10 };

#define SAMPLE_FIELDS                                                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |            \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

static struct perf_event_mmap_page *page_of(const struct perf_ring *r)
{
	return (struct perf_event_mmap_page *)r->mem;
}

static struct state *state_of(const struct perf_ring *r)
{
	return (struct state *)(r->mem + STATE_OFFSET);
}

static size_t data_size(const struct perf_ring *r)
{
	return r->mem_size - region_page();
}

static void perf_ring_free(struct obj *o)
{
	struct perf_ring *r = perf_ring_of(o);

	if (r->mem)
		munmap(r->mem, r->mem_size);
	if (r->fd >= 0)
		close(r->fd);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	mem_free(r);
}

int perf_ring_new(int cpu, uint64_t sample_type, uint32_t wakeup_events, struct perf_ring **out)
{
	struct perf_ring *r;

	if (sample_type & ~(uint64_t)SAMPLE_FIELDS)
		return -EINVAL;
	r = mem_zalloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	obj_init(&r->obj, OBJ_PERF, perf_ring_free);
	r->cpu = cpu;
	r->sample_type = sample_type;
	r->wakeup_events = wakeup_events ? wakeup_events : 1;
	r->fd = -1;
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake_fd < 0) {
		obj_put(&r->obj);
		return -EMFILE;
	}
	*out = r;
	return 0;
}

int perf_ring_pages(struct perf_ring *r, size_t pages)
{
	size_t page = region_page(), size = page + pages * page;
	void *p;
	int err;

	if (!pages || pages & (pages - 1) || pages > UINT32_MAX)
		return -EINVAL;
	if (r->mem)
		return size == r->mem_size ? 0 : -EINVAL;
	err = region_fd("perf-ring", size, &r->fd);
	if (err)
		return err;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	((struct perf_event_mmap_page *)p)->data_offset = page;
	((struct perf_event_mmap_page *)p)->data_size = pages * page;
	r->mem_size = size;
	__atomic_store_n(&r->mem, p, __ATOMIC_RELEASE);
	return 0;
}

int perf_ring_mmap(struct perf_ring *r, size_t length, int prot, void **out)
{
	size_t page = region_page();
	int err =
	    length % page || length < 2 * page ? -EINVAL : perf_ring_pages(r, length / page - 1);
	void *p;

	if (err)
		return err;
	p = mmap(NULL, length, prot, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	return 0;
}

/* n bytes at position pos, which may go round the end. */
static uint64_t ring_write(const struct perf_ring *r, uint64_t pos, const void *src, size_t n)
{
	uint8_t *data = r->mem + region_page();
	size_t at = pos & (data_size(r) - 1), part = data_size(r) - at;

	part = n < part ? n : part;
	memcpy(data + at, src, part);
	memcpy(data, (const uint8_t *)src + part, n - part);
	return pos + n;
}

static uint64_t thread_pair(void)
{
	return (uint64_t)syscall(SYS_gettid) << 32 | (uint32_t)getpid();
}

/* The 8-byte fields of a sample before its raw data, in the order of the format. */
static size_t sample_fields(const struct perf_ring *r, uint64_t f[FIELDS_MAX])
{
	uint64_t t = r->sample_type;
	size_t n = 0;

	if (t & PERF_SAMPLE_IDENTIFIER)
		f[n++] = r->obj.id;
	if (t & PERF_SAMPLE_TID)
		f[n++] = thread_pair();
	if (t & PERF_SAMPLE_TIME)
		f[n++] = clock_ns(CLOCK_MONOTONIC);
	if (t & PERF_SAMPLE_ID)
		f[n++] = r->obj.id;
	if (t & PERF_SAMPLE_STREAM_ID)
		f[n++] = r->obj.id;
	if (t & PERF_SAMPLE_CPU)
		f[n++] = value_slot();
	if (t & PERF_SAMPLE_PERIOD)
		f[n++] = 1;
	return n;
}

struct sample {
	struct perf_event_header header;
	uint64_t fields[FIELDS_MAX];
	size_t n_fields;
	uint32_t raw_size; /* of the parts and their padding */
	uint32_t pad;
	const struct iovec *part;
	size_t n_parts;
};

static int sample_new(const struct perf_ring *r, const struct iovec *part, size_t n_parts,
		      struct sample *s)
{
	uint64_t size = 0, total;

	for (size_t i = 0; i < n_parts; i++)
		size += part[i].iov_len;
	*s = (struct sample){ .part = part, .n_parts = n_parts };
	s->n_fields = sample_fields(r, s->fields);
	total = sizeof(s->header) + s->n_fields * 8;
	if (r->sample_type & PERF_SAMPLE_RAW) {
		s->raw_size = (uint32_t)(((size + 4 + 7) & ~7ull) - 4);
		s->pad = s->raw_size - (uint32_t)size;
		total += 4 + (uint64_t)s->raw_size;
	}
	if (size > RECORD_MAX || total > RECORD_MAX)
		return -E2BIG;
	s->header = (struct perf_event_header){ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL,
						(uint16_t)total };
	return 0;
}

static uint64_t sample_write(const struct perf_ring *r, uint64_t pos, const struct sample *s)
{
	static const uint64_t zero;

	pos = ring_write(r, pos, &s->header, sizeof(s->header));
	pos = ring_write(r, pos, s->fields, s->n_fields * 8);
	if (!s->raw_size)
		return pos;
	pos = ring_write(r, pos, &s->raw_size, 4);
	for (size_t i = 0; i < s->n_parts; i++)
		pos = ring_write(r, pos, s->part[i].iov_base, s->part[i].iov_len);
	return ring_write(r, pos, &zero, s->pad);
}

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static uint64_t lost_write(const struct perf_ring *r, uint64_t pos, uint64_t lost)
{
	struct lost_record l = { { PERF_RECORD_LOST, 0, sizeof(l) }, r->obj.id, lost };

	return lost ? ring_write(r, pos, &l, sizeof(l)) : pos;
}

static int ring_put(const struct perf_ring *r, const struct sample *s)
{
	struct perf_event_mmap_page *page = page_of(r);
	struct state *st = state_of(r);
	uint64_t head = page->data_head;
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
	size_t need = s->header.size + (st->lost ? sizeof(struct lost_record) : 0);

	if (head - tail + need >= data_size(r)) {
		st->lost++;
		return -ENOSPC;
	}
	head = sample_write(r, lost_write(r, head, st->lost), s);
	st->lost = 0;
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
	if (++st->since_wakeup >= r->wakeup_events) {
		uint64_t one = 1;

		st->since_wakeup = 0;
		if (write(r->wake_fd, &one, sizeof(one)) < 0)
			return 0; /* the counter is full: the consumer is awake */
	}
	return 0;
}

static int ring_output(const struct perf_ring *r, const struct iovec *part, size_t n_parts)
{
	struct sample s;
	int err;

	if (r->cpu >= 0 && r->cpu != (int)value_slot())
		return -EOPNOTSUPP;
	if (!__atomic_load_n(&r->mem, __ATOMIC_ACQUIRE))
		return -ENOSPC;
	err = sample_new(r, part, n_parts, &s);
	if (!err)
		err = lock_enter();
	if (err)
		return err;
	lock_take(&state_of(r)->lock);
	err = ring_put(r, &s);
	lock_drop(&state_of(r)->lock);
	lock_leave();
	return err;
}

int perf_output(const struct map *m, uint64_t flags, const struct iovec *part, size_t n_parts)
{
	uint64_t i = flags & BPF_F_INDEX_MASK;
	const struct perf_ring *r;

	if (i == BPF_F_CURRENT_CPU)
		i = value_slot();
	if (i >= m->desc.max_entries)
		return -E2BIG;
	r = obj_array_at(m, (uint32_t)i);
	return r ? ring_output(r, part, n_parts) : -ENOENT;
}

static void ring_read(const struct perf_ring *r, uint64_t pos, void *dst, size_t n)
{
	const uint8_t *data = r->mem + region_page();
	size_t at = pos & (data_size(r) - 1), part = data_size(r) - at;

	part = n < part ? n : part;
	memcpy(dst, data + at, part);
	memcpy((uint8_t *)dst + part, data, n - part);
}

long perf_ring_consume(struct perf_ring *r, perf_record_fn fn, void *ctx)
{
	struct perf_event_header *h = r->mem ? mem_zalloc(1, UINT16_MAX + 1) : NULL;
	uint64_t tail = r->mem ? page_of(r)->data_tail : 0;
	long n = 0;
	int stop = 0;

	if (!h)
		return r->mem ? -ENOMEM : 0;
	while (tail != __atomic_load_n(&page_of(r)->data_head, __ATOMIC_ACQUIRE) && stop >= 0) {
		ring_read(r, tail, h, sizeof(*h));
		ring_read(r, tail, h, h->size);
		stop = fn(ctx, r->cpu, h);
		tail += h->size;
		n++;
		__atomic_store_n(&page_of(r)->data_tail, tail, __ATOMIC_RELEASE);
	}
	mem_free(h);
	return stop < 0 ? stop : n;
}

const struct map_ops perf_event_array_ops = {
	.slots = true,
	.check = obj_array_check,
	.create = obj_array_create,
	.destroy = obj_array_destroy,
	.erase = obj_array_erase,
	.user_lookup = op_enotsupp_lookup,
	.user_update = op_einval_update,
	.next_key = index_next_key,
	.update_obj = obj_array_update,
};
