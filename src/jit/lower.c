/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared walker: from ops to native code through the rule table of one target. Everything
 * that is not an encoding is here: constants and offsets that an instruction cannot hold, zero
 * extension, what an op refers to, how subprograms are entered and left, lines and faults.
 */
#include <errno.h>

#include "jit/target.h"

struct walk {
	struct builder *b;
	const struct target *t;
	const struct unit *u;
	struct frame *frames, *f; /* all; the one in hand */
	uint32_t i;		  /* op in hand */
};

static void lower_op(struct walk *w, const struct op *op);

/* Short programs are mostly loads of addresses that a dump knows nothing about. They are given
 * places near the image, apart from each other. */
static uint64_t made_up_address(const struct walk *w, uint64_t id)
{
	return w->b->opts->base - (4u << 20) + (id & 0xffff) * 16;
}

/* The native register of a BPF register: in a subprogram that calls nothing, r6-r9 may lie in
 * registers that need no saving. */
static uint8_t reg_of(const struct walk *w, unsigned r)
{
	bool leaf = r >= 6 && r <= 9 && !w->f->calls;

	return leaf ? w->t->leaf_reg[r - 6] : w->t->reg[r];
}

static struct args args_of(const struct walk *w, const struct op *op)
{
	return (struct args){
		.rule = &w->t->rules[op->code],
		.op = op,
		.w32 = op->mode & OP_W32,
		.dst = reg_of(w, op->dst),
		.src = reg_of(w, op->src),
		.first = reg_of(w, op->dst),
		.size_log = (uint8_t)op_size_log(op),
		.off = op->off,
		.imm = op->imm,
		.label = LABEL_NONE,
		.index = INDEX_NONE,
	};
}

/* The immediate form where there is one for this value, else the value in a register. */
static void emit_imm(struct walk *w, struct args a)
{
	if (a.rule->imm && (!a.rule->fits || a.rule->fits(&a))) {
		a.rule->imm(w->b, &a);
		return;
	}
	w->t->mov_imm(w->b, w->t->tmp, a.w32 ? (uint32_t)a.imm : (uint64_t)a.imm);
	a.src = w->t->tmp;
	a.rule->reg(w->b, &a);
}

static void emit(struct walk *w, const struct args *a)
{
	if (a->op->mode & OP_REG)
		a->rule->reg(w->b, a);
	else
		emit_imm(w, *a);
}

static void zero_extend(struct walk *w, const struct op *op)
{
	struct op mov = { OP_MOV, OP_REG | OP_W32, op->dst, op->dst, 0, 0 };
	struct args a = args_of(w, &mov);

	if (op->mode & OP_W32 && !(w->t->traits & TRAIT_ZEXT32))
		a.rule->reg(w->b, &a);
}

static void lower_alu(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	emit(w, &a);
	zero_extend(w, op);
}

static void lower_unary(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	a.src = a.dst;
	a.rule->reg(w->b, &a);
	zero_extend(w, op);
}

/* The op behind the one in hand, when nothing else leads to it and it works on the same dst. */
static const struct op *next_on_dst(const struct walk *w, const struct op *op)
{
	const struct op *next = &w->u->ops[w->i + 1];

	if (w->b->opts->separate || w->i + 1 >= w->f->end || w->b->is_target[w->i + 1])
		return NULL;
	return op == &w->u->ops[w->i] && next->dst == op->dst ? next : NULL;
}

/* The next op is part of what was emitted for this one. */
static void next_done(struct walk *w)
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
	const struct op *next = next_on_dst(w, op);
	bool both = next && is_add_imm(next);

	w->t->add3(w->b, reg_of(w, op->dst), w->t->reg[BPF_FP],
		   w->f->bias + (both ? next->imm : 0));
	if (both)
		next_done(w);
}

/* `dst = src; dst op= x` as `dst = src op x`. The widths allow it when the copy keeps all that the
 * operation reads. */
static bool fuse_mov(struct walk *w, const struct op *op)
{
	const struct op *next = next_on_dst(w, op);
	struct args a;

	if (!next || op_row(next)->form != FORM_ALU || !w->t->rules[next->code].three ||
	    (op->mode & OP_W32 && !(next->mode & OP_W32)) || op->src == op->dst ||
	    (next->mode & OP_REG && next->src == next->dst))
		return false;
	a = args_of(w, next);
	a.first = reg_of(w, op->src);
	if (!a.rule->three(w->b, &a))
		return false;
	zero_extend(w, next);
	next_done(w);
	return true;
}

static void lower_mov(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	bool plain = !(op->mode & OP_SX);

	if (!(op->mode & OP_REG)) {
		w->t->mov_imm(w->b, a.dst, a.w32 ? (uint32_t)a.imm : (uint64_t)a.imm);
	} else if (op->src == BPF_FP && is_plain_move(op) && w->t->add3 && !w->f->fp_value) {
		lower_mov_fp(w, op);
	} else if (!plain || !fuse_mov(w, op)) {
		a.rule->reg(w->b, &a);
		zero_extend(w, op);
	}
}

static void lower_cast(struct walk *w, const struct op *op)
{
	lower_op(w, &(struct op){ OP_MOV, OP_REG | OP_W32, op->dst, op->src, 0, 0 });
}

static void lower_ldimm(struct walk *w, const struct op *op)
{
	w->t->mov_imm(w->b, reg_of(w, op->dst), (uint64_t)op->imm);
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

	w->t->label_address(w->b, reg_of(w, op->dst), f->label);
}

/* Makes base + off fit an addressing form: the offset in a register, as an index where the access
 * can take one, else added to the base. */
static void fit_offset(struct walk *w, struct args *a, uint8_t *base)
{
	struct args add = { .rule = &w->t->rules[OP_ADD], .op = a->op };
	bool plain = a->op->code == OP_LD || a->op->code == OP_ST;

	if (*base == w->t->reg[BPF_FP])
		a->off += w->f->bias;
	if (w->t->off_fits(w->b, a))
		return;
	w->t->mov_imm(w->b, w->t->address_tmp, (uint64_t)(int64_t)a->off);
	a->off = 0;
	if (plain && w->t->traits & TRAIT_INDEX) {
		a->index = w->t->address_tmp;
		return;
	}
	add.dst = add.first = w->t->address_tmp;
	add.src = *base;
	add.rule->reg(w->b, &add);
	*base = w->t->address_tmp;
}

static bool has_arena(struct walk *w, const struct op *op)
{
	if (op->mode & OP_ARENA)
		builder_fail(w->b, -EOPNOTSUPP, "there is no arena");
	return op->mode & OP_ARENA;
}

/* A load and the change of its byte order. The target's order is little-endian. */
static bool fuse_swap(struct walk *w, const struct op *op, const struct args *a)
{
	const struct op *next = next_on_dst(w, op);

	if (!next || !w->t->load_swapped || op->mode & OP_SX || op->code != OP_LD ||
	    (next->code != OP_TOBE && next->code != OP_BSWAP) || next->imm != 8 << a->size_log ||
	    !w->t->load_swapped(w->b, a))
		return false;
	next_done(w);
	return true;
}

/* The access that was emitted since `at` may fault. */
static void note_fault(struct walk *w, const struct op *op, struct place at, uint8_t reg)
{
	struct place here = builder_here(w->b);

	if (!(op->mode & OP_PROBE))
		return;
	if (w->t->insn_size)
		at.raw = here.raw - w->t->insn_size;
	builder_fault(w->b, at, here, reg);
}

static void lower_load(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	struct place at;

	if (has_arena(w, op))
		return;
	fit_offset(w, &a, &a.src);
	at = builder_here(w->b);
	if (!fuse_swap(w, op, &a))
		a.rule->reg(w->b, &a);
	note_fault(w, op, at, a.dst);
}

static void lower_store(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);
	struct place at;

	if (has_arena(w, op))
		return;
	fit_offset(w, &a, &a.dst);
	if (!(op->mode & OP_REG) && a.rule->fits && !a.rule->fits(&a)) {
		w->t->mov_imm(w->b, w->t->tmp, (uint64_t)a.imm);
		a.src = w->t->tmp;
		at = builder_here(w->b);
		a.rule->reg(w->b, &a);
	} else {
		at = builder_here(w->b);
		emit(w, &a);
	}
	note_fault(w, op, at, 0xff);
}

static void lower_atomic(struct walk *w, const struct op *op)
{
	struct args a = args_of(w, op);

	if (has_arena(w, op))
		return;
	fit_offset(w, &a, &a.dst);
	a.rule->reg(w->b, &a);
}

static void lower_release(struct walk *w, const struct op *op)
{
	struct op st = *op;

	st.mode |= OP_REG;
	lower_store(w, &st);
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
	emit(w, &a);
}

static void lower_maygoto(struct walk *w, const struct op *op)
{
	w->t->may_goto(w->b, w->f, jump_label(w, (uint32_t)op->off));
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

	if (w->b->dump)
		address = made_up_address(w, 0xffff);
	if (!address) {
		w->t->jump(w->b, leave_zero(w));
		return;
	}
	if (op->code == OP_LDIND) {
		lower_op(w, &(struct op){ OP_MOV, OP_REG, 2, op->src, 0, 0 });
		lower_op(w, &(struct op){ OP_ADD, OP_W32, 2, 0, 0, op->imm });
		lower_op(w, &(struct op){ OP_MOV, OP_REG | OP_SX | op_mode_size(4), 2, 2, 0, 0 });
	} else {
		w->t->mov_imm(w->b, reg_of(w, 2), (uint64_t)op->imm);
	}
	lower_op(w, &(struct op){ OP_MOV, OP_REG, 1, 6, 0, 0 });
	w->t->mov_imm(w->b, reg_of(w, 3), op_size(op));
	w->t->call(w->b, address);
	a.label = leave_zero(w);
	emit(w, &a);
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

static void lower_percpu(struct walk *w, const struct op *op)
{
	if (!(w->t->traits & TRAIT_PERCPU))
		builder_fail(w->b, -EOPNOTSUPP, "the target has no per-CPU base");
	else
		w->t->percpu(w->b, reg_of(w, op->dst), reg_of(w, op->src));
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
	[FORM_NOSPEC] = lower_nospec,
};

static void lower_op(struct walk *w, const struct op *op)
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

static void lower_sub(struct walk *w)
{
	struct frame *f = w->f;

	w->b->frame = f;
	w->b->op = f->first;
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

		f->label = builder_labels(b, 4);
		f->leave = f->label + 1;
		f->leave_zero = f->label + 2;
		f->tail = f->label + 3;
	}
}

void lower(struct builder *b, struct frame *frames, struct code *code)
{
	struct walk w = { .b = b, .t = b->target, .u = b->unit, .frames = frames };

	labels_set(b, frames);
	code->tail_entry = code->entry = frames[0].label;
	w.f = frames;
	if (b->tails) {
		code->entry = builder_labels(b, 1);
		builder_bind(b, code->entry);
		landing_pad(&w);
		w.t->thunk(b, frames[0].label);
	}
	for (uint32_t s = 0; s < b->unit->n_subs && !b->err; s++) {
		w.f = &frames[s];
		lower_sub(&w);
		code->sub_offset[s] = w.f->label;
	}
}
