/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/prog.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "base/clock.h"
#include "base/percpu.h"
#include "base/report.h"
#include "helper/table.h"
#include "interp/interp.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "jit/target.h"
#include "map/map.h"
#include "rewrite/rewrite.h"
#include "run/calls.h"
#include "run/describe.h"
#include "run/fault.h"
#include "run/resolve.h"
#include "run/sha1.h"
#include "run/slot.h"
#include "run/verified.h"
#include "verify/verify.h"

static uint32_t stats_wanted;

static void prog_free(struct obj *o)
{
	struct prog *p = prog_of(o);

	/* A run that found this program through a PROG_ARRAY may still be in its code; one that
	 * never got an id was never found. */
	if (o->id)
		synchronize_rcu();
	image_free((struct image *)p->image);
	unit_free((struct unit *)p->xlated);
	for (size_t i = 0; i < p->maps.n; i++)
		obj_put(&p->maps.at[i]->obj);
	vec_free(&p->maps);
	obj_put(p->btf);
	mem_free(p->funcs.at);
	mem_free(p->lines.at);
	percpu_free(p->stats, sizeof(struct prog_stats));
	pthread_mutex_destroy(&p->maps_lock);
	mem_free(p);
}

int prog_tag_of(const struct bpf_insn *insns, uint32_t n, uint8_t tag[8])
{
	struct bpf_insn *copy = mem_dup(insns, n * sizeof(*copy));
	uint8_t digest[20];

	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < n; i++) {
		if (copy[i].code == (BPF_LD | BPF_IMM | BPF_DW) &&
		    (copy[i].src_reg == BPF_PSEUDO_MAP_FD ||
		     copy[i].src_reg == BPF_PSEUDO_MAP_VALUE)) {
			copy[i].imm = 0;
			copy[++i].imm = 0;
		}
	}
	sha1(copy, n * sizeof(*copy), digest);
	memcpy(tag, digest, 8);
	mem_free(copy);
	return 0;
}

static int prog_new(const struct prog_spec *spec, struct prog **out)
{
	struct prog *p = mem_zalloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	obj_init(&p->obj, OBJ_PROG, prog_free);
	pthread_mutex_init(&p->maps_lock, NULL);
	p->type = spec->type;
	p->attach_type = spec->attach_type;
	p->flags = spec->flags;
	p->gpl = spec->gpl;
	memcpy(p->name, spec->name, sizeof(p->name));
	p->uid = getuid();
	p->load_time = clock_ns(CLOCK_BOOTTIME);
	p->stats = percpu_alloc(sizeof(struct prog_stats), 8);
	*out = p;
	return p->stats ? 0 : -ENOMEM;
}

bool prog_jit_wanted(void)
{
	const char *env = getenv("SKEP_JIT");

	return !(env && !strcmp(env, "0")) && target_find(NULL);
}

/* What compiles the program; NULL: the interpreter is to run it. */
static const struct target *prog_target(const struct prog_spec *spec)
{
	return spec->interpret || !prog_jit_wanted() ? NULL : target_find(NULL);
}

static struct rewrite_opts prog_rewrites(const struct prog_spec *spec)
{
	const struct target *t = prog_target(spec);

	return (struct rewrite_opts){ .scratch = 2,
				      .traits = t ? t->traits : INTERP_TRAITS,
				      .prog_type = spec->type,
				      .jit = t != NULL,
				      .hardened = spec->opts.hardened,
				      .off = spec->opts.rewrites_off,
				      .stop = spec->opts.rewrite_stop };
}

/* Native code for p->xlated, when the JIT is wanted. */
static int prog_compile(struct prog *p, const struct prog_spec *spec, struct report *log)
{
	const struct target *target = prog_target(spec);
	const struct jit_opts opts = { .blind = spec->opts.hardened,
				       .landing_pads = spec->opts.hardened,
				       .sign_returns = spec->opts.hardened,
				       .private_stack = spec->opts.private_stacks };
	struct code *code = NULL;
	struct image *image = NULL;
	int err;

	if (!target)
		return 0;
	err = jit_compile(target, p->xlated, &opts, log, &code);
	if (err)
		return err;
	err = code->n_faults ? fault_init() : 0;
	if (!err)
		err = image_new(code, log, &image);
	if (err) {
		code_free(code);
		return err;
	}
	p->image = image;
	return 0;
}

int prog_fits_array(const struct prog *p, struct map *m)
{
	bool frags = (p->flags & BPF_F_XDP_HAS_FRAGS) != 0;
	uint32_t mine = 1u << 31 | (uint32_t)frags << 30 | (uint32_t)!!p->image << 29 |
			(uint32_t)p->anywhere << 28 | p->type;
	uint32_t owner = 0;

	if (__atomic_compare_exchange_n(&m->owner, &owner, mine, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return 0;
	return owner == mine ? 0 : -EINVAL;
}

/* The arrays that p may tail-call through must hold programs of its kind. */
static int prog_fits_arrays(const struct prog *p)
{
	int err = 0;

	for (size_t i = 0; i < p->maps.n && !err; i++) {
		if (p->maps.at[i]->desc.type == BPF_MAP_TYPE_PROG_ARRAY)
			err = prog_fits_array(p, p->maps.at[i]);
	}
	return err;
}

/* From instructions to ops with maps, lines and names. */
static int prog_decode(struct prog *p, const struct prog_spec *spec, struct report *log,
		       struct unit **out)
{
	struct unit *decoded = NULL;
	int err = unit_decode(spec->insns, spec->n_insns, false, log, &decoded);

	if (err)
		return err;
	if (spec->describe)
		err = spec->describe(spec->describe_arg, decoded, p, log);
	if (!err)
		err = describe_unit(p, decoded);
	if (!err)
		err = resolve_maps(decoded, spec, p, log, out);
	unit_free(decoded);
	if (!err)
		(*out)->env = helper_env_of(spec->type);
	return err;
}

/* What runs, out of what was loaded. What the verifier found is not kept. */
static int prog_rewrite(struct prog *p, const struct prog_spec *spec, const struct unit *u,
			struct report *log)
{
	const struct rewrite_opts rewrites = prog_rewrites(spec);
	struct unit *xlated = NULL;
	int err = rewrite(u, &rewrites, log, &xlated);

	if (err)
		return err;
	p->anywhere = xlated->facts && rewrite_does(&rewrites, REWRITE_ctx);
	p->reads_behind = rewrite_reads_behind(xlated, p->type);
	mem_free(xlated->facts);
	xlated->facts = NULL;
	p->xlated = xlated;
	return 0;
}

/* The stages, in order. What each makes belongs to p. */
static int prog_stages(struct prog *p, const struct prog_spec *spec, struct report *log)
{
	struct unit *u = NULL;
	int err = prog_decode(p, spec, log, &u);

	if (err) {
		verify_log_none(spec->log_level, log);
		return err;
	}
	err = spec->opts.unverified ? verify_unverified(u, log) : prog_verify(p, spec, u, log);
	if (!err)
		err = prog_rewrite(p, spec, u, log);
	unit_free(u);
	if (!err)
		err = calls_check(p->xlated, log);
	if (!err)
		err = prog_compile(p, spec, log);
	if (!err)
		err = prog_fits_arrays(p);
	return err;
}

int prog_load(const struct prog_spec *spec, struct report *log, struct prog **out)
{
	struct prog *p = NULL;
	int err = slot_init();

	if (!err)
		err = prog_new(spec, &p);
	if (!err)
		err = prog_tag_of(spec->insns, spec->n_insns, p->tag);
	if (!err)
		err = prog_stages(p, spec, log);
	if (err) {
		if (p)
			obj_put(&p->obj);
		return err;
	}
	p->callee.native = p->image ? p->image->tail_entry : NULL;
	p->callee.unit = p->xlated;
	*out = p;
	return 0;
}

static uint64_t prog_enter(const struct prog *p, void *ctx)
{
	const uint64_t args[5] = { (uint64_t)(uintptr_t)ctx };
	const struct interp_opts opts = { 0 };
	uint64_t r0 = 0;

	if (p->image)
		return helper_call(p->image->entry, args[0], 0, 0, 0, 0);
	if (interp_run(p->xlated, args, &opts, &r0))
		return 0;
	return r0;
}

static uint64_t prog_enter_counted(const struct prog *p, void *ctx)
{
	struct prog_stats *stats = percpu_this(p->stats);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), r0 = prog_enter(p, ctx);

	stats->runs++;
	stats->ns += clock_ns(CLOCK_MONOTONIC) - start;
	return r0;
}

/* There was no slot to run in. */
static uint64_t prog_missed(const struct prog *p)
{
	struct prog_stats *stats = percpu_at(0, p->stats);

	__atomic_fetch_add(&stats->misses, 1, __ATOMIC_RELAXED);
	return 0;
}

uint64_t prog_run(struct prog *p, void *ctx)
{
	struct slot_run run;
	uint64_t r0;

	if (slot_enter(&run))
		return prog_missed(p);
	rcu_read_lock();
	if (__builtin_expect(__atomic_load_n(&stats_wanted, __ATOMIC_RELAXED) != 0, 0))
		r0 = prog_enter_counted(p, ctx);
	else
		r0 = prog_enter(p, ctx);
	rcu_read_unlock();
	slot_leave(&run);
	return r0;
}

int prog_bind_map(struct prog *p, struct map *m)
{
	int err = 0;

	pthread_mutex_lock(&p->maps_lock);
	for (size_t i = 0; i < p->maps.n; i++) {
		if (p->maps.at[i] == m)
			goto out;
	}
	err = vec_push(&p->maps, m);
	if (!err)
		obj_get(&m->obj);
out:
	pthread_mutex_unlock(&p->maps_lock);
	return err;
}

void prog_stats_enable(int by)
{
	__atomic_add_fetch(&stats_wanted, (uint32_t)by, __ATOMIC_RELAXED);
}

struct prog_stats prog_stats_read(const struct prog *p)
{
	struct prog_stats sum = { 0 };

	for (unsigned i = 0; i < percpu_slots(); i++) {
		const struct prog_stats *s = percpu_at(i, p->stats);

		sum.runs += s->runs;
		sum.ns += s->ns;
		sum.misses += s->misses;
	}
	return sum;
}
