/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/packet_run.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <urcu-bp.h>

#include "base/clock.h"
#include "helper/timer.h"
#include "run/slot.h"

#define ON(type) (1ull << BPF_PROG_TYPE_##type)

bool packet_run_takes(uint32_t prog_type)
{
	const uint64_t types = ON(XDP) | ON(SOCKET_FILTER) | ON(SCHED_CLS) | ON(SCHED_ACT) |
			       ON(CGROUP_SKB) | ON(LWT_IN) | ON(LWT_OUT) | ON(LWT_XMIT) |
			       ON(LWT_SEG6LOCAL);

	return prog_type < 64 && (types >> prog_type & 1);
}

int packet_run_open(struct packet_run *r, struct prog *p)
{
	if (!packet_run_takes(p->type))
		return -EOPNOTSUPP;
	r->prog = p;
	return packet_buf_get(&r->buf, !p->anywhere);
}

void packet_run_close(struct packet_run *r)
{
	packet_buf_put(&r->buf);
}

static bool run_is_xdp(const struct packet_run *r)
{
	return r->prog->type == BPF_PROG_TYPE_XDP;
}

static void run_timers(const struct prog *p)
{
	struct slot_run run;

	if (slot_enter(&run))
		return;
	rcu_read_lock();
	timer_fire(p->obj.id);
	rcu_read_unlock();
	slot_leave(&run);
}

static uint32_t run_one(struct packet_run *r)
{
	uint32_t verdict;

	packet_redirect_clear();
	verdict = (uint32_t)prog_run(r->prog, &r->ctx);
	run_timers(r->prog);
	return verdict;
}

int packet_run_repeat(struct packet_run *r, uint32_t repeat, uint64_t *ns)
{
	struct slot_run hold;
	uint64_t owner, start;

	if (slot_hold(&hold))
		return -EBUSY;
	owner = timer_owner_set(r->prog->obj.id);
	start = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < repeat; i++)
		r->verdict = run_one(r);
	*ns = clock_ns(CLOCK_MONOTONIC) - start;
	timer_owner_set(owner);
	slot_leave(&hold);
	return 0;
}

int packet_run_set(struct packet_run *r, const void *bytes, uint32_t n)
{
	uint32_t linear = n < XDP_LINEAR_MAX ? n : XDP_LINEAR_MAX;

	if (!run_is_xdp(r))
		return skb_init(&r->ctx.skb, &r->buf, bytes, n, r->prog->type);
	if (n < PACKET_ETH || n > XDP_LINEAR_MAX + XDP_FRAGS_MAX)
		return -EINVAL;
	xdp_init(&r->ctx.xdp, &r->buf, bytes, n, 0, linear);
	return 0;
}

/* The parts that the packet consists of now; the second is empty but for XDP fragments. */
struct parts {
	const uint8_t *at[2];
	uint32_t n[2];
};

static struct parts run_parts(const struct packet_run *r)
{
	const struct xdp_ctx *x = &r->ctx.xdp;
	const struct skb_ctx *s = &r->ctx.skb;

	if (run_is_xdp(r))
		return (struct parts){ { x->data, x->frags },
				       { (uint32_t)(x->end - x->data), x->n_frags } };
	return (struct parts){ { s->data, s->tail }, { skb_len(s), 0 } };
}

/* An L3 program's packet has an empty Ethernet header now: that is no change. */
static bool run_changed(const struct packet_run *r, const uint8_t *bytes, uint32_t n)
{
	struct parts p = run_parts(r);
	uint32_t skip = run_is_xdp(r) || skb_type_is_l2(r->prog->type) ? 0 : PACKET_ETH;

	if (p.n[0] + p.n[1] != n)
		return true;
	return memcmp(p.at[0] + skip, bytes + skip, p.n[0] - skip) != 0 ||
	       memcmp(p.at[1], bytes + p.n[0], p.n[1]) != 0;
}

int packet_run_batch(struct packet_run *const *runs, uint32_t n, uint64_t *ns)
{
	struct slot_run hold;
	uint64_t owner, start;

	*ns = 0;
	if (!n)
		return 0;
	if (slot_hold(&hold))
		return -EBUSY;
	owner = timer_owner_set(runs[0]->prog->obj.id);
	start = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < n; i++) {
		runs[i]->verdict = run_one(runs[i]);
		runs[i]->redirect = *packet_redirect();
	}
	*ns = clock_ns(CLOCK_MONOTONIC) - start;
	timer_owner_set(owner);
	slot_leave(&hold);
	return 0;
}

void packet_run_get(struct packet_run *r, const void *bytes, uint32_t n, struct packet_result *out)
{
	struct parts p;

	if (!run_is_xdp(r))
		skb_finish(&r->ctx.skb, r->prog->type);
	p = run_parts(r);
	*out = (struct packet_result){ .verdict = r->verdict,
				       .n = p.n[0] + p.n[1],
				       .changed = run_changed(r, bytes, n),
				       .redirect = r->redirect };
}

int packet_run_once(struct packet_run *r, const void *bytes, uint32_t n, struct packet_result *out)
{
	int err = packet_run_set(r, bytes, n);
	uint64_t ns;

	if (err)
		return err;
	err = packet_run_batch(&r, 1, &ns);
	if (!err)
		packet_run_get(r, bytes, n, out);
	return err;
}

void packet_run_copy(const struct packet_run *r, void *out, uint32_t n)
{
	struct parts p = run_parts(r);
	uint32_t first = n < p.n[0] ? n : p.n[0];
	uint32_t second = n - first < p.n[1] ? n - first : p.n[1];

	memcpy(out, p.at[0], first);
	memcpy((uint8_t *)out + first, p.at[1], second);
}

static uint8_t *uapi_addr(uint32_t addr)
{
	return (uint8_t *)(uintptr_t)addr;
}

static uint64_t run_uapi_xdp(struct prog *p, struct xdp_md *md)
{
	struct xdp_ctx ctx = { .md = *md,
			       .data = uapi_addr(md->data),
			       .end = uapi_addr(md->data_end),
			       .meta = uapi_addr(md->data_meta) };
	uint64_t r0;

	ctx.frame = ctx.meta - XDP_FRAME_STRUCT;
	r0 = prog_run(p, &ctx);
	*md = ctx.md;
	return r0;
}

static uint64_t run_uapi_skb(struct prog *p, struct __sk_buff *skb)
{
	struct skb_ctx ctx = { .skb = *skb,
			       .data = uapi_addr(skb->data),
			       .tail = uapi_addr(skb->data_end) };
	uint64_t r0;

	ctx.base = ctx.room = ctx.mac = ctx.net = ctx.data;
	ctx.limit = ctx.tail;
	r0 = prog_run(p, &ctx);
	*skb = ctx.skb;
	return r0;
}

uint64_t packet_run_uapi(struct prog *p, void *ctx)
{
	if (p->reads_behind && ctx_is(CTX_XDP_TYPES, p->type))
		return run_uapi_xdp(p, ctx);
	if (p->reads_behind && ctx_is(CTX_SKB_TYPES, p->type))
		return run_uapi_skb(p, ctx);
	return prog_run(p, ctx);
}
