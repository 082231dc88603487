/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/explain.h"

#include "base/clock.h"
#include "base/mem.h"

int fail(struct ver *v, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_addv(v->log, fmt, ap);
	va_end(ap);
	report_add(v->log, "\n");
	if (!v->level)
		return err;
	va_start(ap, fmt);
	report_addv(&v->refusal, fmt, ap);
	va_end(ap);
	report_add(&v->refusal, "\n");
	return err;
}

void note(struct ver *v, const char *fmt, ...)
{
	va_list ap;

	if (!(v->level & (LOG_INSNS | LOG_STATES)))
		return;
	va_start(ap, fmt);
	report_addv(v->log, fmt, ap);
	va_end(ap);
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	mem_free(f->op);
	mem_free(f->stack_depth);
	mem_free(f);
}

static struct facts *facts_new(const struct unit *u)
{
	struct facts *f = mem_zalloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->n_ops = u->n_ops;
	f->op = mem_zalloc(u->n_ops, sizeof(*f->op));
	f->stack_depth = mem_zalloc(u->n_subs, sizeof(*f->stack_depth));
	if (f->op && f->stack_depth)
		return f;
	facts_free(f);
	return NULL;
}

static int ver_init(struct ver *v)
{
	const struct unit *u = v->u;

	v->facts = facts_new(u);
	v->point = mem_zalloc(u->n_ops, sizeof(*v->point));
	v->sub = mem_zalloc(u->n_subs, sizeof(*v->sub));
	v->seen = mem_zalloc(u->n_ops, sizeof(*v->seen));
	if (!v->facts || !v->point || !v->sub || !v->seen)
		return -ENOMEM;
	for (uint32_t s = 0; s < u->n_subs; s++) {
		v->sub[s].start = u->subs[s];
		v->sub[s].end = s + 1 < u->n_subs ? u->subs[s + 1] : u->n_ops;
	}
	return 0;
}

static void ver_free(struct ver *v)
{
	seen_free(v);
	facts_free(v->facts);
	mem_free(v->point);
	mem_free(v->sub);
	mem_free(v->seen);
	report_free(&v->refusal);
	report_free(&v->explanation);
}

/* The global subprograms that the verified ones call, until none is left. */
static int verify_globals(struct ver *v)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t s = 1; s < v->u->n_subs; s++) {
			int err;

			if (!v->sub[s].called || v->sub[s].verified || !v->in->subs ||
			    !v->in->subs[s].global)
				continue;
			v->root = s;
			v->sub[s].verified = true;
			again = true;
			note(v, "Validating %s() func#%u...\n", v->in->subs[s].name, s);
			err = explore(v);
			if (err)
				return err;
			note(v, "Func#%u ('%s') is safe for any args that match its prototype\n", s,
			     v->in->subs[s].name);
		}
	}
	return 0;
}

static void facts_finish(struct ver *v)
{
	struct facts *f = v->facts;

	for (uint32_t s = 0; s < v->u->n_subs; s++)
		f->stack_depth[s] = v->sub[s].depth;
	f->stats = (struct verify_stats){ .insns = v->insns,
					  .max_states_per_insn = v->max_states,
					  .total_states = v->total_states,
					  .peak_states = v->peak_states,
					  .mark_read = v->longest_walk,
					  .stack_depth = v->sub[0].depth,
					  .peak_bytes = v->peak_bytes };
}

static void log_stats(struct ver *v)
{
	if (!v->level)
		return;
	if (v->level & LOG_STATS) {
		report_add(v->log, "verification time %llu usec\nstack depth ",
			   (unsigned long long)((clock_ns(CLOCK_MONOTONIC) - v->begin) / 1000));
		for (uint32_t s = 0; v->u && s < v->u->n_subs; s++)
			report_add(v->log, s ? "+%u" : "%u", v->sub ? v->sub[s].depth : 0);
		report_add(v->log, "\n");
	}
	report_add(v->log,
		   "processed %u insns (limit %d) max_states_per_insn %u total_states %u "
		   "peak_states %u mark_read %u\n",
		   v->insns, INSN_LIMIT, v->max_states, v->total_states, v->peak_states,
		   v->longest_walk);
}

static void log_subs(struct ver *v)
{
	for (uint32_t s = 0; v->level & LOG_STATES && s < v->u->n_subs; s++)
		note(v, "func#%u @%u\n", s, slot_of(v, v->u->subs[s]));
}

/* The structure's messages are refusals like any other. */
static int unit_check(struct ver *v, int (*check)(const struct unit *, struct report *))
{
	struct report said = { 0 };
	int err = check(v->u, v->log ? &said : NULL);

	if (err && said.text)
		fail(v, err, "%.*s", (int)said.n - 1, said.text);
	report_free(&said);
	return err;
}

static int verify_run(struct ver *v)
{
	int err;

	log_subs(v);
	err = unit_check(v, verify_structure);
	if (!err)
		err = maps_check(v);
	if (!err)
		err = typed_attach_check(v);
	if (!err)
		err = ver_init(v);
	if (!err)
		err = points_make(v);
	if (!err)
		err = explore(v);
	if (!err)
		err = verify_globals(v);
	if (!err)
		err = depth_check_all(v);
	if (!err)
		err = unit_check(v, verify_depth);
	return err;
}

int verify(const struct unit *u, const struct verify_input *in, struct report *log,
	   struct facts **out)
{
	struct ver v = { .u = u,
			 .in = in,
			 .log = log,
			 .level = in->log_level,
			 .begin = clock_ns(CLOCK_MONOTONIC) };
	int err = verify_run(&v);

	if (err == -ENOMEM)
		fail(&v, err, "out of memory");
	if (v.facts && v.sub)
		facts_finish(&v);
	log_stats(&v);
	if (err)
		explain_print(&v);
	if (!err && out) {
		*out = v.facts;
		v.facts = NULL;
	}
	ver_free(&v);
	return err;
}

void verify_log_none(unsigned level, struct report *log)
{
	struct ver v = { .level = level, .log = log, .begin = clock_ns(CLOCK_MONOTONIC) };

	log_stats(&v);
}
