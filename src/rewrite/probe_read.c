/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_probe_read and its forms for the kernel and for users, of up to 64 bytes: loads that give 0
 * where they fault, and stores. Such a load does not say that it faulted. Where somebody asks, 0 is
 * read once more, by the helper. More than a word is only read within one page: it is readable as a
 * whole or not at all.
 */
#include <linux/bpf.h>

#include "rewrite/inline.h"

enum { READ_MAX = 64, PAGE = 4096 };

/* r1[off] = r3[off], which also goes to the result. */
static void put_part(const struct inline_call *c, unsigned off, unsigned size)
{
	edit_put(c->e, (struct op){ .code = OP_LD,
				    .mode = OP_PROBE | op_mode_size(size),
				    .dst = BPF_AX,
				    .src = 3,
				    .off = (int32_t)off });
	edit_put(c->e, (struct op){ .code = OP_ST,
				    .mode = OP_REG | op_mode_size(size),
				    .dst = 1,
				    .src = BPF_AX,
				    .off = (int32_t)off });
	if (!c->ignored)
		put_reg(c, off ? OP_OR : OP_MOV, 0, 0, BPF_AX);
}

/* The largest power of two in n, at most 8. */
static unsigned part_of(unsigned n)
{
	return n >= 8 ? 8 : 1u << (31 - __builtin_clz(n));
}

static unsigned parts_of(unsigned n)
{
	unsigned parts = 0;

	for (; n; n -= part_of(n))
		parts++;
	return parts;
}

static void put_jump(const struct inline_call *c, uint8_t code, uint8_t reg, int64_t imm,
		     unsigned over)
{
	edit_put_local(c->e, (struct op){ .code = code, .dst = reg, .imm = imm },
		       (int32_t)over + 1);
}

/*
 *   if (r3 & 4095) > 4096 - n goto call         more than one part
 *   r0 = the parts, or-ed                       result is read
 *   if r0 == 0 goto call
 *   r0 = 0
 *   goto behind
 * call:
 */
static bool put(struct inline_call *c)
{
	unsigned parts, size;
	uint64_t n;
	bool pages, asked = !c->ignored;

	if (!known_argument(c, 2, &n) || !n || n > READ_MAX)
		return false;
	parts = parts_of((unsigned)n);
	pages = parts > 1;
	if (pages) {
		put_reg(c, OP_MOV, 0, BPF_AX, 3);
		put_imm(c, OP_AND, 0, BPF_AX, PAGE - 1);
		put_jump(c, OP_JGT, BPF_AX, PAGE - (int64_t)n,
			 (asked ? 3 : 2) * parts + (asked ? 2 : 0) + 1);
	}
	for (unsigned off = 0; off < n; off += size) {
		size = part_of((unsigned)n - off);
		put_part(c, off, size);
	}
	if (asked) {
		put_jump(c, OP_JEQ, 0, 0, 2);
		put_imm(c, OP_MOV, 0, 0, 0);
	}
	if (asked || pages) {
		edit_put(c->e, (struct op){ .code = OP_JA, .off = (int32_t)c->behind });
		edit_put(c->e, (struct op){ .code = OP_CALL, .imm = c->helper });
	}
	return true;
}

static const struct inline_row row = {
	.scratch = 1,
	.helper = { BPF_FUNC_probe_read, BPF_FUNC_probe_read_user, BPF_FUNC_probe_read_kernel },
	.put = put,
};

int rewrite_probe_read(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		       struct unit **out)
{
	return inline_calls(&row, u, opts, r, out);
}
