/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/verified.h"

#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/btf.h"
#include "map/map.h"
#include "verify/subs.h"
#include "verify/verify.h"

static void map_special(const struct map_desc *d, uint32_t off[VERIFY_SPECIALS])
{
	off[SPECIAL_LOCK] = d->spin_lock_off;
	off[SPECIAL_TIMER] = d->timer_off;
	off[SPECIAL_WORK] = d->work_off;
}

static int subs_of(const struct prog *p, const struct unit *u, struct verify_sub **out)
{
	const struct btf_obj *b = p->btf ? btf_obj_of(p->btf) : NULL;

	return subs_make(u, b, p->funcs.at, p->funcs.n, p->type, out);
}

static struct verify_input input_of(const struct prog_spec *spec, const struct verify_sub *subs)
{
	return (struct verify_input){
		.prog_type = spec->type,
		.attach_type = spec->attach_type,
		.gpl = spec->gpl,
		.strict_align = (spec->flags & (BPF_F_STRICT_ALIGNMENT | BPF_F_ANY_ALIGNMENT)) ==
				BPF_F_STRICT_ALIGNMENT,
		.test_states = spec->flags & BPF_F_TEST_STATE_FREQ,
		.sleepable = spec->flags & BPF_F_SLEEPABLE,
		.key_facts =
		    !spec->log_level, /* they cost states: a log is as the kernel writes it */
		.log_level = spec->log_level,
		.subs = subs,
		.map_special = map_special,
	};
}

/* Moves what was found into the unit. */
static void facts_take(struct unit *u, struct facts *f)
{
	u->stack = f->stack_depth;
	u->facts = f->op;
	f->stack_depth = NULL;
	f->op = NULL;
}

int prog_verify(struct prog *p, const struct prog_spec *spec, struct unit *u, struct report *log)
{
	struct verify_sub *subs = NULL;
	struct facts *facts = NULL;
	struct verify_input in;
	int err = subs_of(p, u, &subs);

	in = input_of(spec, subs);
	if (!err)
		err = verify(u, &in, log, &facts);
	if (!err) {
		facts_take(u, facts);
		p->verified = true;
		p->verified_insns = facts->stats.insns;
	}
	facts_free(facts);
	mem_free(subs);
	return err;
}
