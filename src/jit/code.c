/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "jit/host.h"
#include "jit/image.h"
#include "jit/private.h"
#include "jit/target.h"

/* Where the arena of what is only shown would lie. */
#define DUMP_ARENA (1ull << 44)

static const struct target *const targets[] = { &target_x86_64, &target_arm64 };

const struct target *target_find(const char *name)
{
	if (!name)
		return host_target();
	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		if (!strcmp(targets[i]->name, name))
			return targets[i];
	return NULL;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	mem_free(c->bytes);
	mem_free(c->sub_offset);
	mem_free(c->lines);
	mem_free(c->faults);
	mem_free(c->fixups);
	percpu_free(c->private_off, c->private_size);
	mem_free(c);
}

int code_link(const struct code *c, uint64_t base, uint8_t *out)
{
	memcpy(out, c->bytes, c->size);
	for (size_t i = 0; i < c->n_fixups; i++) {
		const struct code_fixup *f = &c->fixups[i];
		int err = c->target->fixup(out + f->offset, f->kind, base + f->offset, f->address);

		if (err)
			return err;
	}
	return 0;
}

/* Features and surroundings that the code is made for. Where no image can be had, the code can
 * still be made, with everything far away. */
static int builder_set_up(struct builder *b)
{
	int err;

	b->dump = b->opts->base || host_target() != b->target;
	if (!b->dump)
		image_range(&b->near_lo, &b->near_hi);
	b->percpu_tp = b->dump ? b->target->thread_vars : host_percpu_tp();
	b->cpu_tp = b->dump ? b->target->thread_vars - 4 : host_cpu_tp();
	b->tail_tp = b->dump ? b->target->thread_vars + 8 : host_tail_tp();
	err = b->target->cpu(b->opts->cpu, &b->features);
	b->features &= ~b->opts->features_off;
	b->sign = b->opts->sign_returns && b->target->signs && b->target->signs(b->features);
	b->arena = b->unit->arena ? b->unit->arena : b->dump ? DUMP_ARENA : 0;
	b->blind = b->opts->blind_seed;
	if (b->opts->blind && !b->blind && getrandom(&b->blind, sizeof(b->blind), 0) < 0)
		builder_fail(b, -errno, "no random numbers to blind constants with");
	return err;
}

static int compile(struct builder *b, struct code *code, struct frame *frames)
{
	builder_expect(b, b->unit->n_ops);
	frames_scan(b, frames);
	if (b->privates && private_alloc(b, code))
		builder_fail(b, -ENOMEM, "no per-CPU memory for private stacks");
	lower(b, frames, code);
	return relax(b, code);
}

static int compile_checked(struct builder *b, struct report *r, struct code *code,
			   struct frame *frames)
{
	int err;

	if (b->unit->arena & UINT32_MAX)
		return report_fail(r, -EINVAL,
				   "jit: the arena does not begin at a multiple of 4 GiB");
	if (!b->unit->n_ops || !b->unit->n_subs)
		return report_fail(r, -EINVAL, "jit: the unit is empty");
	err = builder_set_up(b);
	if (err)
		return report_fail(r, err, "jit: no cpu '%s' of %s; there are%s",
				   b->opts->cpu ? b->opts->cpu : "(running)", b->target->name,
				   b->target->cpus);
	if (!code || !code->sub_offset || !frames)
		return report_fail(r, -ENOMEM, "jit: out of memory");
	code->target = b->target;
	code->n_subs = b->unit->n_subs;
	code->dump = b->dump;
	err = compile(b, code, frames);
	if (err)
		return report_fail(r, err, "jit: %s: insn %u: %s", b->target->name,
				   b->unit->slot ? b->unit->slot[b->op] : b->op, b->message);
	return 0;
}

int jit_compile(const struct target *t, const struct unit *u, const struct jit_opts *opts,
		struct report *r, struct code **out)
{
	static const struct jit_opts none;
	struct builder b = { .target = t, .unit = u, .opts = opts ? opts : &none };
	struct code *code = mem_zalloc(1, sizeof(*code));
	struct frame *frames = mem_zalloc(u->n_subs, sizeof(*frames));
	int err;

	if (code)
		code->sub_offset = mem_zalloc(u->n_subs, sizeof(*code->sub_offset));
	err = compile_checked(&b, r, code, frames);
	builder_free(&b);
	mem_free(frames);
	if (err)
		code_free(code);
	else
		*out = code;
	return err;
}
