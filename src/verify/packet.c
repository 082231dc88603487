/* SPDX-License-Identifier: BSD-2-Clause */
/* Pointers into the packet: how much of it is known to be there. */
#include "verify/ver.h"

/* May programs of this type touch packet data through pointers? */
bool packet_may(const struct ver *v, bool write)
{
	enum { NO, READ, BOTH };
	static const uint8_t may[] = {
		[BPF_PROG_TYPE_LWT_IN] = READ,
		[BPF_PROG_TYPE_LWT_OUT] = READ,
		[BPF_PROG_TYPE_LWT_SEG6LOCAL] = READ,
		[BPF_PROG_TYPE_SK_REUSEPORT] = READ,
		[BPF_PROG_TYPE_FLOW_DISSECTOR] = READ,
		[BPF_PROG_TYPE_CGROUP_SKB] = READ,
		[BPF_PROG_TYPE_SCHED_CLS] = BOTH,
		[BPF_PROG_TYPE_SCHED_ACT] = BOTH,
		[BPF_PROG_TYPE_XDP] = BOTH,
		[BPF_PROG_TYPE_LWT_XMIT] = BOTH,
		[BPF_PROG_TYPE_SK_SKB] = BOTH,
		[BPF_PROG_TYPE_SK_MSG] = BOTH,
		[BPF_PROG_TYPE_CGROUP_SOCKOPT] = BOTH,
	};
	uint32_t t = v->in->prog_type;

	return t < sizeof(may) && (write ? may[t] == BOTH : may[t] != NO);
}

int packet_access(struct ver *v, unsigned addr, int32_t off, uint32_t size, bool zero_ok)
{
	const struct reg *r = reg(v, addr);

	if (r->s.d.smin < 0)
		return fail(v, -EACCES,
			    "R%u min value is negative, either use unsigned index or do a if "
			    "(index >=0) check.",
			    addr);
	if ((int32_t)r->n >= 0 && off >= 0 && (size || zero_ok) && (uint64_t)off + size <= r->n)
		return 0;
	if ((int32_t)r->n >= 0)
		fail(v, -EACCES, "invalid access to packet, off=%d size=%d, R%u(id=%u,off=%d,r=%d)",
		     off, (int)size, addr, r->id, off, (int)r->n);
	return fail(v, (int32_t)r->n < 0 ? -EINVAL : -EACCES, "R%u offset is outside of the packet",
		    addr);
}

struct find_arg {
	uint32_t id;
	uint8_t kind;
	int32_t room;
};

static void find_one(struct reg *r, void *arg)
{
	const struct find_arg *a = arg;

	if (r->kind == a->kind && r->id == a->id && (int32_t)r->n < a->room)
		r->n = (uint32_t)a->room;
}

/* In s, pkt is at or (open) before the end: all that share its variable offset have that much. A
 * variable offset that might wrap says nothing. */
void packet_find(struct ver *v, struct state *s, const struct reg *pkt, uint8_t kind, bool open)
{
	struct find_arg a = { pkt->id, kind, pkt->off + open };

	if (pkt->off < 0 || (pkt->off == 0 && open))
		return;
	if (pkt->s.d.umax > PKT_OFF_MAX || pkt->s.d.umax + (uint64_t)pkt->off > PKT_OFF_MAX)
		return;
	state_each_reg(s, find_one, &a);
}

static void clear_one(struct reg *r, void *arg)
{
	bool slice = r->kind == KIND_MEM && (r->dyn == DYN_SKB || r->dyn == DYN_XDP);

	if (slice || reg_has(r, K_PKT) || r->kind == KIND_PKT_END)
		reg_set_unknown(r);
}

/* The packet may have moved. */
void packet_clear(struct ver *v)
{
	state_each_reg(v->cur, clear_one, NULL);
}
