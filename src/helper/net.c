/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stand-ins for the network around a packet: routes, devices, sockets, cgroups. There is one
 * device, the loopback, which does not forward; no socket but the one that a packet comes with; one
 * cgroup, the root. The answers are those of a kernel in that state.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "helper/impl.h"
#include "map/cgroup_array.h"
#include "map/map.h"

enum { CGROUP_ROOT_ID = 1, FIB_FLAGS = 0x3f };

/* Multicast, link-local and loopback addresses are never forwarded. */
static bool ip6_stays(const uint8_t *a)
{
	static const uint8_t loopback[16] = { [15] = 1 };

	return a[0] == 0xff || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80) ||
	       memcmp(a, loopback, 16) == 0;
}

static int fib_answer(const struct bpf_fib_lookup *p)
{
	if (p->family == AF_INET6 &&
	    (ip6_stays((const uint8_t *)p->ipv6_dst) || ip6_stays((const uint8_t *)p->ipv6_src)))
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	return p->ifindex == PACKET_LO ? BPF_FIB_LKUP_RET_FWD_DISABLED : -ENODEV;
}

HELPER_FN(fib_lookup, r1, r2, r3, r4, r5)
{
	struct bpf_fib_lookup p;

	if ((int32_t)r3 < (int32_t)sizeof(p) || (uint32_t)r4 & ~FIB_FLAGS)
		return helper_err(-EINVAL);
	memcpy(&p, ptr_of(r2), sizeof(p));
	if (p.family != AF_INET && p.family != AF_INET6)
		return helper_err(-EAFNOSUPPORT);
	return helper_err(fib_answer(&p));
}

HELPER_FN(xdp_fib_lookup, r1, r2, r3, r4, r5)
{
	return helper_fib_lookup(BPF_ARGS(r1, r2, r3, r4, r5));
}

/* Compares with the loopback's MTU. len: of the packet, used when *mtu_len is 0. */
static int mtu_check(uint32_t len, uint32_t *mtu_len, int32_t diff)
{
	int64_t n = (int64_t)(*mtu_len ? *mtu_len + PACKET_ETH : len) + diff;

	*mtu_len = PACKET_LO_MTU;
	return n <= PACKET_LO_MTU + PACKET_ETH ? BPF_MTU_CHK_RET_SUCCESS
					       : BPF_MTU_CHK_RET_FRAG_NEEDED;
}

static bool dev_exists(uint32_t ifindex)
{
	return ifindex == 0 || ifindex == PACKET_LO;
}

HELPER_FN(check_mtu, r1, r2, r3, r4, r5)
{
	const struct skb_ctx *ctx = skb_of(r1);
	uint32_t *mtu_len = ptr_of(r3);
	int ret;

	if (r5 & ~(uint64_t)BPF_MTU_CHK_SEGS)
		return helper_err(-EINVAL);
	if (r5 & BPF_MTU_CHK_SEGS && ((int32_t)r4 || *mtu_len))
		return helper_err(-EINVAL);
	if (!dev_exists((uint32_t)r2))
		return helper_err(-ENODEV);
	ret = mtu_check(skb_len(ctx), mtu_len, (int32_t)r4);
	if (ret == BPF_MTU_CHK_RET_FRAG_NEEDED && ctx->skb.gso_size && !(r5 & BPF_MTU_CHK_SEGS))
		ret = BPF_MTU_CHK_RET_SUCCESS;
	return helper_err(ret);
}

HELPER_FN(xdp_check_mtu, r1, r2, r3, r4, r5)
{
	const struct xdp_ctx *ctx = xdp_of(r1);

	if (r5)
		return helper_err(-EINVAL);
	if (!dev_exists((uint32_t)r2))
		return helper_err(-ENODEV);
	return helper_err(mtu_check((uint32_t)(ctx->end - ctx->data), ptr_of(r3), (int32_t)r4));
}

/* Look-ups find nothing. */
#define FINDS_NOTHING(name)                                                                        \
	HELPER_FN(name, r1, r2, r3, r4, r5)                                                        \
	{                                                                                          \
		return 0;                                                                          \
	}

FINDS_NOTHING(sk_lookup_tcp)
FINDS_NOTHING(sk_lookup_udp)
FINDS_NOTHING(skc_lookup_tcp)
FINDS_NOTHING(tcp_sock)
FINDS_NOTHING(get_listener_sock)
FINDS_NOTHING(skc_to_tcp6_sock)
FINDS_NOTHING(skc_to_tcp_sock)
FINDS_NOTHING(skc_to_tcp_timewait_sock)
FINDS_NOTHING(skc_to_tcp_request_sock)
FINDS_NOTHING(skc_to_udp6_sock)
FINDS_NOTHING(skc_to_unix_sock)
FINDS_NOTHING(skc_to_mptcp_sock)
FINDS_NOTHING(sk_release)
FINDS_NOTHING(get_cgroup_classid)
FINDS_NOTHING(skb_cgroup_classid)
FINDS_NOTHING(sk_storage_get)
FINDS_NOTHING(cgrp_storage_get)
FINDS_NOTHING(get_socket_uid) /* the packet's socket belongs to root */

/* The packet's socket is a full one. */
HELPER_FN(sk_fullsock, r1, r2, r3, r4, r5)
{
	return r1;
}

/* Packets come with a socket, and it is always the same one. */
HELPER_FN(get_socket_cookie, r1, r2, r3, r4, r5)
{
	return 1;
}

/* There is one network namespace. */
HELPER_FN(get_netns_cookie, r1, r2, r3, r4, r5)
{
	return 1;
}

HELPER_FN(sk_assign, r1, r2, r3, r4, r5)
{
	return helper_err(!r2 || r3 ? -EINVAL : -EOPNOTSUPP); /* not at ingress */
}

HELPER_FN(sk_storage_delete, r1, r2, r3, r4, r5)
{
	return helper_err(r2 ? -ENOENT : -EINVAL);
}

HELPER_FN(cgrp_storage_delete, r1, r2, r3, r4, r5)
{
	return helper_err(r2 ? -ENOENT : -EINVAL);
}

/* The root has no ancestor but itself. */
static uint64_t ancestor_id(int32_t level)
{
	return level == 0 ? CGROUP_ROOT_ID : 0;
}

HELPER_FN(get_current_cgroup_id, r1, r2, r3, r4, r5)
{
	return CGROUP_ROOT_ID;
}

HELPER_FN(get_current_ancestor_cgroup_id, r1, r2, r3, r4, r5)
{
	return ancestor_id((int32_t)r1);
}

HELPER_FN(skb_cgroup_id, r1, r2, r3, r4, r5)
{
	return CGROUP_ROOT_ID;
}

HELPER_FN(skb_ancestor_cgroup_id, r1, r2, r3, r4, r5)
{
	return ancestor_id((int32_t)r2);
}

HELPER_FN(sk_cgroup_id, r1, r2, r3, r4, r5)
{
	return r1 ? CGROUP_ROOT_ID : 0;
}

HELPER_FN(sk_ancestor_cgroup_id, r1, r2, r3, r4, r5)
{
	return r1 ? ancestor_id((int32_t)r2) : 0;
}

/* Only the root's number is that of a group which the root is under. */
static int root_under(const struct map *m, uint32_t i)
{
	uint64_t id = cgroup_array_at(m, i);

	if (i >= m->desc.max_entries)
		return -E2BIG;
	return id ? id == CGROUP_ROOT_ID : -EAGAIN;
}

HELPER_FN(skb_under_cgroup, r1, r2, r3, r4, r5)
{
	return helper_err(root_under(ptr_of(r2), (uint32_t)r3));
}

HELPER_FN(current_task_under_cgroup, r1, r2, r3, r4, r5)
{
	return helper_err(root_under(ptr_of(r1), (uint32_t)r2));
}

/* All runs share one storage, large enough for any map's value. */
HELPER_FN(get_local_storage, r1, r2, r3, r4, r5)
{
	static uint64_t storage[8192];

	return (uintptr_t)storage;
}

/* No socket listens. */
HELPER_FN(tcp_check_syncookie, r1, r2, r3, r4, r5)
{
	return helper_err(-EINVAL);
}

HELPER_FN(tcp_gen_syncookie, r1, r2, r3, r4, r5)
{
	return helper_err(-EINVAL);
}
