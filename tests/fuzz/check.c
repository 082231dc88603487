/* SPDX-License-Identifier: BSD-2-Clause */
#include "check.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "world.h"

static enum phase phase_here;
volatile enum phase *check_phase = &phase_here;

enum { OPS_ENCODED = 30000 };
enum { OPS_LIMIT = 300 * 1000, OPS_LIMIT_LONG = 60 * 1000 * 1000 };

static bool same_ops(const struct unit *a, const struct unit *b)
{
	return a->n_ops == b->n_ops && memcmp(a->ops, b->ops, a->n_ops * sizeof(*a->ops)) == 0 &&
	       a->n_subs == b->n_subs &&
	       memcmp(a->subs, b->subs, a->n_subs * sizeof(*a->subs)) == 0;
}

/* unit -> instructions -> unit. A jump over more than the wire can say is no error. Map references
 * are left out: encoded, they carry ids. */
static int round_trip(const struct unit *u, struct report *r)
{
	struct unit plain = *u, *back = NULL;
	struct bpf_insn *insns;
	uint32_t n;
	int err;

	plain.refs = NULL;
	plain.n_refs = 0;
	err = unit_encode(&plain, r, &insns, &n);
	if (err == -E2BIG && u->n_ops > OPS_ENCODED) {
		report_free(r);
		return 0;
	}
	if (err)
		return err;
	err = unit_decode(insns, n, true, r, &back);
	mem_free(insns);
	if (!err && !same_ops(u, back))
		err = report_fail(r, -EINVAL, "encoded and decoded, it is another program");
	unit_free(back);
	return err;
}

static int round_trips(const struct gen_case *c, struct report *r)
{
	int err = 0;

	for (unsigned i = 0; i < c->n_units && !err; i++)
		err = round_trip(c->unit[i], r);
	return err;
}

static enum verdict fail(struct check *check, struct report *r, const char *what)
{
	const bool unsupported = r->err == -EOPNOTSUPP;

	snprintf(check->text, sizeof(check->text), "%s: %s", what, r->text ? r->text : "failed");
	report_free(r);
	return unsupported ? CHECK_UNSUPPORTED : CHECK_FAILED;
}

/* For a target that is not the host's there is nothing to run. */
static enum verdict compile_only(struct check *check, const struct gen_case *c, struct report *r)
{
	for (unsigned i = 0; i < c->n_units; i++)
		if (engine_compile(&check->other, c->unit[i], r))
			return fail(check, r, check->other.target);
	report_free(r);
	return CHECK_SAME;
}

enum verdict check_case(struct check *check, const struct gen_case *c)
{
	static struct outcome want, got;
	struct report r = { 0 };

	*check_phase = PHASE_MAKE;
	check->text[0] = 0;
	check->reference.max_ops = c->long_run ? OPS_LIMIT_LONG : OPS_LIMIT;
	if (round_trips(c, &r))
		return fail(check, &r, "encode or decode");
	*check_phase = PHASE_OTHER;
	if (check->other.target)
		return compile_only(check, c, &r);
	*check_phase = PHASE_REFERENCE;
	if (!world_run(&check->reference, c, &r, &want))
		return fail(check, &r, check->reference.name);
	if (want.err == -ELOOP)
		return CHECK_LONG;
	*check_phase = PHASE_OTHER;
	if (!world_run(&check->other, c, &r, &got))
		return fail(check, &r, check->other.name);
	*check_phase = PHASE_MAKE;
	report_free(&r);
	outcome_diff(&want, &got, check->text, sizeof(check->text));
	return check->text[0] ? CHECK_DIFFERENT : CHECK_SAME;
}
