/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "helper/sum.h"
#include "run/test_type.h"

#define CHECKSUM_COMPLETE (1u << 2) /* BPF_F_TEST_SKB_CHECKSUM_COMPLETE */

enum {
	DATA_MAX = 4096 - 64 - 320, /* a page without the kernel's headroom and shared info */
	GSO_SEGS_MAX = 65535,
	WIRE_LEN_MAX = 65536,
};

/* Bytes of __sk_buff that ctx_in may set, as [from, to); all others must be zero. */
#define SPAN(first, last)                                                                          \
	{ offsetof(struct __sk_buff, first),                                                       \
	  offsetof(struct __sk_buff, last) + sizeof(((struct __sk_buff *)0)->last) }
static const struct {
	size_t from, to;
} settable[] = {
	SPAN(mark, mark),	SPAN(priority, ifindex),  SPAN(cb, cb),
	SPAN(tstamp, gso_segs), SPAN(gso_size, gso_size), SPAN(hwtstamp, hwtstamp),
};

static bool is_zero(const uint8_t *p, size_t from, size_t to)
{
	while (from < to && !p[from])
		from++;
	return from >= to;
}

static int settable_check(const struct __sk_buff *in)
{
	size_t at = 0;

	for (size_t i = 0; i < sizeof(settable) / sizeof(settable[0]); i++) {
		if (!is_zero((const uint8_t *)in, at, settable[i].from))
			return -EINVAL;
		at = settable[i].to;
	}
	return is_zero((const uint8_t *)in, at, sizeof(*in)) ? 0 : -EINVAL;
}

static int attrs_check(const struct test_run *t)
{
	if (t->flags & ~CHECKSUM_COMPLETE || t->cpu || t->batch_size)
		return -EINVAL;
	return t->data_size_in < PACKET_ETH || t->data_size_in > DATA_MAX ? -EINVAL : 0;
}

/* Puts what ctx_in says into the context. */
static int ctx_apply(struct skb_ctx *ctx, const struct __sk_buff *in)
{
	struct __sk_buff *skb = &ctx->skb;
	int err = settable_check(in);

	if (err)
		return err;
	skb->mark = in->mark;
	skb->priority = in->priority;
	skb->ingress_ifindex = in->ingress_ifindex;
	skb->tstamp = in->tstamp;
	memcpy(skb->cb, in->cb, sizeof(skb->cb));
	if (in->wire_len && (in->wire_len < skb->len || in->wire_len > WIRE_LEN_MAX))
		return -EINVAL;
	skb->wire_len = in->wire_len ? in->wire_len : skb->len;
	if (in->gso_segs > GSO_SEGS_MAX)
		return -EINVAL;
	skb->gso_segs = in->gso_segs;
	skb->gso_size = (uint16_t)in->gso_size;
	skb->hwtstamp = in->hwtstamp;
	return 0;
}

static void ctx_fetch(const struct skb_ctx *ctx, struct __sk_buff *out)
{
	const struct __sk_buff *skb = &ctx->skb;

	out->mark = skb->mark;
	out->priority = skb->priority;
	out->ingress_ifindex = skb->ingress_ifindex;
	out->ifindex = skb->ifindex;
	out->tstamp = skb->tstamp;
	memcpy(out->cb, skb->cb, sizeof(out->cb));
	out->wire_len = skb->wire_len;
	out->gso_segs = skb->gso_segs;
	out->hwtstamp = skb->hwtstamp;
}

/* The sum from the network header on; a program may have cut the packet off before it. */
static uint32_t net_sum(const struct skb_ctx *ctx)
{
	return ctx->net < ctx->tail ? sum_bytes(ctx->net, (size_t)(ctx->tail - ctx->net), 0) : 0;
}

/* Runs with the checksum state that the flags want. -EBADMSG when the program let the sum and the
 * packet drift apart. */
static int skb_repeat(struct packet_run *r, struct test_run *t)
{
	struct skb_ctx *ctx = &r->ctx.skb;
	bool complete = t->flags & CHECKSUM_COMPLETE;
	int err;

	if (complete) {
		ctx->sum = net_sum(ctx);
		ctx->summed = SKB_SUM_COMPLETE;
	}
	err = test_repeat(t, r);
	if (err)
		return err;
	skb_finish(ctx, r->prog->type);
	return complete && sum_fold(ctx->sum) != sum_fold(net_sum(ctx)) ? -EBADMSG : 0;
}

static int skb_write(struct packet_run *r, struct test_run *t, struct __sk_buff *ctx)
{
	const struct skb_ctx *s = &r->ctx.skb;
	const struct test_part part[2] = { { s->data, skb_len(s) } };
	int err = test_data_write(t, part);

	ctx_fetch(s, ctx);
	return err ? err : test_ctx_write(t, ctx, sizeof(*ctx));
}

/* ctx: what ctx_in said, and what goes to ctx_out. */
static int skb_prepare(struct packet_run *r, const struct test_run *t, struct __sk_buff *ctx)
{
	void *data = NULL;
	int err = test_data_read(t, t->data_size_in, &data);

	if (err)
		return err;
	err = test_ctx_read(t, ctx, sizeof(*ctx));
	if (!err && ctx->ifindex > PACKET_LO)
		err = -ENODEV;
	if (!err)
		err = skb_init(&r->ctx.skb, &r->buf, data, t->data_size_in, r->prog->type);
	if (!err && test_has_ctx(t))
		err = ctx_apply(&r->ctx.skb, ctx);
	else
		r->ctx.skb.skb.wire_len = 0; /* in the kernel nobody sets it then */
	mem_free(data);
	return err;
}

int test_run_skb(struct packet_run *r, struct test_run *t)
{
	struct __sk_buff ctx;
	int err = attrs_check(t);

	if (!err)
		err = skb_prepare(r, t, &ctx);
	if (!err)
		err = skb_repeat(r, t);
	return err ? err : skb_write(r, t, &ctx);
}
