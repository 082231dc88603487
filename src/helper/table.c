/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper/table.h"

#include "helper/impl.h"

static const helper_fn skb_table[HELPER_ID_MAX + 1] = {
#include "helper/entry.def"
};

#define helper_redirect		 helper_xdp_redirect
#define helper_perf_event_output helper_xdp_perf_event_output
#define helper_fib_lookup	 helper_xdp_fib_lookup
#define helper_check_mtu	 helper_xdp_check_mtu

static const helper_fn xdp_table[HELPER_ID_MAX + 1] = {
#include "helper/entry.def"
};

#undef helper_redirect
#undef helper_perf_event_output
#undef helper_fib_lookup
#undef helper_check_mtu
#define helper_perf_event_output helper_plain_perf_event_output

static const helper_fn plain_table[HELPER_ID_MAX + 1] = {
#include "helper/entry.def"
};

#define helper_setsockopt helper_sock_addr_setsockopt
#define helper_getsockopt helper_sock_addr_getsockopt

static const helper_fn sock_addr_table[HELPER_ID_MAX + 1] = {
#include "helper/entry.def"
};

#undef helper_setsockopt
#undef helper_getsockopt
#define helper_setsockopt helper_sock_ops_setsockopt
#define helper_getsockopt helper_sock_ops_getsockopt

static const helper_fn sock_ops_table[HELPER_ID_MAX + 1] = {
#include "helper/entry.def"
};

const struct env helper_env = {
	.helper = skb_table,
	.n_helpers = HELPER_ID_MAX + 1,
	.load_abs = skb_load_abs,
};

const struct env helper_env_xdp = { .helper = xdp_table, .n_helpers = HELPER_ID_MAX + 1 };

static const struct env env_plain = { .helper = plain_table, .n_helpers = HELPER_ID_MAX + 1 };
static const struct env env_sock_addr = { .helper = sock_addr_table,
					  .n_helpers = HELPER_ID_MAX + 1 };
static const struct env env_sock_ops = { .helper = sock_ops_table, .n_helpers = HELPER_ID_MAX + 1 };

const struct env *helper_env_of(uint32_t prog_type)
{
	switch (prog_type) {
	case BPF_PROG_TYPE_XDP:
		return &helper_env_xdp;
	case BPF_PROG_TYPE_CGROUP_SOCK_ADDR:
		return &env_sock_addr;
	case BPF_PROG_TYPE_SOCK_OPS:
		return &env_sock_ops;
	}
	return ctx_is(CTX_SKB_TYPES, prog_type) ? &helper_env : &env_plain;
}
