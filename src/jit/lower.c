/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared walker: from ops to native code through the rule table of one target. Everything
 * that is not an encoding is here: constants and offsets that an instruction cannot hold, what an
 * op refers to, how subprograms are entered and left, lines and faults.
 */
#include <errno.h>

#include "jit/lower.h"
#include "jit/throw.h"

/* Short programs are mostly loads of addresses that a dump knows nothing about. They are given
 * places near the image, apart from each other. */
enum { ENGINE_LOAD_ABS = 0xffff, ENGINE_THROW = 0xfffe, ENGINE_GO_ON = 0xfffd };

static uint64_t made_up_address(const struct walk *w, uint64_t id)
{
	return w->b->opts->base - (4u << 20) + (id & 0xffff) * 16;
}

static void lower_alu(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	lower_emit(w, &a);
}

static void lower_unary(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	a.src = a.dst;
	a.rule->reg(w->b, &a);
}

const struct op *walk_next(const struct walk *w, const struct op *op)
{
	const struct op *next = &w->u->ops[w->i + 1];

	if (w->b->opts->separate || w->i + 1 >= w->f->end || w->b->is_target[w->i + 1])
		return NULL;
	return op == &w->u->ops[w->i] && next->dst == op->dst ? next : NULL;
}

void walk_next_done(struct walk *w)
{
	builder_bind(w->b, ++w->i);
}

static bool is_add_imm(const struct op *op)
{
	return op->code == OP_ADD && !(op->mode & (OP_REG | OP_W32));
}

/* A copy of r10, or an address in the frame: the copy and the offset added to it are one. */
static void lower_mov_fp(struct walk *w, const struct op *op)
{
	const struct op *next = walk_next(w, op);
	bool both = next && is_add_imm(next) && !lower_blinds(w, next->imm);

	w->t->add3(w->b, reg_of(w, op->dst), w->t->reg[BPF_FP],
		   w->f->bias + (both ? next->imm : 0));
	if (both)
		walk_next_done(w);
}

/* `dst = src; dst op= x` as `dst = src op x`. The widths allow it when the copy keeps all that the
 * operation reads. */
static bool fuse_mov(struct walk *w, const struct op *op)
{
	const struct op *next = walk_next(w, op);
	struct args a;

	if (!next || op_row(next)->form != FORM_ALU || !w->t->rules[next->code].three ||
	    (!(next->mode & OP_REG) && lower_blinds(w, next->imm)) ||
	    (op->mode & OP_W32 && !(next->mode & OP_W32)) || op->src == op->dst ||
	    (next->mode & OP_REG && next->src == next->dst))
		return false;
	a = args_of(w, next);
	a.first = reg_of(w, op->src);
	if (!a.rule->three(w->b, &a))
		return false;
	walk_next_done(w);
	return true;
}

static void lower_mov(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	bool plain = !(op->mode & OP_SX);

	if (!(op->mode & OP_REG) && lower_percpu_constant(w, op))
		return;
	if (!(op->mode & OP_REG)) {
		lower_constant(w, a.dst, a.w32 ? (uint32_t)a.imm : (uint64_t)a.imm);
	} else if (op->src == BPF_FP && is_plain_move(op) && w->t->add3 && !w->f->fp_value) {
		lower_mov_fp(w, op);
	} else if (!plain || !fuse_mov(w, op)) {
		a.rule->reg(w->b, &a);
	}
}

/* Into a user's address space: 0 stays 0, anything else gets the upper half of its addresses. */
static void cast_to_user(struct walk *w, const struct op *op)
{
	static const struct op is_zero = { .code = OP_JEQ }, join = { OP_OR, OP_REG, 0, 0, 0, 0 };
	uint32_t done = builder_labels(w->b, 1);
	struct args skip = { .rule = &w->t->rules[OP_JEQ], .op = &is_zero, .w32 = true };
	struct args or = { .rule = &w->t->rules[OP_OR], .op = &join };

	skip.dst = or.dst = or.first = reg_of(w, op->dst);
	skip.label = done;
	skip.rule->imm(w->b, &skip);
	or.src = w->t->tmp;
	w->t->mov_imm(w->b, or.src, w->u->arena_user >> 32 << 32);
	or.rule->reg(w->b, &or);
	builder_bind(w->b, done);
}

static void lower_cast(struct walk *w, const struct op *op)
{
	lower_op(w, &(struct op){ OP_MOV, OP_REG | OP_W32, op->dst, op->src, 0, 0 });
	if (op->imm == 1 << 16 && w->u->arena_user >> 32)
		cast_to_user(w, op);
}

static void lower_ldimm(struct walk *w, const struct op *op)
{
	lower_constant(w, reg_of(w, op->dst), (uint64_t)op->imm);
}

static uint64_t ref_address(const struct walk *w, const struct op *op)
{
	const struct ref *r;

	if (op->imm < 0 || op->imm >= w->u->n_refs) {
		if (!w->b->dump)
			builder_fail(w->b, -EINVAL, "reference %lld is not resolved",
				     (long long)op->imm);
		return made_up_address(w, (uint64_t)op->imm) + (uint32_t)op->off;
	}
	r = &w->u->refs[op->imm];
	if (op->code == OP_LDVALUE || op->code == OP_LDVALUEIDX)
		return r->value + (uint64_t)(int64_t)op->off;
	return r->addr;
}

static void lower_ldmap(struct walk *w, const struct op *op)
{
	w->t->mov_address(w->b, reg_of(w, op->dst), ref_address(w, op));
}

static struct frame *frame_of(struct walk *w, uint32_t op)
{
	return &w->frames[unit_sub_of(w->u, op)];
}

static void lower_ldfunc(struct walk *w, const struct op *op)
{
	struct frame *f = frame_of(w, (uint32_t)op->off);

	w->t->label_address(w->b, reg_of(w, op->dst), w->b->throws ? f->caught : f->label);
}

/* Label of op i for a jump: an exit that is shared is gone to directly. */
static uint32_t jump_label(const struct walk *w, uint32_t i)
{
	if (w->u->ops[i].code == OP_EXIT && i != w->f->last_exit &&
	    w->f->last_exit >= w->f->first && i >= w->f->first && i < w->f->end)
		return w->f->leave;
	return i;
}

static void lower_ja(struct walk *w, const struct op *op)
{
	w->t->jump(w->b, jump_label(w, (uint32_t)op->off));
}

static void lower_jcond(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	a.label = jump_label(w, (uint32_t)op->off);
	lower_emit(w, &a);
}

static void lower_maygoto(struct walk *w, const struct op *op)
{
	w->t->may_goto(w->b, w->f, jump_label(w, (uint32_t)op->off));
}

/* A function of the engine; a dump knows no addresses. */
static void call_engine(struct walk *w, uint64_t made_up, uint64_t address)
{
	w->t->call(w->b, w->b->dump ? made_up_address(w, made_up) : address);
}

/* A helper may have called back what threw (throw.h). */
static void go_on(struct walk *w)
{
	if (!w->b->throws || !w->b->callbacks)
		return;
	lower_op(w, &(struct op){ OP_MOV, OP_REG, 1, 0, 0, 0 });
	call_engine(w, ENGINE_GO_ON, (uint64_t)(uintptr_t)throw_go_on);
}

static void lower_throw(struct walk *w, const struct op *op)
{
	call_engine(w, ENGINE_THROW, (uint64_t)(uintptr_t)throw_now);
}

static void lower_call(struct walk *w, const struct op *op)
{
	const struct env *env = w->u->env;
	uint64_t n = (uint64_t)op->imm;
	uint64_t address = env && n < env->n_helpers ? (uint64_t)(uintptr_t)env->helper[n] : 0;

	if (w->b->dump)
		address = made_up_address(w, n);
	if (!address)
		builder_fail(w->b, -EOPNOTSUPP, "there is no helper %lld", (long long)op->imm);
	w->t->call(w->b, address);
	go_on(w);
}

static void lower_calldirect(struct walk *w, const struct op *op)
{
	w->t->call(w->b, ref_address(w, op));
}

static void lower_callx(struct walk *w, const struct op *op)
{
	const struct env *env = w->u->env;
	const helper_fn *table = env ? env->helper : NULL;

	w->t->call_table(w->b, reg_of(w, op->dst), table, env ? env->n_helpers : 0);
	go_on(w);
}

static void lower_callkfunc(struct walk *w, const struct op *op)
{
	if (!w->b->dump)
		builder_fail(w->b, -EOPNOTSUPP, "kfunc %lld has no address", (long long)op->imm);
	w->t->call(w->b, made_up_address(w, (uint64_t)op->imm));
}

static void lower_callsub(struct walk *w, const struct op *op)
{
	w->t->call_label(w->b, frame_of(w, (uint32_t)op->off)->label);
}

static void lower_tailcall(struct walk *w, const struct op *op)
{
	w->t->tail_call(w->b, w->f);
}

static uint32_t leave_zero(struct walk *w)
{
	w->f->zero_used = true;
	return w->f->leave_zero;
}

/* r0 = load_abs(ctx in r6, offset, size); outside of the packet: leaves with 0. The offset of an
 * indirect load is 32 bits wide, as the kernel's is. */
static void lower_ldabs(struct walk *w, const struct op *op)
{
	const struct env *env = w->u->env;
	uint64_t address = env ? (uint64_t)(uintptr_t)env->load_abs : 0;
	struct op outside = { OP_JEQ, 0, 0, 0, 0, -1 };
	struct args a = args_of(w, &outside);

	if (!address && !w->b->dump) {
		w->t->jump(w->b, leave_zero(w));
		return;
	}
	if (op->code == OP_LDIND) {
		lower_op(w, &(struct op){ OP_MOV, OP_REG, 2, op->src, 0, 0 });
		lower_op(w, &(struct op){ OP_ADD, OP_W32, 2, 0, 0, op->imm });
		lower_op(w, &(struct op){ OP_MOV, OP_REG | OP_SX | op_mode_size(4), 2, 2, 0, 0 });
	} else {
		lower_constant(w, reg_of(w, 2), (uint64_t)op->imm);
	}
	lower_op(w, &(struct op){ OP_MOV, OP_REG, 1, 6, 0, 0 });
	w->t->mov_imm(w->b, reg_of(w, 3), op_size(op));
	call_engine(w, ENGINE_LOAD_ABS, address);
	a.label = leave_zero(w);
	a.rule->imm(w->b, &a);
}

static void lower_exit(struct walk *w, const struct op *op)
{
	if (w->i == w->f->last_exit)
		builder_bind(w->b, w->f->leave);
	if (w->i == w->f->last_exit || w->t->leave_size(w->f) <= w->t->short_leave)
		w->t->leave(w->b, w->f);
	else
		w->t->jump(w->b, w->f->leave);
}

static void lower_nospec(struct walk *w, const struct op *op)
{
	w->t->nospec(w->b);
}

static void (*const lower_form[])(struct walk *, const struct op *) = {
	[FORM_ALU] = lower_alu,
	[FORM_NEG] = lower_unary,
	[FORM_MOV] = lower_mov,
	[FORM_END] = lower_unary,
	[FORM_LDIMM] = lower_ldimm,
	[FORM_LDMAP] = lower_ldmap,
	[FORM_LDFUNC] = lower_ldfunc,
	[FORM_LD] = lower_load,
	[FORM_ST] = lower_store,
	[FORM_LDABS] = lower_ldabs,
	[FORM_ATOMIC] = lower_atomic,
	[FORM_ACQ] = lower_load,
	[FORM_REL] = lower_release,
	[FORM_JA] = lower_ja,
	[FORM_JCOND] = lower_jcond,
	[FORM_MAYGOTO] = lower_maygoto,
	[FORM_CALL] = lower_call,
	[FORM_CALLSUB] = lower_callsub,
	[FORM_CALLKFUNC] = lower_callkfunc,
	[FORM_CALLDIRECT] = lower_calldirect,
	[FORM_CALLX] = lower_callx,
	[FORM_TAILCALL] = lower_tailcall,
	[FORM_EXIT] = lower_exit,
	[FORM_CAST] = lower_cast,
	[FORM_PERCPU] = lower_percpu,
	[FORM_THROW] = lower_throw,
	[FORM_NOSPEC] = lower_nospec,
};

void lower_op(struct walk *w, const struct op *op)
{
	lower_form[op_row(op)->form](w, op);
}

/* What follows the last op: exits that have no op of their own, and a trap where control would
 * run out of the subprogram. */
static void lower_end(struct walk *w)
{
	uint8_t last = w->u->ops[w->f->end - 1].code;

	if (last != OP_EXIT && last != OP_JA)
		builder_put(w->b, w->t->trap, sizeof(w->t->trap));
	if (w->f->zero_used) {
		builder_bind(w->b, w->f->leave_zero);
		w->t->mov_imm(w->b, reg_of(w, 0), 0);
		w->t->leave(w->b, w->f);
	}
	if (w->f->last_exit == UINT32_MAX)
		builder_bind(w->b, w->f->leave);
	if (w->f->tail_calls > 1 && w->t->tail_shared) {
		builder_bind(w->b, w->f->tail);
		w->t->tail_shared(w->b, w->f);
	}
}

static void landing_pad(struct walk *w)
{
	if (w->b->opts->landing_pads)
		w->t->landing_pad(w->b);
}

typedef uint64_t (*catch_fn)(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
					uint64_t r5),
			     helper_fn body);

/* Enters `body` as C, through a function that catches what it throws. */
static void catch (struct walk *w, catch_fn how, uint32_t body)
{
	uint64_t address = (uint64_t)(uintptr_t)how;

	landing_pad(w);
	w->t->catch(w->b, body, w->b->dump ? made_up_address(w, ENGINE_THROW) : address);
}

static void lower_sub(struct walk *w)
{
	struct frame *f = w->f;

	w->b->frame = f;
	w->b->op = f->first;
	if (f->address_taken && w->b->throws) {
		builder_bind(w->b, f->caught);
		catch (w, throw_call, f->label);
	}
	builder_bind(w->b, f->label);
	if (f == w->frames || f->address_taken)
		landing_pad(w);
	w->t->enter(w->b, f);
	for (w->i = f->first; w->i < f->end && !w->b->err; w->i++) {
		w->b->op = w->i;
		builder_bind(w->b, w->i);
		lower_op(w, &w->u->ops[w->i]);
	}
	lower_end(w);
}

/* Labels: one for each op, then those of the frames. */
static void labels_set(struct builder *b, struct frame *frames)
{
	const struct unit *u = b->unit;

	builder_labels(b, u->n_ops);
	for (uint32_t s = 0; s < u->n_subs; s++) {
		struct frame *f = &frames[s];

		f->label = builder_labels(b, 5);
		f->leave = f->label + 1;
		f->leave_zero = f->label + 2;
		f->tail = f->label + 3;
		f->caught = f->label + 4;
	}
}

/* A fresh label, bound here: one more layer around the program. */
static uint32_t layer(struct walk *w, uint32_t *around)
{
	uint32_t inner = *around;

	*around = builder_labels(w->b, 1);
	builder_bind(w->b, *around);
	return inner;
}

/*
 * What C calls is the program itself, or, around it, from inside to outside: what catches its
 * exceptions, what gives it a private stack of its own, what sets the count of tail calls aside.
 * Tail calls enter below the last.
 */
static void lower_entries(struct walk *w, struct code *code)
{
	struct builder *b = w->b;

	code->entry = w->frames[0].label;
	b->frame = w->f = w->frames;
	if (b->throws)
		catch (w, throw_run, layer(w, &code->entry));
	if (b->privates) {
		uint32_t inner = layer(w, &code->entry);

		landing_pad(w);
		w->t->private_enter(b, inner);
	}
	code->tail_entry = code->entry;
	if (b->tails) {
		uint32_t inner = layer(w, &code->entry);

		landing_pad(w);
		w->t->thunk(b, inner);
	}
}

void lower(struct builder *b, struct frame *frames, struct code *code)
{
	struct walk w = { .b = b, .t = b->target, .u = b->unit, .frames = frames };

	labels_set(b, frames);
	lower_entries(&w, code);
	for (uint32_t s = 0; s < b->unit->n_subs && !b->err; s++) {
		w.f = &frames[s];
		lower_sub(&w);
		code->sub_offset[s] = w.f->label;
	}
}
