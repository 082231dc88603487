/* SPDX-License-Identifier: BSD-2-Clause */
/* programs.h as BPF: one XDP program each, on a packet of at least SIZE bytes. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "programs.h"

#define PROGRAM(name)                                                                              \
	SEC("xdp") int name(struct xdp_md *ctx)                                                    \
	{                                                                                          \
		u8 *d = (u8 *)(long)ctx->data;                                                     \
		u64 v;                                                                             \
                                                                                                   \
		if (d + SIZE > (u8 *)(long)ctx->data_end)                                          \
			return 0;                                                                  \
		v = bench_##name(d);                                                               \
		return (int)(v ^ v >> 32);                                                         \
	}
BENCHES(PROGRAM)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
