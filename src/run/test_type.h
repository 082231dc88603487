/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of PROG_TEST_RUN: what its kinds of contexts share. */
#ifndef SKEP_RUN_TEST_TYPE_H
#define SKEP_RUN_TEST_TYPE_H

#include "run/packet_run.h"
#include "run/test_run.h"

/* One for each kind of context; r is open. */
int test_run_xdp(struct packet_run *r, struct test_run *t);
int test_run_skb(struct packet_run *r, struct test_run *t);

/* A fresh copy (mem_free) of data_in, zero up to `max` >= data_size_in bytes. -EFAULT, -ENOMEM. */
int test_data_read(const struct test_run *t, uint32_t max, void **out);

/* ctx_in to ctx, which has `max` bytes; zeroes when there is none. -E2BIG, -EFAULT. */
int test_ctx_read(const struct test_run *t, void *ctx, uint32_t max);

/* Runs as often as the caller wants; retval and duration are set. 0 or -EBUSY. */
int test_repeat(struct test_run *t, struct packet_run *r);

struct test_part {
	const void *at;
	uint32_t n;
};

/* Packet and context to the caller. -ENOSPC, -EFAULT. */
int test_data_write(struct test_run *t, const struct test_part part[2]);
int test_ctx_write(struct test_run *t, const void *ctx, uint32_t n);

static inline bool test_has_ctx(const struct test_run *t)
{
	return t->ctx_in || t->ctx_out;
}

#endif
