/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers that copy, write and sum bytes of a socket buffer. */
#include "helper/impl.h"

/* Are n bytes at off inside? */
static bool skb_has(const struct skb_ctx *ctx, uint32_t off, uint64_t n)
{
	return off + n <= skb_len(ctx);
}

HELPER_FN(skb_store_bytes, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	uint32_t off = (uint32_t)r2, n = (uint32_t)r4;
	bool sum = r5 & BPF_F_RECOMPUTE_CSUM;

	if (r5 & ~(uint64_t)(BPF_F_RECOMPUTE_CSUM | BPF_F_INVALIDATE_HASH))
		return helper_err(-EINVAL);
	if (off > INT32_MAX || !skb_has(ctx, off, n))
		return helper_err(-EFAULT);
	if (sum)
		skb_sum_pull(ctx, ctx->data + off, n, off);
	memmove(ctx->data + off, ptr_of(r3), n);
	if (sum)
		skb_sum_push(ctx, ctx->data + off, n, off);
	if (r5 & BPF_F_INVALIDATE_HASH)
		helper_set_hash_invalid(BPF_ARGS(r1, 0, 0, 0, 0));
	return 0;
}

HELPER_FN(skb_load_bytes, r1, r2, r3, r4, r5)
{
	const struct skb_ctx *ctx = skb_of(r1);
	uint32_t off = (uint32_t)r2, n = (uint32_t)r4;

	if (off > INT32_MAX || !skb_has(ctx, off, n)) {
		memset(ptr_of(r3), 0, n);
		return helper_err(-EFAULT);
	}
	memmove(ptr_of(r3), ctx->data + off, n);
	return 0;
}

HELPER_FN(skb_load_bytes_relative, r1, r2, r3, r4, r5)
{
	const struct skb_ctx *ctx = skb_of(r1);
	uint32_t off = (uint32_t)r2, n = (uint32_t)r4, from = (uint32_t)r5;
	const uint8_t *start = from == BPF_HDR_START_MAC ? ctx->mac : ctx->net;

	if (off > 0xffff || from > BPF_HDR_START_NET || start + off + n > ctx->tail) {
		memset(ptr_of(r3), 0, n);
		return helper_err(-EFAULT);
	}
	memmove(ptr_of(r3), start + off, n);
	return 0;
}

HELPER_FN(skb_pull_data, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	skb_refresh(ctx);
	return helper_err((uint32_t)r2 > skb_len(ctx) ? -ENOMEM : 0);
}

/* The 16-bit field at off, or an error that both csum_replace helpers share. */
static int field_get(const struct skb_ctx *ctx, uint32_t off, uint16_t *field)
{
	if (off > 0xffff || off & 1 || !skb_has(ctx, off, sizeof(*field)))
		return -EFAULT;
	memcpy(field, ctx->data + off, sizeof(*field));
	return 0;
}

static void field_put(struct skb_ctx *ctx, uint32_t off, uint16_t field)
{
	memcpy(ctx->data + off, &field, sizeof(field));
}

HELPER_FN(l3_csum_replace, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);
	uint32_t off = (uint32_t)r2;
	uint16_t field;
	int err;

	if (r5 & ~(uint64_t)BPF_F_HDR_FIELD_MASK)
		return helper_err(-EINVAL);
	err = field_get(ctx, off, &field);
	if (err)
		return helper_err(err);
	if (r5 == 0 && r3 == 0)
		field = sum_replace(field, (uint32_t)r4);
	else if (r5 == 2)
		field = sum_replace2(field, (uint16_t)r3, (uint16_t)r4);
	else if (r5 == 4)
		field = sum_replace4(field, (uint32_t)r3, (uint32_t)r4);
	else
		return helper_err(-EINVAL);
	field_put(ctx, off, field);
	return 0;
}

#define F_IPV6 (1ull << 7) /* BPF_F_IPV6 */

/* The sum of the whole packet is not touched by a field and its checksum changing together, but
 * by the pseudo header, which is not in the packet. */
static void sum_follow_words(struct skb_ctx *ctx, uint64_t flags, uint32_t from, uint32_t to)
{
	if (ctx->summed == SKB_SUM_COMPLETE && flags & BPF_F_PSEUDO_HDR)
		ctx->sum = ~sum_add(sum_sub(~ctx->sum, from), to);
}

static void sum_follow_diff(struct skb_ctx *ctx, uint64_t flags, uint32_t diff)
{
	if (ctx->summed == SKB_SUM_COMPLETE && flags & BPF_F_PSEUDO_HDR && !(flags & F_IPV6))
		ctx->sum = ~sum_sub(diff, ctx->sum);
}

HELPER_FN(l4_csum_replace, r1, r2, r3, r4, r5)
{
	const uint64_t all = BPF_F_MARK_MANGLED_0 | BPF_F_MARK_ENFORCE | BPF_F_PSEUDO_HDR |
			     BPF_F_HDR_FIELD_MASK | F_IPV6;
	struct skb_ctx *ctx = skb_of(r1);
	uint32_t off = (uint32_t)r2, size = r5 & BPF_F_HDR_FIELD_MASK;
	bool zero_is_none = r5 & BPF_F_MARK_MANGLED_0;
	uint16_t field;
	int err;

	if (r5 & ~all)
		return helper_err(-EINVAL);
	err = field_get(ctx, off, &field);
	if (err)
		return helper_err(err);
	if (zero_is_none && !(r5 & BPF_F_MARK_ENFORCE) && !field)
		return 0;
	if (size == 0 && r3 == 0) {
		field = sum_replace(field, (uint32_t)r4);
		sum_follow_diff(ctx, r5, (uint32_t)r4);
	} else if (size == 2) {
		field = sum_replace4(field, (uint16_t)r3, (uint16_t)r4);
		sum_follow_words(ctx, r5, (uint16_t)r3, (uint16_t)r4);
	} else if (size == 4) {
		field = sum_replace4(field, (uint32_t)r3, (uint32_t)r4);
		sum_follow_words(ctx, r5, (uint32_t)r3, (uint32_t)r4);
	} else {
		return helper_err(-EINVAL);
	}
	field_put(ctx, off, zero_is_none && !field ? 0xffff : field);
	return 0;
}

HELPER_FN(csum_diff, r1, r2, r3, r4, r5)
{
	uint32_t n_from = (uint32_t)r2, n_to = (uint32_t)r4, sum = (uint32_t)r5, w;
	const uint8_t *from = ptr_of(r1);

	if ((n_from | n_to) & 3 || n_from + n_to > 512)
		return helper_err(-EINVAL);
	for (uint32_t i = 0; i < n_from; i += 4) {
		memcpy(&w, from + i, 4);
		sum = sum_add(sum, ~w);
	}
	return n_to ? sum_bytes(ptr_of(r3), n_to, sum) : sum;
}

HELPER_FN(csum_update, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	if (ctx->summed != SKB_SUM_COMPLETE)
		return helper_err(-ENOTSUPP);
	ctx->sum = sum_add(ctx->sum, (uint32_t)r2);
	return ctx->sum;
}

static void level_inc(struct skb_ctx *ctx)
{
	if (ctx->summed == SKB_SUM_UNNECESSARY) {
		ctx->sum_level += ctx->sum_level < 3;
	} else if (ctx->summed == SKB_SUM_NONE) {
		ctx->summed = SKB_SUM_UNNECESSARY;
		ctx->sum_level = 0;
	}
}

static void level_dec(struct skb_ctx *ctx)
{
	if (ctx->summed != SKB_SUM_UNNECESSARY)
		return;
	if (ctx->sum_level)
		ctx->sum_level--;
	else
		ctx->summed = SKB_SUM_NONE;
}

HELPER_FN(csum_level, r1, r2, r3, r4, r5)
{
	struct skb_ctx *ctx = skb_of(r1);

	switch (r2) {
	case BPF_CSUM_LEVEL_QUERY:
		return ctx->summed == SKB_SUM_UNNECESSARY ? ctx->sum_level : helper_err(-EACCES);
	case BPF_CSUM_LEVEL_INC:
		level_inc(ctx);
		return 0;
	case BPF_CSUM_LEVEL_DEC:
		level_dec(ctx);
		return 0;
	case BPF_CSUM_LEVEL_RESET:
		skb_sum_reset(ctx);
		return 0;
	}
	return helper_err(-EINVAL);
}
