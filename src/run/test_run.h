/* SPDX-License-Identifier: BSD-2-Clause */
/* PROG_TEST_RUN for programs that take packets, with the checks and errors of Linux 6.12. */
#ifndef SKEP_RUN_TEST_RUN_H
#define SKEP_RUN_TEST_RUN_H

#include "run/prog.h"

/* How the caller's memory is reached. Both return 0 or -EFAULT. */
struct test_mem {
	int (*read)(void *to, uint64_t from, size_t n);
	int (*write)(uint64_t to, const void *from, size_t n);
};

/* The attributes, named as in union bpf_attr. */
struct test_run {
	const struct test_mem *mem;
	uint64_t data_in, data_out, ctx_in, ctx_out; /* the caller's addresses, 0: none */
	uint32_t data_size_in, ctx_size_in, repeat, flags, cpu, batch_size;
	uint32_t data_size_out, ctx_size_out; /* in: room; out: size */
	uint32_t retval, duration;	      /* out; duration: ns of one run */
	bool data_done; /* retval, duration and data_size_out are results, even after -ENOSPC */
	bool ctx_done;	/* ctx_size_out is */
};

/* 0, -ENOSPC (results are there, cut off), -EOPNOTSUPP for BPF_F_TEST_XDP_LIVE_FRAMES, or what the
 * kernel gives: -EINVAL, -E2BIG, -EFAULT, -ENODEV, -ENOMEM, -EBADMSG, -ENOTSUPP (524). */
int test_run(struct prog *p, struct test_run *t);

#endif
