/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "run/test_type.h"

#define LIVE_FRAMES (1u << 1) /* BPF_F_TEST_XDP_LIVE_FRAMES */

/* How the input is laid out: metadata first, `linear` bytes in the frame. */
struct layout {
	uint32_t meta, linear;
};

static int attrs_check(const struct prog *p, const struct test_run *t)
{
	if (p->attach_type == BPF_XDP_DEVMAP || p->attach_type == BPF_XDP_CPUMAP)
		return -EINVAL;
	if (t->flags & ~LIVE_FRAMES)
		return -EINVAL;
	if (t->flags)
		return -EOPNOTSUPP;
	return t->batch_size ? -EINVAL : 0;
}

static int layout_of(const struct test_run *t, const struct xdp_md *md, struct layout *out)
{
	uint32_t max;

	*out = (struct layout){ 0, t->data_size_in };
	if (test_has_ctx(t)) {
		if (md->data_meta || md->data_end > t->data_size_in || md->data > md->data_end)
			return -EINVAL;
		if (md->data % 4 || md->data > XDP_META_MAX)
			return -EINVAL;
		*out = (struct layout){ md->data, md->data_end };
	}
	max = XDP_LINEAR_MAX + out->meta;
	if (out->linear > max)
		out->linear = max;
	return t->data_size_in - out->meta < PACKET_ETH ? -EINVAL : 0;
}

/* Devices that the context may name: none, or the loopback with its one queue. */
static int device_check(const struct xdp_md *md)
{
	if (md->egress_ifindex || (!md->ingress_ifindex && md->rx_queue_index))
		return -EINVAL;
	if (md->ingress_ifindex && md->ingress_ifindex != PACKET_LO)
		return -ENODEV;
	return md->rx_queue_index ? -EINVAL : 0;
}

static int xdp_write(struct packet_run *r, struct test_run *t, struct xdp_md *md)
{
	const struct xdp_ctx *x = &r->ctx.xdp;
	const struct test_part part[2] = { { x->meta, (uint32_t)(x->end - x->meta) },
					   { x->frags, x->n_frags } };
	int err = test_data_write(t, part);

	md->data = (uint32_t)(x->data - x->meta);
	md->data_end = part[0].n;
	return err ? err : test_ctx_write(t, md, sizeof(*md));
}

int test_run_xdp(struct packet_run *r, struct test_run *t)
{
	struct layout l;
	struct xdp_md md;
	void *data = NULL;
	int err = attrs_check(r->prog, t);

	if (!err)
		err = test_ctx_read(t, &md, sizeof(md));
	if (!err)
		err = layout_of(t, &md, &l);
	if (!err)
		err = device_check(&md);
	if (!err && t->data_size_in - l.linear > XDP_FRAGS_MAX)
		err = -ENOMEM;
	if (!err)
		err = test_data_read(t, t->data_size_in, &data);
	if (err)
		return err;
	xdp_init(&r->ctx.xdp, &r->buf, data, t->data_size_in, l.meta, l.linear);
	err = test_repeat(t, r);
	if (!err)
		err = xdp_write(r, t, &md);
	mem_free(data);
	return err;
}
