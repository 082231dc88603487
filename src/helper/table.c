/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper/table.h"

#include "helper/impl.h"

/* A row of the table; helpers that are not built have none. */
#define ENTRY_IMPLEMENTED(id, name) [id] = helper_##name,
#define ENTRY_STAND_IN(id, name)    [id] = helper_##name,
#define ENTRY_NONE(id, name)

static const helper_fn skb_table[HELPER_ID_MAX + 1] = {
#define HELPER(id, name, ret, a1, a2, a3, a4, a5, flags, progs, status, doc)                       \
	ENTRY_##status(id, name)
#include "isa/helper.def"
};

#define helper_redirect		 helper_xdp_redirect
#define helper_perf_event_output helper_xdp_perf_event_output
#define helper_fib_lookup	 helper_xdp_fib_lookup
#define helper_check_mtu	 helper_xdp_check_mtu

static const helper_fn xdp_table[HELPER_ID_MAX + 1] = {
#define HELPER(id, name, ret, a1, a2, a3, a4, a5, flags, progs, status, doc)                       \
	ENTRY_##status(id, name)
#include "isa/helper.def"
};

const struct env helper_env = {
	.helper = skb_table,
	.n_helpers = HELPER_ID_MAX + 1,
	.load_abs = skb_load_abs,
};

const struct env helper_env_xdp = {
	.helper = xdp_table,
	.n_helpers = HELPER_ID_MAX + 1,
};
