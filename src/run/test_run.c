/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/test_run.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "run/test_type.h"

#define PAGE 4096u

enum { E_NOTSUPP = 524 };

int test_data_read(const struct test_run *t, uint32_t max, void **out)
{
	void *data;
	int err;

	data = mem_zalloc(max, 1);
	if (!data)
		return -ENOMEM;
	err = t->mem->read(data, t->data_in, t->data_size_in);
	if (err) {
		mem_free(data);
		return err;
	}
	*out = data;
	return 0;
}

/* What lies behind the structure that we know must be zero. */
static int tail_check(const struct test_run *t, uint32_t max)
{
	uint8_t tail[PAGE];
	uint32_t n = t->ctx_size_in;
	int err;

	if (n > PAGE)
		return -E2BIG;
	if (n <= max)
		return 0;
	err = t->mem->read(tail, t->ctx_in + max, n - max);
	for (uint32_t i = 0; i < n - max && !err; i++)
		err = tail[i] ? -E2BIG : 0;
	return err;
}

int test_ctx_read(const struct test_run *t, void *ctx, uint32_t max)
{
	int err;

	memset(ctx, 0, max);
	if (!t->ctx_in)
		return 0;
	err = tail_check(t, max);
	if (err)
		return err;
	return t->mem->read(ctx, t->ctx_in, t->ctx_size_in < max ? t->ctx_size_in : max);
}

int test_ctx_write(struct test_run *t, const void *ctx, uint32_t n)
{
	uint32_t room = t->ctx_size_out;
	int err;

	if (!t->ctx_out)
		return 0;
	err = t->mem->write(t->ctx_out, ctx, n < room ? n : room);
	if (err)
		return err;
	t->ctx_size_out = n;
	t->ctx_done = true;
	return n > room ? -ENOSPC : 0;
}

int test_data_write(struct test_run *t, const struct test_part part[2])
{
	uint32_t size = part[0].n + part[1].n;
	uint32_t copy = t->data_size_out && size > t->data_size_out ? t->data_size_out : size;
	int err = 0;

	if (t->data_out) {
		/* what is cut off is taken off the first part */
		if (copy < part[1].n)
			return -ENOSPC;
		err = t->mem->write(t->data_out, part[0].at, copy - part[1].n);
		if (!err)
			err = t->mem->write(t->data_out + copy - part[1].n, part[1].at,
					    part[1].n < copy ? part[1].n : copy);
	}
	if (err)
		return err;
	t->data_size_out = size;
	t->data_done = true;
	return copy < size ? -ENOSPC : 0;
}

int test_repeat(struct test_run *t, struct packet_run *r)
{
	uint32_t repeat = t->repeat ? t->repeat : 1;
	uint64_t ns;
	int err = packet_run_repeat(r, repeat, &ns);

	if (err)
		return err;
	t->retval = r->verdict;
	ns /= repeat;
	t->duration = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	return 0;
}

int test_run(struct prog *p, struct test_run *t)
{
	struct packet_run r;
	int err;

	t->data_done = t->ctx_done = false;
	if (!t->ctx_size_in != !t->ctx_in || !t->ctx_size_out != !t->ctx_out)
		return -EINVAL;
	if (!packet_run_takes(p->type))
		return -E_NOTSUPP;
	err = packet_run_open(&r, p);
	if (err)
		return err;
	err = p->type == BPF_PROG_TYPE_XDP ? test_run_xdp(&r, t) : test_run_skb(&r, t);
	packet_run_close(&r);
	return err;
}
