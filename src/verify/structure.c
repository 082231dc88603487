/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/verify.h"

#include <errno.h>

#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"

static uint32_t sub_end(const struct unit *u, uint32_t s)
{
	return s + 1 < u->n_subs ? u->subs[s + 1] : u->n_ops;
}

static bool is_call(const struct op *op)
{
	return op->code == OP_CALLSUB || op->code == OP_LDFUNC;
}

static bool falls_through(const struct op *op)
{
	return op->code != OP_EXIT && op->code != OP_JA;
}

/* The op at i, one of [start, end). */
static int op_check(const struct unit *u, uint32_t i, uint32_t start, uint32_t end,
		    struct report *r)
{
	const struct op *op = &u->ops[i];
	uint32_t to = unit_target(u, i);

	if (op_has(op, P_JUMP) && (to < start || to >= end))
		return report_fail(r, -EINVAL, "jump out of range from insn %u to %u", u->slot[i],
				   to <= u->n_ops ? u->slot[to] : to);
	if (is_call(op) && (to >= u->n_ops || u->subs[unit_sub_of(u, to)] != to))
		return report_fail(r, -EINVAL, "insn %u calls into the middle of a function",
				   u->slot[i]);
	return 0;
}

static int sub_check(const struct unit *u, uint32_t s, struct report *r)
{
	uint32_t start = u->subs[s], end = sub_end(u, s);

	for (uint32_t i = start; i < end; i++) {
		int err = op_check(u, i, start, end, r);

		if (err)
			return err;
	}
	if (start == end || falls_through(&u->ops[end - 1]))
		return report_fail(r, -EINVAL, "last insn is not an exit or jmp");
	return 0;
}

/* Sets seen[i] for every op that control can reach from op 0. An op is pushed once at most, so
 * `todo` needs n_ops places. */
static void reach_mark(const struct unit *u, uint8_t *seen, uint32_t *todo)
{
	uint32_t n = 0;

	seen[0] = 1;
	todo[n++] = 0;
	while (n) {
		uint32_t i = todo[--n];
		const struct op *op = &u->ops[i];
		bool jumps = op_has(op, P_JUMP) || is_call(op);

		if (jumps && !seen[unit_target(u, i)]) {
			seen[unit_target(u, i)] = 1;
			todo[n++] = unit_target(u, i);
		}
		if (falls_through(op) && !seen[i + 1]) {
			seen[i + 1] = 1;
			todo[n++] = i + 1;
		}
	}
}

static int reach_check(const struct unit *u, struct report *r)
{
	uint8_t *seen = mem_zalloc(u->n_ops, 1);
	uint32_t *todo = mem_zalloc(u->n_ops, sizeof(*todo));
	int err = seen && todo ? 0 : report_fail(r, -ENOMEM, "out of memory");

	if (!err)
		reach_mark(u, seen, todo);
	for (uint32_t i = 0; !err && i < u->n_ops; i++) {
		if (!seen[i])
			err = report_fail(r, -EINVAL, "unreachable insn %u", u->slot[i]);
	}
	mem_free(todo);
	mem_free(seen);
	return err;
}

/* One pass over all calls: a callee is at least one frame deeper than its caller. True when a
 * depth changed. */
static bool depth_grow(const struct unit *u, uint8_t *depth)
{
	bool grown = false;

	for (uint32_t s = 0; s < u->n_subs; s++) {
		for (uint32_t i = u->subs[s]; i < sub_end(u, s); i++) {
			uint32_t callee;

			if (u->ops[i].code != OP_CALLSUB)
				continue;
			callee = unit_sub_of(u, unit_target(u, i));
			if (depth[s] < VERIFY_FRAMES && depth[callee] <= depth[s]) {
				depth[callee] = (uint8_t)(depth[s] + 1);
				grown = true;
			}
		}
	}
	return grown;
}

/* The longest chain of calls. It has an end within VERIFY_FRAMES passes, or is too deep: a pass
 * that changes something makes the deepest chain longer by a frame or more. */
int verify_depth(const struct unit *u, struct report *r)
{
	uint8_t *depth = mem_zalloc(u->n_subs, 1);
	bool deep = false;

	if (!depth)
		return report_fail(r, -ENOMEM, "out of memory");
	while (!deep && depth_grow(u, depth)) {
		for (uint32_t s = 0; s < u->n_subs; s++)
			deep |= depth[s] >= VERIFY_FRAMES;
	}
	mem_free(depth);
	return deep ? report_fail(r, -EINVAL, "the call stack of %d frames is too deep !",
				  VERIFY_FRAMES)
		    : 0;
}

int verify_structure(const struct unit *u, struct report *r)
{
	int err = 0;

	if (!u->n_ops || !u->n_subs)
		return report_fail(r, -EINVAL, "no instructions");
	for (uint32_t s = 0; !err && s < u->n_subs; s++)
		err = sub_check(u, s, r);
	return err ? err : reach_check(u, r);
}

int verify_unverified(const struct unit *u, struct report *r)
{
	int err;

	for (uint32_t i = 0; i < u->n_ops; i++) {
		if (op_writes_fp(&u->ops[i]))
			return report_fail(r, -EACCES, "insn %u: frame pointer is read only",
					   u->slot[i]);
	}
	err = verify_structure(u, r);
	return err ? err : verify_depth(u, r);
}
