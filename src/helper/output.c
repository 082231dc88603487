/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that hand records to user space: perf rings, ring buffers, dynptrs over both. */
#include "base/percpu.h"
#include "helper/impl.h"
#include "map/perf.h"
#include "map/ringbuf.h"

/* How many bytes of the packet the flags ask for. */
static uint64_t ctx_bytes(uint64_t flags)
{
	return (flags & BPF_F_CTXLEN_MASK) >> 32;
}

static bool perf_flags_ok(uint64_t flags)
{
	return !(flags & ~(BPF_F_CTXLEN_MASK | BPF_F_INDEX_MASK));
}

HELPER_FN(perf_event_output, r1, r2, r3, r4, r5)
{
	const struct skb_ctx *ctx = skb_of(r1);
	uint64_t n = ctx_bytes(r3);
	struct iovec part[2] = { { ptr_of(r4), r5 } };

	if (!perf_flags_ok(r3))
		return helper_err(-EINVAL);
	if (n && n > skb_len(ctx))
		return helper_err(-EFAULT);
	if (n)
		part[1] = (struct iovec){ ctx->data, n };
	return helper_err(perf_output(ptr_of(r2), r3 & BPF_F_INDEX_MASK, part, n ? 2 : 1));
}

HELPER_FN(xdp_perf_event_output, r1, r2, r3, r4, r5)
{
	const struct xdp_ctx *ctx = xdp_of(r1);
	uint64_t n = ctx_bytes(r3), head = (uint64_t)(ctx->end - ctx->data);
	struct iovec part[3] = { { ptr_of(r4), r5 } };

	if (!perf_flags_ok(r3))
		return helper_err(-EINVAL);
	if (n > xdp_len(ctx))
		return helper_err(-EFAULT);
	head = n < head ? n : head;
	part[1] = (struct iovec){ ctx->data, head };
	part[2] = (struct iovec){ ctx->frags, n - head };
	return helper_err(perf_output(ptr_of(r2), r3 & BPF_F_INDEX_MASK, part, n ? 3 : 1));
}

HELPER_FN(ringbuf_output, r1, r2, r3, r4, r5)
{
	return helper_err(ringbuf_output(ptr_of(r1), ptr_of(r2), r3, r4));
}

HELPER_FN(ringbuf_reserve, r1, r2, r3, r4, r5)
{
	return (uintptr_t)ringbuf_reserve(ptr_of(r1), r2, r3);
}

HELPER_FN(ringbuf_submit, r1, r2, r3, r4, r5)
{
	ringbuf_submit(ptr_of(r1), r2);
	return 0;
}

HELPER_FN(ringbuf_discard, r1, r2, r3, r4, r5)
{
	ringbuf_discard(ptr_of(r1), r2);
	return 0;
}

HELPER_FN(ringbuf_query, r1, r2, r3, r4, r5)
{
	return ringbuf_query(ptr_of(r1), r2);
}

/* struct bpf_dynptr as programs carry it. data 0: not usable. */
struct dynptr {
	uint64_t data;
	uint32_t size; /* bits 0-27: bytes; 28-30: enum dynptr_type; 31: read-only */
	uint32_t offset;
};

enum dynptr_type { DYNPTR_LOCAL = 1, DYNPTR_RINGBUF = 2 };
enum { DYNPTR_MAX = (1 << 24) - 1, DYNPTR_SIZE = 0xffffff, DYNPTR_RDONLY = 1u << 31 };

static struct dynptr *dynptr_of(uint64_t r)
{
	return ptr_of(r);
}

static void dynptr_set(struct dynptr *d, uint64_t data, uint32_t size, enum dynptr_type type)
{
	*d = (struct dynptr){ .data = data, .size = size | (uint32_t)type << 28 };
}

static void dynptr_clear(struct dynptr *d)
{
	*d = (struct dynptr){ 0 };
}

/* Is off..off+n inside? */
static bool dynptr_has(const struct dynptr *d, uint32_t off, uint32_t n)
{
	uint32_t size = d->size & DYNPTR_SIZE;

	return n <= size && off <= size - n;
}

static uint8_t *dynptr_at(const struct dynptr *d, uint32_t off)
{
	return (uint8_t *)ptr_of(d->data) + d->offset + off;
}

HELPER_FN(dynptr_from_mem, r1, r2, r3, r4, r5)
{
	struct dynptr *d = dynptr_of(r4);
	uint32_t n = (uint32_t)r2;

	dynptr_clear(d);
	if (n > DYNPTR_MAX)
		return helper_err(-E2BIG);
	if (r3)
		return helper_err(-EINVAL);
	dynptr_set(d, r1, n, DYNPTR_LOCAL);
	return 0;
}

HELPER_FN(dynptr_read, r1, r2, r3, r4, r5)
{
	const struct dynptr *d = dynptr_of(r3);

	if (!d->data || r5)
		return helper_err(-EINVAL);
	if (!dynptr_has(d, (uint32_t)r4, (uint32_t)r2))
		return helper_err(-E2BIG);
	memmove(ptr_of(r1), dynptr_at(d, (uint32_t)r4), (uint32_t)r2);
	return 0;
}

HELPER_FN(dynptr_write, r1, r2, r3, r4, r5)
{
	const struct dynptr *d = dynptr_of(r1);

	if (!d->data || d->size & DYNPTR_RDONLY)
		return helper_err(-EINVAL);
	if (!dynptr_has(d, (uint32_t)r2, (uint32_t)r4))
		return helper_err(-E2BIG);
	if (r5)
		return helper_err(-EINVAL);
	memmove(dynptr_at(d, (uint32_t)r2), ptr_of(r3), (uint32_t)r4);
	return 0;
}

HELPER_FN(dynptr_data, r1, r2, r3, r4, r5)
{
	const struct dynptr *d = dynptr_of(r1);

	if (!d->data || d->size & DYNPTR_RDONLY || !dynptr_has(d, (uint32_t)r2, (uint32_t)r3))
		return 0;
	return (uintptr_t)dynptr_at(d, (uint32_t)r2);
}

HELPER_FN(ringbuf_reserve_dynptr, r1, r2, r3, r4, r5)
{
	struct dynptr *d = dynptr_of(r4);
	uint32_t n = (uint32_t)r2;
	void *record;

	dynptr_clear(d);
	if (r3)
		return helper_err(-EINVAL);
	if (n > DYNPTR_MAX)
		return helper_err(-E2BIG);
	record = ringbuf_reserve(ptr_of(r1), n, 0);
	if (!record)
		return helper_err(-EINVAL);
	dynptr_set(d, (uintptr_t)record, n, DYNPTR_RINGBUF);
	return 0;
}

HELPER_FN(ringbuf_submit_dynptr, r1, r2, r3, r4, r5)
{
	struct dynptr *d = dynptr_of(r1);

	if (d->data)
		ringbuf_submit(ptr_of(d->data), r2);
	dynptr_clear(d);
	return 0;
}

HELPER_FN(ringbuf_discard_dynptr, r1, r2, r3, r4, r5)
{
	struct dynptr *d = dynptr_of(r1);

	if (d->data)
		ringbuf_discard(ptr_of(d->data), r2);
	dynptr_clear(d);
	return 0;
}

/* There are no maps of type USER_RINGBUF, hence never a record. */
HELPER_FN(user_ringbuf_drain, r1, r2, r3, r4, r5)
{
	return helper_err(r4 & ~(uint64_t)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP) ? -EINVAL : 0);
}
