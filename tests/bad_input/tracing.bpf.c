/* SPDX-License-Identifier: BSD-2-Clause */
/* A good object whose program takes no packets. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("kprobe/do_nothing")
int on_call(void *ctx)
{
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
