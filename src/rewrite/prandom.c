/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_get_prandom_u32: the slot's generator (base/percpu.h), in place. */
#include <linux/bpf.h>
#include <stddef.h>

#include "base/percpu.h"
#include "rewrite/inline.h"

/* AX ^= AX shifted */
static void put_mix(const struct inline_call *c, uint8_t shift, unsigned by)
{
	put_reg(c, OP_MOV, 0, 1, BPF_AX);
	put_imm(c, shift, 0, 1, by);
	put_reg(c, OP_XOR, 0, BPF_AX, 1);
}

static bool put(struct inline_call *c)
{
	put_imm(c, OP_MOV, 0, 0, offsetof(struct percpu_head, random));
	put_percpu(c, 0, 0);
	put_load(c, 8, BPF_AX, 0, 0);
	put_mix(c, OP_RSH, PERCPU_RANDOM_A);
	put_mix(c, OP_LSH, PERCPU_RANDOM_B);
	put_mix(c, OP_RSH, PERCPU_RANDOM_C);
	edit_put(c->e,
		 (struct op){
		     .code = OP_ST, .mode = OP_REG | op_mode_size(8), .dst = 0, .src = BPF_AX });
	put_imm(c, OP_LDIMM, 0, 0, (int64_t)PERCPU_RANDOM_FACTOR);
	put_reg(c, OP_MUL, 0, 0, BPF_AX);
	put_imm(c, OP_RSH, 0, 0, 32);
	return true;
}

static const struct inline_row row = {
	.traits = TRAIT_PERCPU,
	.scratch = 1,
	.helper = { BPF_FUNC_get_prandom_u32 },
	.put = put,
};

int rewrite_prandom(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		    struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
