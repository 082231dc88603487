/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of XDP programs and its packet.
 *
 * One 4096-byte frame: 256 bytes of headroom (the first 40 of which belong to the kernel's
 * struct xdp_frame), metadata, packet, 320 bytes of tailroom for the kernel's shared info. What
 * does not fit lies in fragments of 4096 bytes, all full but the last, behind each other.
 */
#ifndef SKEP_HELPER_XDP_H
#define SKEP_HELPER_XDP_H

#include <linux/bpf.h>
#include <stddef.h>

#include "helper/packet.h"
#include "isa/ctx.h"

enum {
	XDP_FRAME = 4096,
	XDP_HEADROOM = 256,
	XDP_FRAME_STRUCT = 40, /* headroom that programs cannot have */
	XDP_TAILROOM = 320,
	XDP_LINEAR_MAX = XDP_FRAME - XDP_HEADROOM - XDP_TAILROOM, /* without metadata */
	XDP_META_MAX = XDP_HEADROOM - XDP_FRAME_STRUCT,
	XDP_FRAGS_MAX = 17 * 4096, /* bytes */
};

struct xdp_ctx {
	struct xdp_md md;	    /* what the program sees */
	uint8_t *data, *end, *meta; /* meta == data: no metadata */
	uint8_t *frame;		    /* start of the frame */
	uint8_t *frags;		    /* the bytes that follow those up to end */
	uint32_t n_frags;	    /* bytes in frags */
};

_Static_assert(offsetof(struct xdp_ctx, data) == CTX_XDP_DATA &&
		   offsetof(struct xdp_ctx, end) == CTX_XDP_END &&
		   offsetof(struct xdp_ctx, meta) == CTX_XDP_META &&
		   offsetof(struct xdp_ctx, n_frags) == CTX_XDP_FRAGS,
	       "isa/ctx.h says where addresses are");

/* Copies a packet of `size` bytes, the first `meta` of which are metadata, `linear` of which lie
 * in the frame, to b and sets ctx up for it. Sizes are checked by the caller. */
void xdp_init(struct xdp_ctx *ctx, const struct packet_buf *b, const void *bytes, uint32_t size,
	      uint32_t meta, uint32_t linear);

/* Bytes of metadata and packet. */
static inline uint32_t xdp_size(const struct xdp_ctx *ctx)
{
	return (uint32_t)(ctx->end - ctx->meta) + ctx->n_frags;
}

/* Bytes of the packet. */
static inline uint32_t xdp_len(const struct xdp_ctx *ctx)
{
	return (uint32_t)(ctx->end - ctx->data) + ctx->n_frags;
}

/* Copies up to n bytes of metadata and packet to out. */
void xdp_copy_out(const struct xdp_ctx *ctx, void *out, uint32_t n);

/* Copies out of the packet; 0, -EFAULT (off or n above 65535) or -EINVAL (outside). */
int xdp_load(const struct xdp_ctx *ctx, uint32_t off, void *to, uint32_t n);

#endif
