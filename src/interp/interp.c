/* SPDX-License-Identifier: BSD-2-Clause */
#include "interp/interp.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/percpu.h"
#include "interp/access.h"
#include "interp/alu.h"

/* One call of interp_run: what its frames, the programs it tail-calls and the callbacks share. */
struct run {
	uint64_t ops_left; /* UINT64_MAX: no limit */
	uint32_t tail_calls;
	uint32_t depth; /* frames that exist now */
	int err;	/* 0, or what ends the run */
	bool thrown;	/* the program has ended with the exception below: frames are left */
	uint64_t cookie, fn;
	struct run *outer; /* the run whose helper started this one on the same thread */
};

/* One program, subprogram or callback. */
struct frame {
	struct run *run;
	const struct unit *u;
	uint32_t pc; /* index of the next op */
	bool exited;
	uint32_t may_goto; /* how often MAYGOTO still goes on */
	uint64_t r[BPF_REGS];
	uint8_t stack[BPF_STACK_MORE + BPF_STACK] __attribute__((aligned(16)));
};

/* The innermost run of this thread, for callbacks. */
static __thread struct run *run_now;

/* Who looks on, on this thread. */
static __thread struct {
	interp_watch_fn fn;
	void *arg;
} watch;

void interp_watch(interp_watch_fn fn, void *arg)
{
	watch.fn = fn;
	watch.arg = arg;
}

static void fail(struct frame *f, int err)
{
	if (!f->run->err)
		f->run->err = err;
}

static uint64_t frame_run(struct run *run, const struct unit *u, uint32_t pc,
			  const uint64_t args[5]);

/* Second operand of arithmetic, compares and stores. */
static uint64_t operand(const struct frame *f, const struct op *op)
{
	return op->mode & OP_REG ? f->r[op->src] : (uint64_t)op->imm;
}

static uint64_t address(const struct frame *f, uint8_t base, const struct op *op)
{
	const uint64_t at = op->mode & OP_ARENA ? f->u->arena + (uint32_t)f->r[base] : f->r[base];

	return at + (uint64_t)(int64_t)op->off;
}

static void jump(struct frame *f, const struct op *op)
{
	f->pc = (uint32_t)op->off;
}

static void step_alu(struct frame *f, const struct op *op)
{
	f->r[op->dst] = alu_eval(op->code, op->mode & OP_W32, f->r[op->dst], operand(f, op));
}

static void step_mov(struct frame *f, const struct op *op)
{
	uint64_t v = operand(f, op);

	if (op->mode & OP_SX)
		v = alu_sext(v, op_size(op));
	f->r[op->dst] = alu_eval(OP_MOV, op->mode & OP_W32, 0, v);
}

static void step_end(struct frame *f, const struct op *op)
{
	f->r[op->dst] = alu_end(op->code, f->r[op->dst], op->imm);
}

static void step_ldimm(struct frame *f, const struct op *op)
{
	f->r[op->dst] = (uint64_t)op->imm;
}

static void step_ldmap(struct frame *f, const struct op *op)
{
	const bool idx = op->code == OP_LDMAPIDX || op->code == OP_LDVALUEIDX;
	const struct ref *ref;

	if (idx || op->imm < 0 || op->imm >= f->u->n_refs)
		return fail(f, -EOPNOTSUPP);
	ref = &f->u->refs[op->imm];
	f->r[op->dst] =
	    op->code == OP_LDVALUE ? ref->value + (uint64_t)(int64_t)op->off : ref->addr;
}

/* A callback's pointer: bit 63, then the subprogram's number and, below, the unit's address. Units
 * are allocated, so the low 3 bits of their address are 0; 48 bits hold any user address. */
enum { CALLBACK_UNIT_BITS = 45, CALLBACK_SUB_BITS = 63 - CALLBACK_UNIT_BITS };

static uint64_t callback_make(const struct unit *u, uint32_t sub)
{
	return CALLBACK_INTERP | (uint64_t)sub << CALLBACK_UNIT_BITS | (uintptr_t)u >> 3;
}

static const struct unit *callback_unit(uint64_t fn)
{
	return (const struct unit *)(uintptr_t)((fn & ((1ull << CALLBACK_UNIT_BITS) - 1)) << 3);
}

static uint32_t callback_sub(uint64_t fn)
{
	return (uint32_t)((fn & ~CALLBACK_INTERP) >> CALLBACK_UNIT_BITS);
}

static void step_ldfunc(struct frame *f, const struct op *op)
{
	const uint32_t sub = unit_sub_of(f->u, (uint32_t)op->off);

	if (sub >> CALLBACK_SUB_BITS)
		return fail(f, -EOPNOTSUPP);
	f->r[op->dst] = callback_make(f->u, sub);
}

static bool may_fault(const struct op *op)
{
	return op->mode & (OP_PROBE | OP_ARENA);
}

static void step_ld(struct frame *f, const struct op *op)
{
	const uint64_t addr = address(f, op->src, op);
	const bool outside = (op->mode & (OP_PROBE | OP_ARENA)) == OP_PROBE && op->src != BPF_FP &&
			     probe_outside(f->r[op->src]);
	const uint64_t v = outside	   ? 0
			   : may_fault(op) ? access_probe_load(addr, op_size(op))
					   : access_load(addr, op_size(op));

	f->r[op->dst] = op->mode & OP_SX ? alu_sext(v, op_size(op)) : v;
}

static void step_st(struct frame *f, const struct op *op)
{
	const uint64_t addr = address(f, op->dst, op);

	if (may_fault(op))
		access_probe_store(addr, op_size(op), operand(f, op));
	else
		access_store(addr, op_size(op), operand(f, op));
}

/* Offsets into a packet have 32 bits, as in the kernel. A load outside of it leaves the frame
 * with 0. */
static void step_ldabs(struct frame *f, const struct op *op)
{
	const struct env *env = f->u->env;
	const uint64_t base = op->code == OP_LDIND ? f->r[op->src] : 0;
	const int32_t off = (int32_t)(uint32_t)(base + (uint64_t)op->imm);
	const uint64_t v =
	    env && env->load_abs ? env->load_abs(BPF_ARGS(f->r[6], off, op_size(op))) : UINT64_MAX;

	f->exited = v == UINT64_MAX;
	f->r[0] = f->exited ? 0 : v;
}

static void step_atomic(struct frame *f, const struct op *op)
{
	const uint64_t addr = address(f, op->dst, op);
	const bool cmpxchg = op->code == OP_CMPXCHG;
	uint64_t old;

	if (may_fault(op) && !access_there(addr, op_size(op)))
		return;
	old = cmpxchg ? access_cmpxchg(addr, op_size(op), f->r[0], f->r[op->src])
		      : access_atomic(op->code, addr, op_size(op), f->r[op->src]);
	if (cmpxchg)
		f->r[0] = old;
	else if (op->mode & OP_FETCH)
		f->r[op->src] = old;
}

static void step_acq(struct frame *f, const struct op *op)
{
	const uint64_t addr = address(f, op->src, op);

	if (may_fault(op) && !access_there(addr, op_size(op)))
		f->r[op->dst] = 0;
	else
		f->r[op->dst] = access_load_acquire(addr, op_size(op));
}

static void step_rel(struct frame *f, const struct op *op)
{
	const uint64_t addr = address(f, op->dst, op);

	if (!may_fault(op) || access_there(addr, op_size(op)))
		access_store_release(addr, op_size(op), f->r[op->src]);
}

static void step_jcond(struct frame *f, const struct op *op)
{
	if (alu_compare(op->code, op->mode & OP_W32, f->r[op->dst], operand(f, op)))
		jump(f, op);
}

static void step_maygoto(struct frame *f, const struct op *op)
{
	if (f->may_goto == 0)
		jump(f, op);
	else
		f->may_goto--;
}

static void call_helper(struct frame *f, uint64_t id)
{
	const struct env *env = f->u->env;

	if (!env || id >= env->n_helpers || !env->helper[id])
		return fail(f, -EOPNOTSUPP);
	f->r[0] = helper_call(env->helper[id], f->r[1], f->r[2], f->r[3], f->r[4], f->r[5]);
}

static void step_call(struct frame *f, const struct op *op)
{
	call_helper(f, (uint64_t)op->imm);
}

static void step_calldirect(struct frame *f, const struct op *op)
{
	const struct ref *ref =
	    op->imm >= 0 && op->imm < f->u->n_refs ? &f->u->refs[op->imm] : NULL;

	if (!ref || ref->kind != REF_FN)
		return fail(f, -EOPNOTSUPP);
	f->r[0] = helper_call((helper_fn)(uintptr_t)ref->addr, f->r[1], f->r[2], f->r[3], f->r[4],
			      f->r[5]);
}

static void step_callx(struct frame *f, const struct op *op)
{
	call_helper(f, f->r[op->dst]);
}

static void step_callsub(struct frame *f, const struct op *op)
{
	f->r[0] = frame_run(f->run, f->u, (uint32_t)op->off, &f->r[1]);
}

static void step_callkfunc(struct frame *f, const struct op *op)
{
	fail(f, -EOPNOTSUPP);
}

/* What a tail call enters, or NULL when it goes on with the next op. Only one that enters
 * something counts against the limit, as with Linux' x86-64 JIT since 6.11. */
static const struct callee *tail_callee(struct run *run, const struct tail_array *array,
					uint32_t index)
{
	const struct callee *callee;

	if (index >= array->n || run->tail_calls >= TAIL_CALL_LIMIT)
		return NULL;
	callee = __atomic_load_n(&array->slot[index], __ATOMIC_ACQUIRE);
	run->tail_calls += callee != NULL;
	return callee;
}

/* The callee takes the place of this frame: its exit returns to this frame's caller. */
static void step_tailcall(struct frame *f, const struct op *op)
{
	const struct tail_array *array =
	    (const struct tail_array *)(uintptr_t)(f->r[2] + TAIL_ARRAY_OFFSET);
	const struct callee *callee = tail_callee(f->run, array, (uint32_t)f->r[3]);

	if (!callee)
		return;
	f->u = callee->unit;
	f->pc = 0;
	f->may_goto = INTERP_MAY_GOTO;
}

static void step_exit(struct frame *f, const struct op *op)
{
	f->exited = true;
}

static void step_cast(struct frame *f, const struct op *op)
{
	const uint32_t low = (uint32_t)f->r[op->src];
	const uint64_t high = op->imm == 1 << 16 && low ? f->u->arena_user >> 32 << 32 : 0;

	f->r[op->dst] = high | low;
}

static void step_throw(struct frame *f, const struct op *op)
{
	f->run->thrown = true;
	f->run->cookie = f->r[1];
	f->run->fn = f->r[2];
}

static void step_percpu(struct frame *f, const struct op *op)
{
	f->r[op->dst] = (uint64_t)(uintptr_t)percpu_self + f->r[op->src];
}

static void step_nospec(struct frame *f, const struct op *op)
{
}

/* By form. Each gets a frame whose pc is already that of the op behind. */
static void (*const steps[])(struct frame *f, const struct op *op) = {
	[FORM_ALU] = step_alu,
	[FORM_NEG] = step_alu,
	[FORM_MOV] = step_mov,
	[FORM_END] = step_end,
	[FORM_LDIMM] = step_ldimm,
	[FORM_LDMAP] = step_ldmap,
	[FORM_LDFUNC] = step_ldfunc,
	[FORM_LD] = step_ld,
	[FORM_ST] = step_st,
	[FORM_LDABS] = step_ldabs,
	[FORM_ATOMIC] = step_atomic,
	[FORM_ACQ] = step_acq,
	[FORM_REL] = step_rel,
	[FORM_JA] = jump,
	[FORM_JCOND] = step_jcond,
	[FORM_MAYGOTO] = step_maygoto,
	[FORM_CALL] = step_call,
	[FORM_CALLSUB] = step_callsub,
	[FORM_CALLKFUNC] = step_callkfunc,
	[FORM_CALLDIRECT] = step_calldirect,
	[FORM_CALLX] = step_callx,
	[FORM_TAILCALL] = step_tailcall,
	[FORM_EXIT] = step_exit,
	[FORM_CAST] = step_cast,
	[FORM_PERCPU] = step_percpu,
	[FORM_THROW] = step_throw,
	[FORM_NOSPEC] = step_nospec,
};

static int watch_tell(struct frame *f)
{
	const struct interp_at at = { f->u, f->pc, f->run->depth - 1, f->r, f->stack };

	return watch.fn(watch.arg, &at);
}

static void step(struct frame *f)
{
	const struct op *op;

	if (f->pc >= f->u->n_ops)
		return fail(f, -EINVAL);
	if (f->run->ops_left == 0)
		return fail(f, -ELOOP);
	if (f->run->ops_left != UINT64_MAX)
		f->run->ops_left--;
	if (__builtin_expect(watch.fn != NULL, 0)) {
		int err = watch_tell(f);

		if (err)
			return fail(f, err);
	}
	op = &f->u->ops[f->pc++];
	if (op->mode & OP_ARENA && !f->u->arena)
		return fail(f, -EINVAL);
	steps[op_row(op)->form](f, op);
}

/* r0 at the exit of a fresh frame that starts at op pc of u; 0 when run->err is set. */
static uint64_t frame_run(struct run *run, const struct unit *u, uint32_t pc,
			  const uint64_t args[5])
{
	struct frame f = { .run = run, .u = u, .pc = pc, .may_goto = INTERP_MAY_GOTO };

	for (int i = 0; i < 5; i++)
		f.r[1 + i] = args[i];
	f.r[BPF_FP] = (uintptr_t)f.stack + sizeof(f.stack);
	if (run->depth == INTERP_FRAMES)
		fail(&f, -E2BIG);
	run->depth++;
	while (!run->err && !run->thrown && !f.exited)
		step(&f);
	run->depth--;
	return run->err || run->thrown ? 0 : f.r[0];
}

/* What the program's exception makes of it, once its frames are left. */
static uint64_t run_catch(struct run *run)
{
	const uint64_t fn = run->fn;

	run->thrown = false;
	return fn ? callback_call(fn, run->cookie, 0, 0, 0, 0) : run->cookie;
}

/* A run of its own from op pc, nested within what runs on this thread. */
static int run_fresh(const struct unit *u, uint32_t pc, const uint64_t args[5], uint64_t max_ops,
		     uint64_t *r0)
{
	struct run run = { .ops_left = max_ops ? max_ops : UINT64_MAX, .outer = run_now };

	run_now = &run;
	*r0 = frame_run(&run, u, pc, args);
	if (run.thrown)
		*r0 = run_catch(&run);
	if (run.err || run.thrown)
		*r0 = 0;
	run_now = run.outer;
	return run.err;
}

int interp_run(const struct unit *u, const uint64_t args[5], const struct interp_opts *opts,
	       uint64_t *r0)
{
	return run_fresh(u, 0, args, opts ? opts->max_ops : 0, r0);
}

/* Within a run its limits go on; outside of one (a timer's callback) it is a run of its own. */
uint64_t interp_callback(uint64_t fn, const uint64_t args[5])
{
	const struct unit *u = callback_unit(fn);
	const uint32_t pc = u->subs[callback_sub(fn)];
	uint64_t r0;

	if (!run_now)
		return run_fresh(u, pc, args, 0, &r0) ? 1 : r0;
	r0 = frame_run(run_now, u, pc, args);
	return run_now->err || run_now->thrown ? 1 : r0;
}
