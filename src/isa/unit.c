/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/unit.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/fact.h"

void unit_free(struct unit *u)
{
	if (!u)
		return;
	mem_free(u->ops);
	mem_free(u->slot);
	mem_free(u->origin);
	mem_free(u->facts);
	mem_free(u->subs);
	mem_free(u->stack);
	mem_free(u->refs);
	mem_free(u->lines);
	mem_free(u->names);
	mem_free(u);
}

/* A copy of n bytes, or NULL for NULL. *failed becomes true when there is no memory. */
static void *unit_dup(const void *p, size_t n, bool *failed)
{
	void *copy = p ? mem_dup(p, n) : NULL;

	*failed |= p && !copy;
	return copy;
}

/* One block with n pointers and the texts behind them. */
static const char **unit_dup_names(const char *const *names, uint32_t n)
{
	size_t size = n * sizeof(char *), at = size;
	const char **copy;

	for (uint32_t i = 0; i < n; i++)
		size += names[i] ? strlen(names[i]) + 1 : 0;
	copy = mem_zalloc(1, size);
	for (uint32_t i = 0; copy && i < n; i++) {
		if (!names[i])
			continue;
		copy[i] = strcpy((char *)copy + at, names[i]);
		at += strlen(names[i]) + 1;
	}
	return copy;
}

int unit_set_names(struct unit *u, const char *const *names)
{
	const char **copy = unit_dup_names(names, u->n_subs);

	if (!copy)
		return -ENOMEM;
	mem_free(u->names);
	u->names = copy;
	u->sub_names = copy;
	return 0;
}

struct unit *unit_copy(const struct unit *u)
{
	struct unit *copy = mem_dup(u, sizeof(*u));
	bool failed = false;

	if (!copy)
		return NULL;
	copy->ops = unit_dup(u->ops, u->n_ops * sizeof(*u->ops), &failed);
	copy->slot = unit_dup(u->slot, (u->n_ops + 1) * sizeof(*u->slot), &failed);
	copy->origin = unit_dup(u->origin, u->n_ops * sizeof(*u->origin), &failed);
	copy->facts = unit_dup(u->facts, u->n_ops * sizeof(*u->facts), &failed);
	copy->subs = unit_dup(u->subs, u->n_subs * sizeof(*u->subs), &failed);
	copy->stack = unit_dup(u->stack, u->n_subs * sizeof(*u->stack), &failed);
	copy->refs = unit_dup(u->refs, u->n_refs * sizeof(*u->refs), &failed);
	copy->lines = unit_dup(u->lines, u->n_lines * sizeof(*u->lines), &failed);
	copy->names = NULL;
	failed |= u->sub_names && unit_set_names(copy, u->sub_names);
	if (!failed)
		return copy;
	unit_free(copy);
	return NULL;
}

uint32_t unit_sub_of(const struct unit *u, uint32_t i)
{
	uint32_t low = 0, high = u->n_subs;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (u->subs[mid] <= i)
			low = mid;
		else
			high = mid;
	}
	return low;
}

const struct line *unit_line_of(const struct unit *u, uint32_t i)
{
	uint32_t lo = 0, hi = u->n_lines;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (u->lines[mid].op <= i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &u->lines[lo - 1] : NULL;
}

uint32_t unit_op_at(const struct unit *u, uint32_t insn)
{
	const uint32_t *of = u->origin ? u->origin : u->slot;
	uint32_t lo = 0, hi = u->n_ops;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (of[mid] < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool op_starts_sub(const struct op *op)
{
	return op->code == OP_CALLSUB || op->code == OP_LDFUNC;
}

static int unit_index_slots(struct unit *u)
{
	uint32_t at = 0;

	mem_free(u->slot);
	u->slot = mem_zalloc((size_t)u->n_ops + 1, sizeof(*u->slot));
	if (!u->slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->n_ops; i++) {
		u->slot[i] = at;
		at += op_has(&u->ops[i], P_WIDE) ? 2 : 1;
	}
	u->slot[u->n_ops] = at;
	return 0;
}

static int unit_check_targets(const struct unit *u, struct report *r)
{
	for (uint32_t i = 0; i < u->n_ops; i++) {
		const struct op *op = &u->ops[i];
		bool sub = op_starts_sub(op);

		if ((!sub && !op_has(op, P_JUMP)) || (op->off >= 0 && op->off < (int64_t)u->n_ops))
			continue;
		if (sub)
			return report_fail(r, -EINVAL, "insn %u: call to invalid destination",
					   u->slot[i]);
		return report_fail(r, -EINVAL, "jump out of range from insn %u to op %d",
				   u->slot[i], op->off);
	}
	return 0;
}

static int unit_index_subs(struct unit *u)
{
	uint8_t *starts = mem_zalloc(u->n_ops, 1);
	uint32_t n = 0;

	if (!starts)
		return -ENOMEM;
	starts[0] = 1;
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (op_starts_sub(&u->ops[i]))
			starts[u->ops[i].off] = 1;
	for (uint32_t i = 0; i < u->n_ops; i++)
		n += starts[i];
	mem_free(u->subs);
	u->n_subs = 0;
	u->subs = mem_zalloc(n, sizeof(*u->subs));
	for (uint32_t i = 0; u->subs && i < u->n_ops; i++)
		if (starts[i])
			u->subs[u->n_subs++] = i;
	mem_free(starts);
	return u->subs ? 0 : -ENOMEM;
}

static int unit_check_sub(const struct unit *u, uint32_t first, uint32_t end, struct report *r)
{
	uint8_t last = u->ops[end - 1].code;

	for (uint32_t i = first; i < end; i++) {
		uint32_t to = unit_target(u, i);

		if (op_has(&u->ops[i], P_JUMP) && (to < first || to >= end))
			return report_fail(r, -EINVAL, "jump out of range from insn %u to %u",
					   u->slot[i], u->slot[to]);
	}
	if (last != OP_EXIT && last != OP_JA)
		return report_fail(r, -EINVAL, "last insn is not an exit or jmp");
	return 0;
}

int unit_index(struct unit *u, struct report *r)
{
	int err;

	if (!u->n_ops)
		return report_fail(r, -EINVAL, "a program needs at least one instruction");
	err = unit_index_slots(u);
	if (!err)
		err = unit_check_targets(u, r);
	if (!err)
		err = unit_index_subs(u);
	if (err)
		return err;
	for (uint32_t i = 0; i < u->n_subs; i++) {
		uint32_t end = i + 1 < u->n_subs ? u->subs[i + 1] : u->n_ops;

		err = unit_check_sub(u, u->subs[i], end, r);
		if (err)
			return err;
	}
	return 0;
}
