/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_xdp_get_buff_len: what lies in the frame, and in fragments. */
#include <linux/bpf.h>

#include "isa/ctx.h"
#include "rewrite/inline.h"

static void put_field(const struct inline_call *c, unsigned size, uint8_t dst, int32_t off)
{
	struct fact fact = fact_unknown();

	fact.ctx = 1;
	edit_put_known(
	    c->e,
	    (struct op){
		.code = OP_LD, .mode = op_mode_size(size), .dst = dst, .src = 1, .off = off },
	    &fact);
}

static bool put(struct inline_call *c)
{
	if (!ctx_is(CTX_XDP_TYPES, c->opts->prog_type))
		return false;
	put_field(c, 8, BPF_AX, CTX_XDP_DATA);
	put_field(c, 8, 0, CTX_XDP_END);
	put_reg(c, OP_SUB, 0, 0, BPF_AX);
	put_field(c, 4, BPF_AX, CTX_XDP_FRAGS);
	put_reg(c, OP_ADD, OP_W32, 0, BPF_AX);
	return true;
}

static const struct inline_row row = {
	.scratch = 1,
	.helper = { BPF_FUNC_xdp_get_buff_len },
	.put = put,
};

int rewrite_buff_len(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		     struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
