/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where skep's contexts keep the addresses of their packet: right behind the UAPI structure that
 * the program knows, whose fields for them have 32 bits only. Offsets from the context's address;
 * helper/xdp.h and helper/skb.h hold to them.
 */
#ifndef SKEP_ISA_CTX_H
#define SKEP_ISA_CTX_H

#include <linux/bpf.h>
#include <stdint.h>

enum {
	CTX_XDP_DATA = sizeof(struct xdp_md),
	CTX_XDP_END = CTX_XDP_DATA + 8,
	CTX_XDP_META = CTX_XDP_DATA + 16,
	CTX_XDP_FRAGS = CTX_XDP_DATA + 40, /* 4 bytes: how many there are in fragments */
	CTX_SKB_DATA = sizeof(struct __sk_buff),
	CTX_SKB_END = CTX_SKB_DATA + 8,
};

#define CTX_ON(type) (1ull << BPF_PROG_TYPE_##type)

/* The program types whose context is a struct __sk_buff. */
#define CTX_SKB_TYPES                                                                              \
	(CTX_ON(SOCKET_FILTER) | CTX_ON(SCHED_CLS) | CTX_ON(SCHED_ACT) | CTX_ON(CGROUP_SKB) |      \
	 CTX_ON(LWT_IN) | CTX_ON(LWT_OUT) | CTX_ON(LWT_XMIT) | CTX_ON(LWT_SEG6LOCAL) |             \
	 CTX_ON(SK_SKB) | CTX_ON(FLOW_DISSECTOR))
#define CTX_XDP_TYPES CTX_ON(XDP)

static inline int ctx_is(uint64_t types, uint32_t prog_type)
{
	return prog_type < 64 && (types >> prog_type & 1);
}

#endif
