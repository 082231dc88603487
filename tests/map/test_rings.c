/* SPDX-License-Identifier: BSD-2-Clause */
/* RINGBUF and PERF_EVENT_ARRAY: format, limits, wake-ups; read as libbpf reads them, too. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "map/perf.h"
#include "map/ringbuf.h"

enum { PAGE = 4096 };

static struct map *new_map(uint32_t type, uint32_t key, uint32_t value, uint32_t n)
{
	struct map_desc d = {
		.type = type, .key_size = key, .value_size = value, .max_entries = n
	};
	struct map *m;

	assert_int_equal(map_create(&d, &m), 0);
	return m;
}

static bool woken(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	uint64_t n;

	return poll(&p, 1, 0) == 1 && read(fd, &n, sizeof(n)) == sizeof(n);
}

struct got {
	uint32_t n;
	size_t size;
	uint8_t last[PAGE];
};

static int take(void *ctx, const void *data, size_t size)
{
	struct got *g = ctx;

	g->n++;
	g->size = size;
	memcpy(g->last, data, size < PAGE ? size : PAGE);
	return 0;
}

static void records_come_out_as_they_went_in(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, PAGE);
	struct got g = { 0 };
	char text[100];

	for (int i = 0; i < 5000; i++) {
		size_t n = (size_t)i % sizeof(text);

		memset(text, i, sizeof(text));
		assert_int_equal(ringbuf_output(m, text, n, 0), 0);
		assert_int_equal(ringbuf_consume(m, take, &g), 1);
		assert_int_equal(g.size, n);
		assert_memory_equal(g.last, text, n);
	}
	assert_int_equal(ringbuf_query(m, BPF_RB_AVAIL_DATA), 0);
	assert_int_equal(ringbuf_query(m, BPF_RB_RING_SIZE), PAGE);
	assert_int_equal(ringbuf_query(m, BPF_RB_CONS_POS), ringbuf_query(m, BPF_RB_PROD_POS));
	assert_int_equal(ringbuf_query(m, 9), 0);
	obj_put(&m->obj);
}

static void reservations_and_limits(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, PAGE);
	struct got g = { 0 };
	void *a, *b;

	assert_null(ringbuf_reserve(m, 8, 1));
	assert_null(ringbuf_reserve(m, PAGE - 7, 0));
	assert_null(ringbuf_reserve(m, PAGE - 8, 0)); /* all of it is one too many */
	assert_int_equal(ringbuf_output(m, "x", 1, 4), -EINVAL);
	a = ringbuf_reserve(m, 2000, 0);
	b = ringbuf_reserve(m, 1000, 0);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(ringbuf_output(m, g.last, 2000, 0), -EAGAIN);
	memset(b, 1, 1000);
	ringbuf_submit(b, 0);
	assert_int_equal(ringbuf_consume(m, take, &g), 0); /* the first one is still busy */
	ringbuf_discard(a, 0);
	assert_int_equal(ringbuf_consume(m, take, &g), 1);
	assert_int_equal(g.size, 1000);
	obj_put(&m->obj);
}

static void the_consumer_is_woken_when_he_waits(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, PAGE);
	struct got g = { 0 };

	assert_false(woken(m->wake_fd));
	ringbuf_output(m, "x", 1, 0);
	assert_true(woken(m->wake_fd));
	ringbuf_output(m, "x", 1, 0);
	assert_false(woken(m->wake_fd)); /* he has the first one before him */
	ringbuf_output(m, "x", 1, BPF_RB_FORCE_WAKEUP);
	assert_true(woken(m->wake_fd));
	ringbuf_consume(m, take, &g);
	ringbuf_output(m, "x", 1, BPF_RB_NO_WAKEUP);
	assert_false(woken(m->wake_fd));
	obj_put(&m->obj);
}

/* Two mappings, as ring_buffer__new makes them; a record across the end is in one piece. */
static void a_client_maps_it_as_libbpf_does(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, PAGE);
	uint64_t *consumer, *producer;
	uint8_t *data;
	uint32_t *header;
	void *p;

	assert_int_equal(map_mmap(m, 0, PAGE, PROT_READ | PROT_WRITE, &p), 0);
	consumer = p;
	assert_int_equal(map_mmap(m, PAGE, 3 * PAGE, PROT_READ | PROT_WRITE, &p), -EPERM);
	assert_int_equal(map_mmap(m, PAGE, 4 * PAGE, PROT_READ, &p), -EINVAL);
	assert_int_equal(map_mmap(m, PAGE, 3 * PAGE, PROT_READ, &p), 0);
	producer = p;
	data = (uint8_t *)p + PAGE;
	assert_int_equal(ringbuf_output(m, data, 4000, 0), 0);
	assert_int_equal(*producer, 4008);
	__atomic_store_n(consumer, 4008, __ATOMIC_RELEASE);
	assert_int_equal(ringbuf_output(m,
					"0123456789012345678901234567890123456789"
					"0123456789012345678901234567890123456789"
					"0123456789012345678901234567890123456789",
					120, 0),
			 0);
	header = (uint32_t *)(data + 4008);
	assert_int_equal(header[0], 120);
	assert_memory_equal(data + 4016, "01234567890", 11);
	assert_memory_equal(data + 4016 + 110, "0123456789", 10);
	assert_int_equal(munmap(producer, 3 * PAGE), 0);
	munmap(consumer, PAGE);
	obj_put(&m->obj);
}

enum { WRITERS = 3, EACH = 20000 };

static void *writer(void *arg)
{
	struct map *m = arg;

	for (uint64_t i = 0; i < EACH; i++)
		while (ringbuf_output(m, &i, sizeof(i), 0) == -EAGAIN)
			sched_yield();
	return NULL;
}

static int add(void *ctx, const void *data, size_t size)
{
	*(uint64_t *)ctx += *(const uint64_t *)data;
	return 0;
}

static void many_writers_lose_nothing(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4 * PAGE);
	pthread_t t[WRITERS];
	uint64_t sum = 0;
	long n = 0;

	for (int i = 0; i < WRITERS; i++)
		pthread_create(&t[i], NULL, writer, m);
	while (n < WRITERS * EACH)
		n += ringbuf_consume(m, add, &sum);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(n, WRITERS * EACH);
	assert_int_equal(sum, (uint64_t)WRITERS * EACH * (EACH - 1) / 2);
	obj_put(&m->obj);
}

struct records {
	int n, samples;
	uint64_t lost;
	uint32_t raw_size;
	uint8_t raw[64];
};

static int record(void *ctx, int cpu, const struct perf_event_header *h)
{
	struct records *r = ctx;
	const uint8_t *body = (const uint8_t *)(h + 1);

	r->n++;
	assert_int_equal(h->size % 8, 0);
	if (h->type == PERF_RECORD_LOST) {
		memcpy(&r->lost, body + 8, 8);
		return 0;
	}
	assert_int_equal(h->type, PERF_RECORD_SAMPLE);
	memcpy(&r->raw_size, body, 4);
	memcpy(r->raw, body + 4, r->raw_size < 64 ? r->raw_size : 64);
	r->samples++;
	return 0;
}

static void perf_arrays_say_why_not(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 2);
	struct iovec part = { "abcde", 5 };
	struct perf_ring *r, *other;
	uint32_t key = 0;

	assert_int_equal(perf_ring_new(0, 1ull << 20, 1, &r), -EINVAL);
	assert_int_equal(perf_output(m, 2, &part, 1), -E2BIG);
	assert_int_equal(perf_output(m, 1, &part, 1), -ENOENT);
	assert_int_equal(perf_ring_new(0, PERF_SAMPLE_RAW, 1, &r), 0);
	assert_int_equal(perf_ring_new(7, PERF_SAMPLE_RAW, 1, &other), 0);
	assert_int_equal(map_update_obj(m, &key, &r->obj, r, 0), 0);
	assert_int_equal(perf_output(m, 0, &part, 1), -ENOSPC); /* no pages */
	assert_int_equal(perf_ring_pages(r, 3), -EINVAL);
	assert_int_equal(perf_ring_pages(r, 2), 0);
	assert_int_equal(perf_output(m, BPF_F_CURRENT_CPU, &part, 1), 0);
	key = 1;
	assert_int_equal(map_update_obj(m, &key, &other->obj, other, 0), 0);
	assert_int_equal(perf_output(m, 1, &part, 1), -EOPNOTSUPP);
	assert_int_equal(map_lookup(m, &key, &key, 0), -524);
	obj_put(&r->obj);
	obj_put(&other->obj);
	obj_put(&m->obj);
}

static void perf_samples_wrap_and_losses_are_told(void **state)
{
	struct map *m = new_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1);
	struct iovec part[2] = { { "0123456", 7 }, { "789", 3 } };
	struct perf_event_mmap_page *page;
	struct perf_ring *r;
	struct records got = { 0 };
	uint32_t key = 0;
	void *p;

	assert_int_equal(perf_ring_new(0, PERF_SAMPLE_RAW, 1, &r), 0);
	assert_int_equal(map_update_obj(m, &key, &r->obj, r, 0), 0);
	assert_int_equal(perf_ring_mmap(r, 3 * PAGE + 1, PROT_READ, &p), -EINVAL);
	assert_int_equal(perf_ring_mmap(r, 2 * PAGE, PROT_READ | PROT_WRITE, &p), 0);
	page = p;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(perf_output(m, 0, part, 2), 0);
		assert_true(woken(r->wake_fd));
		assert_int_equal(page->data_head - page->data_tail, 24); /* 8 + 4 + 10, to 8 */
		assert_int_equal(perf_ring_consume(r, record, &got), 1);
		assert_int_equal(got.raw_size, 12);
		assert_memory_equal(got.raw, "0123456789\0", 12);
	}
	got = (struct records){ 0 };
	for (int i = 0; i < 200; i++)
		assert_int_equal(perf_output(m, 0, part, 2), i < 170 ? 0 : -ENOSPC);
	assert_int_equal(perf_ring_consume(r, record, &got), 170);
	assert_int_equal(perf_output(m, 0, part, 2), 0);
	assert_int_equal(perf_ring_consume(r, record, &got), 2);
	assert_int_equal(got.lost, 30);
	assert_int_equal(got.samples, 171);
	munmap(p, 2 * PAGE);
	obj_put(&r->obj);
	obj_put(&m->obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(reservations_and_limits),
		cmocka_unit_test(the_consumer_is_woken_when_he_waits),
		cmocka_unit_test(a_client_maps_it_as_libbpf_does),
		cmocka_unit_test(many_writers_lose_nothing),
		cmocka_unit_test(perf_arrays_say_why_not),
		cmocka_unit_test(perf_samples_wrap_and_losses_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
