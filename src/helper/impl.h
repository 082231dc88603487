/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of helper/: prototypes of all helpers, from isa/helper.def, and what they share. */
#ifndef SKEP_HELPER_IMPL_H
#define SKEP_HELPER_IMPL_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "helper/skb.h"
#include "helper/sum.h"
#include "helper/xdp.h"
#include "isa/abi.h"
#include "isa/helper.h"

#define PROTO(name)                                                                                \
	uint64_t helper_##name(                                                                    \
	    BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5));
#define PROTO_IMPLEMENTED(name) PROTO(name)
#define PROTO_STAND_IN(name)	PROTO(name)
#define PROTO_NONE(name)
#define HELPER(id, name, ret, a1, a2, a3, a4, a5, flags, progs, status, doc) PROTO_##status(name)
#include "isa/helper.def"

/* Variants for XDP programs. */
PROTO(xdp_redirect)
PROTO(xdp_perf_event_output)
PROTO(xdp_fib_lookup)
PROTO(xdp_check_mtu)

/* For programs whose context is no packet. */
PROTO(plain_perf_event_output)

/* Variants for CGROUP_SOCK_ADDR and SOCK_OPS. */
PROTO(sock_addr_setsockopt)
PROTO(sock_addr_getsockopt)
PROTO(sock_ops_setsockopt)
PROTO(sock_ops_getsockopt)

/* Defines helper_NAME. Unused arguments are named too. */
#define HELPER_FN(name, r1, r2, r3, r4, r5)                                                        \
	uint64_t helper_##name(                                                                    \
	    BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5))

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* kernel only */
#endif

/* -errno as programs see it. */
static inline uint64_t helper_err(int err)
{
	return (uint64_t)(int64_t)err;
}

static inline struct skb_ctx *skb_of(uint64_t r)
{
	return (struct skb_ctx *)(uintptr_t)r;
}

static inline struct xdp_ctx *xdp_of(uint64_t r)
{
	return (struct xdp_ctx *)(uintptr_t)r;
}

static inline void *ptr_of(uint64_t r)
{
	return (void *)(uintptr_t)r;
}

/* Copies n bytes from an address that may be bad. 0 or -EFAULT with the destination zeroed. */
int safe_copy(void *to, uint64_t from, size_t n);

/* Copies a string with its NUL, at most n bytes. Its length with NUL, or -EFAULT. A longer one is
 * cut off. */
long safe_copy_str(char *to, uint64_t from, size_t n);

/* Formats as the kernel's helpers do: fmt with up to n numbers. Length as snprintf gives it, or
 * -EINVAL when the kernel would refuse fmt. */
int format_args(char *to, size_t size, const char *fmt, const uint64_t *args, unsigned n);

#endif
