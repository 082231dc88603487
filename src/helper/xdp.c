/* SPDX-License-Identifier: BSD-2-Clause */
/* XDP packets and the helpers that move or copy them. */
#include "helper/impl.h"

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t addr_low(const uint8_t *p)
{
	return (uint32_t)(uintptr_t)p;
}

static void xdp_refresh(struct xdp_ctx *ctx)
{
	ctx->md.data_meta = addr_low(ctx->meta);
	ctx->md.data = addr_low(ctx->data);
	ctx->md.data_end = addr_low(ctx->end);
}

void xdp_init(struct xdp_ctx *ctx, const struct packet_buf *b, const void *bytes, uint32_t size,
	      uint32_t meta, uint32_t linear)
{
	memset(b->base, 0, XDP_HEADROOM);
	ctx->md = (struct xdp_md){ .ingress_ifindex = PACKET_LO };
	ctx->frame = b->base;
	ctx->meta = b->base + XDP_HEADROOM - meta;
	ctx->data = b->base + XDP_HEADROOM;
	ctx->end = ctx->meta + linear;
	ctx->frags = b->base + XDP_FRAME;
	ctx->n_frags = size - linear;
	memcpy(ctx->meta, bytes, linear);
	memcpy(ctx->frags, (const uint8_t *)bytes + linear, ctx->n_frags);
	xdp_refresh(ctx);
}

void xdp_copy_out(const struct xdp_ctx *ctx, void *out, uint32_t n)
{
	uint32_t linear = min_u32(n, (uint32_t)(ctx->end - ctx->meta));

	memcpy(out, ctx->meta, linear);
	memcpy((uint8_t *)out + linear, ctx->frags, min_u32(n - linear, ctx->n_frags));
}

/* How many of n bytes at off lie in the frame; 0, -EFAULT or -EINVAL when they are no part of the
 * packet. */
static int xdp_range(const struct xdp_ctx *ctx, uint32_t off, uint32_t n, uint32_t *linear)
{
	uint32_t head = (uint32_t)(ctx->end - ctx->data);

	if (off > 0xffff || n > 0xffff)
		return -EFAULT;
	if (off + n > xdp_len(ctx))
		return -EINVAL;
	*linear = off < head ? min_u32(n, head - off) : 0;
	return 0;
}

/* Where the part behind the frame starts, for a range that begins at off. */
static uint8_t *xdp_frag_at(const struct xdp_ctx *ctx, uint32_t off)
{
	uint32_t head = (uint32_t)(ctx->end - ctx->data);

	return ctx->frags + (off > head ? off - head : 0);
}

int xdp_load(const struct xdp_ctx *ctx, uint32_t off, void *to, uint32_t n)
{
	uint32_t linear;
	int err = xdp_range(ctx, off, n, &linear);

	if (err)
		return err;
	memcpy(to, ctx->data + off, linear);
	memcpy((uint8_t *)to + linear, xdp_frag_at(ctx, off), n - linear);
	return 0;
}

HELPER_FN(xdp_load_bytes, r1, r2, r3, r4, r5)
{
	return helper_err(xdp_load(xdp_of(r1), (uint32_t)r2, ptr_of(r3), (uint32_t)r4));
}

HELPER_FN(xdp_store_bytes, r1, r2, r3, r4, r5)
{
	struct xdp_ctx *ctx = xdp_of(r1);
	uint32_t off = (uint32_t)r2, n = (uint32_t)r4, linear;
	const uint8_t *from = ptr_of(r3);
	int err = xdp_range(ctx, off, n, &linear);

	if (err)
		return helper_err(err);
	memmove(ctx->data + off, from, linear);
	memmove(xdp_frag_at(ctx, off), from + linear, n - linear);
	return 0;
}

HELPER_FN(xdp_get_buff_len, r1, r2, r3, r4, r5)
{
	return xdp_len(xdp_of(r1));
}

/* Metadata moves along with the start of the packet. */
HELPER_FN(xdp_adjust_head, r1, r2, r3, r4, r5)
{
	struct xdp_ctx *ctx = xdp_of(r1);
	intptr_t by = (int32_t)r2;
	size_t meta = (size_t)(ctx->data - ctx->meta);
	uint8_t *data = ctx->data + by;

	if (data < ctx->frame + XDP_FRAME_STRUCT + meta || data > ctx->end - PACKET_ETH)
		return helper_err(-EINVAL);
	memmove(data - meta, ctx->meta, meta);
	ctx->meta = data - meta;
	ctx->data = data;
	xdp_refresh(ctx);
	return 0;
}

HELPER_FN(xdp_adjust_meta, r1, r2, r3, r4, r5)
{
	struct xdp_ctx *ctx = xdp_of(r1);
	uint8_t *meta = ctx->meta + (int32_t)r2;
	size_t size = (size_t)(ctx->data - meta);

	if (meta < ctx->frame + XDP_FRAME_STRUCT || meta > ctx->data)
		return helper_err(-EINVAL);
	if (size % 4 || size > 255)
		return helper_err(-EACCES);
	ctx->meta = meta;
	xdp_refresh(ctx);
	return 0;
}

/* Takes n bytes off the last fragments; what is more than they hold comes off the frame. */
static int frags_shrink(struct xdp_ctx *ctx, uint32_t n)
{
	if (n > xdp_len(ctx) - PACKET_ETH)
		return -EINVAL;
	if (n < ctx->n_frags) {
		ctx->n_frags -= n;
		return 0;
	}
	ctx->end -= n - ctx->n_frags;
	ctx->n_frags = 0;
	return 0;
}

/* The last fragment grows up to its page's end. */
static int frags_grow(struct xdp_ctx *ctx, uint32_t n)
{
	uint32_t room = (XDP_FRAME - ctx->n_frags % XDP_FRAME) % XDP_FRAME;

	if (n > room)
		return -EINVAL;
	memset(ctx->frags + ctx->n_frags, 0, n);
	ctx->n_frags += n;
	return 0;
}

static int frame_resize(struct xdp_ctx *ctx, int32_t by)
{
	uint8_t *end = ctx->end + by;

	if (end > ctx->frame + XDP_FRAME - XDP_TAILROOM || end < ctx->data + PACKET_ETH)
		return -EINVAL;
	if (by > 0)
		memset(ctx->end, 0, (size_t)by);
	ctx->end = end;
	return 0;
}

HELPER_FN(xdp_adjust_tail, r1, r2, r3, r4, r5)
{
	struct xdp_ctx *ctx = xdp_of(r1);
	int32_t by = (int32_t)r2;
	int err;

	if (!ctx->n_frags)
		err = frame_resize(ctx, by);
	else if (by < 0)
		err = frags_shrink(ctx, -(uint32_t)by);
	else
		err = frags_grow(ctx, (uint32_t)by);
	xdp_refresh(ctx);
	return helper_err(err);
}
