/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf_loop with a known callback and no flags, in place: the callback becomes a call of its
 * subprogram. Count, context and number of rounds lie in r6-r8 meanwhile, whose values are kept on
 * the stack. 8 Mi rounds are the most; more are -E2BIG and none is done.
 */
#include <errno.h>
#include <linux/bpf.h>

#include "rewrite/pass.h"

enum { LOOPS_MAX = 8 << 20, SAVED = 3 };

static bool is_loop(const struct op *op, const struct fact *f)
{
	return op->code == OP_CALL && op->imm == BPF_FUNC_loop && f->sub && !f->loop_flags;
}

static struct op mov(uint8_t dst, uint8_t src, uint8_t mode)
{
	return (struct op){ .code = OP_MOV, .mode = OP_REG | mode, .dst = dst, .src = src };
}

/* r6-r8 to the stack at `off`, or back. */
static void saved_put(struct edit *e, int32_t off, bool back)
{
	for (uint8_t i = 0; i < SAVED; i++) {
		struct op op = { .code = OP_ST,
				 .mode = OP_REG | op_mode_size(8),
				 .dst = BPF_FP,
				 .src = (uint8_t)(6 + i),
				 .off = off + 8 * i };

		if (back)
			op = (struct op){ .code = OP_LD,
					  .mode = op_mode_size(8),
					  .dst = op.src,
					  .src = BPF_FP,
					  .off = op.off };
		edit_put(e, op);
	}
}

/* r0 = sub(r7, r8) while it gives 0 and r7, counted up behind each round, is below r6. */
static void rounds_put(struct edit *e, uint32_t sub)
{
	edit_put(e, mov(1, 7, 0));
	edit_put(e, mov(2, 8, 0));
	edit_put(e, (struct op){ .code = OP_CALLSUB, .off = (int32_t)e->old->subs[sub] });
	edit_put(e, (struct op){ .code = OP_ADD, .dst = 7, .imm = 1 });
	edit_put_local(e, (struct op){ .code = OP_JNE, .dst = 0 }, 2);
	edit_put_local(e, (struct op){ .code = OP_JLT, .mode = OP_REG, .dst = 7, .src = 6 }, -5);
}

static void loop_put(struct edit *e, uint32_t sub)
{
	int32_t at = edit_stack(e, 8 * SAVED);

	edit_put(e, (struct op){ .code = OP_MOV, .dst = 0, .imm = -E2BIG });
	edit_put_local(e, (struct op){ .code = OP_JGT, .mode = OP_W32, .dst = 1, .imm = LOOPS_MAX },
		       18);
	saved_put(e, at, false);
	edit_put(e, mov(6, 1, OP_W32));
	edit_put(e, (struct op){ .code = OP_MOV, .dst = 7 });
	edit_put(e, mov(8, 3, 0));
	edit_put_local(e, (struct op){ .code = OP_JEQ, .dst = 6 }, 7);
	rounds_put(e, sub);
	edit_put(e, mov(0, 7, 0));
	saved_put(e, at, true);
}

int rewrite_loop(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		 struct unit **out)
{
	struct edit e;

	if (!u->facts || !u->stack)
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		if (is_loop(&u->ops[i], &u->facts[i]))
			loop_put(&e, u->facts[i].sub - 1);
		else
			edit_keep(&e);
	}
	return edit_finish(&e, r, out);
}
