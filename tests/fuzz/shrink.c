/* SPDX-License-Identifier: BSD-2-Clause */
#include "shrink.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "world.h"

/* The phase in memory that a child shares. */
static void share_phase(void)
{
	static volatile enum phase *shared;

	if (shared)
		return;
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check_phase = shared;
}

int shrink_verdict(struct check *check, const struct gen_case *c)
{
	int status = 0;
	pid_t child;

	share_phase();
	fflush(NULL);
	child = fork();
	if (child == 0) {
		enum verdict v;

		alarm(5);
		v = check_case(check, c);
		_exit(v == CHECK_DIFFERENT || v == CHECK_FAILED ? SHRINK_FAILS : SHRINK_OK);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return SHRINK_OK;
	if (WIFSIGNALED(status) || WEXITSTATUS(status) == SHRINK_CRASHED)
		return *check_phase == PHASE_OTHER ? SHRINK_CRASHED : SHRINK_OK;
	return WEXITSTATUS(status);
}

static bool shrink_fails(struct check *check, const struct gen_case *c)
{
	return shrink_verdict(check, c) != SHRINK_OK;
}

static bool make(uint64_t seed, const struct item_set *skip, struct gen_case *out)
{
	if (gen_case_new(seed, skip, out))
		return false;
	if (world_bind(out) == 0)
		return true;
	gen_case_free(out);
	return false;
}

/* Adds items [at, at + n) of c to *skip if the rest still fails; *c becomes the rest. */
static bool drop_items(struct check *check, uint64_t seed, struct item_set *skip,
		       struct gen_case *c, size_t at, size_t n)
{
	const size_t before = skip->v.n;
	struct gen_case less;

	for (size_t i = at; i < at + n && i < c->items.v.n; i++)
		if (vec_push(&skip->v, c->items.v.at[i]))
			return false;
	if (make(seed, skip, &less)) {
		if (shrink_fails(check, &less)) {
			gen_case_free(c);
			*c = less;
			return true;
		}
		gen_case_free(&less);
	}
	skip->v.n = before;
	return false;
}

static void shrink_items(struct check *check, uint64_t seed, struct gen_case *c)
{
	struct item_set skip = { 0 };
	bool again = true;

	while (again) {
		again = false;
		for (size_t n = c->items.v.n; n > 0; n /= 2)
			for (size_t at = 0; at < c->items.v.n;)
				if (drop_items(check, seed, &skip, c, at, n))
					again = true;
				else
					at += n;
	}
	vec_free(&skip.v);
}

/* Registers that op reads, as a mask. */
static uint16_t reads(const struct op *op)
{
	const uint8_t form = op_row(op)->form;
	uint16_t mask =
	    op_has(op, P_READS_DST) || form == FORM_CALLX ? (uint16_t)(1u << op->dst) : 0;

	if ((op->mode & OP_REG) || form == FORM_LD || form == FORM_ATOMIC || form == FORM_ACQ ||
	    form == FORM_REL || form == FORM_CAST || form == FORM_PERCPU || op->code == OP_LDIND)
		mask |= (uint16_t)(1u << op->src);
	if (op_has(op, P_CALL))
		mask |= 0x3e;
	if (op->code == OP_CMPXCHG || op->code == OP_EXIT)
		mask |= 1;
	if (form == FORM_LDABS)
		mask |= 1 << 6;
	return mask;
}

/* An op that only gives a value to a register that nothing in the unit reads. */
static bool is_dead(const struct unit *u, const struct op *op)
{
	uint16_t mask = 0;

	if (op->code != OP_MOV && op->code != OP_LDIMM)
		return false;
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (&u->ops[i] != op)
			mask |= reads(&u->ops[i]);
	return !(mask >> op->dst & 1);
}

static bool is_nop(const struct unit *u, uint32_t i)
{
	return u->ops[i].code == OP_JA && u->ops[i].off == (int32_t)i + 1;
}

/* Ops become jumps to the next while the program still fails. */
static bool shrink_ops(struct check *check, struct gen_case *c, unsigned k)
{
	struct unit *u = c->unit[k];
	bool progress = false;

	for (uint32_t i = u->n_ops - 1; i-- > 0;) {
		const struct op op = u->ops[i];

		if (is_nop(u, i) || (c->pinned[k][i] && !is_dead(u, &u->ops[i])))
			continue;
		u->ops[i] = (struct op){ .code = OP_JA, .off = (int32_t)i + 1 };
		if (unit_index(u, NULL) == 0 && shrink_fails(check, c))
			progress = true;
		else
			u->ops[i] = op;
	}
	return progress;
}

/* Without the jumps to the next op. */
static void remove_nops(struct unit *u)
{
	uint32_t *to = mem_zalloc((size_t)u->n_ops + 1, sizeof(*to));
	uint32_t n = 0;

	for (uint32_t i = 0; to && i <= u->n_ops; i++) {
		to[i] = n;
		n += i < u->n_ops && !is_nop(u, i);
	}
	for (uint32_t i = 0; to && i < u->n_ops; i++) {
		struct op op = u->ops[i];

		if (op_has(&op, P_JUMP) || op.code == OP_CALLSUB || op.code == OP_LDFUNC)
			op.off = (int32_t)to[op.off];
		if (!is_nop(u, i))
			u->ops[to[i]] = op;
	}
	if (to)
		u->n_ops = n;
	mem_free(to);
	unit_index(u, NULL);
}

bool shrink_seed(struct check *check, uint64_t seed, struct gen_case *out)
{
	bool again = true;

	if (!make(seed, NULL, out))
		return false;
	if (!shrink_fails(check, out)) {
		gen_case_free(out);
		return false;
	}
	shrink_items(check, seed, out);
	while (again) {
		again = false;
		for (unsigned k = 0; k < out->n_units; k++)
			again |= shrink_ops(check, out, k);
	}
	for (unsigned k = 0; k < out->n_units; k++)
		remove_nops(out->unit[k]);
	return true;
}
