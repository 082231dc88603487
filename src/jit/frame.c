/* SPDX-License-Identifier: BSD-2-Clause */
/* What each subprogram needs of a frame, found in one pass over its ops. */
#include "jit/target.h"

/* How far below r10 a memory op whose base is r10 reaches. */
static uint32_t access_depth(const struct op *op)
{
	return op->off < 0 ? (uint32_t)-(int64_t)op->off : 0;
}

static bool base_is_src(const struct op *op)
{
	return op->code == OP_LD || op->code == OP_LDACQ;
}

static bool fp_is_base(const struct op *op)
{
	return op_has(op, P_MEM) && op_row(op)->form != FORM_LDABS &&
	       (base_is_src(op) ? op->src : op->dst) == BPF_FP;
}

/* r10 is read as a value, so that the frame's address may be anywhere from then on. */
static bool fp_escapes(const struct op *op)
{
	bool dst_is_value = op_has(op, P_READS_DST) && !op_has(op, P_MEM);
	bool src_is_value = op_reads_src(op) && !base_is_src(op);

	return (dst_is_value && op->dst == BPF_FP) || (src_is_value && op->src == BPF_FP);
}

/* What the bias of the frame register is chosen from. */
struct fp_use {
	uint32_t depth[BPF_STACK + 1]; /* accesses by bytes below r10 */
	uint32_t moves;
};

static void frame_add(struct frame *f, struct fp_use *use, const struct op *op, uint32_t i)
{
	uint32_t depth = 0;

	if (fp_is_base(op)) {
		depth = access_depth(op);
		use->depth[depth <= BPF_STACK ? depth : 0]++;
	}
	if (fp_escapes(op)) {
		depth = depth < BPF_STACK ? BPF_STACK : depth;
		f->fp_value |= !is_plain_move(op);
		use->moves++;
	}
	f->fp |= fp_is_base(op) || fp_escapes(op);
	f->stack = depth > f->stack ? depth : f->stack;
	f->writes |= op_writes(op);
	f->calls |=
	    (op_has(op, P_CALL) && op->code != OP_TAILCALL) || op_row(op)->form == FORM_LDABS;
	f->loops |= op->code == OP_MAYGOTO;
	f->tail_calls += op->code == OP_TAILCALL;
	f->percpus += op_row(op)->form == FORM_PERCPU;
	f->arenas += op_has(op, P_MEM) && op->mode & OP_ARENA;
	if (op->code == OP_EXIT)
		f->last_exit = i;
}

/* What an op says about others: where jumps go, which subprograms C may call. */
static void targets_note(struct builder *b, struct frame *frames, const struct op *op)
{
	if (op_has(op, P_JUMP))
		b->is_target[op->off] = 1;
	if (op->code == OP_LDFUNC)
		b->callbacks = frames[unit_sub_of(b->unit, (uint32_t)op->off)].address_taken = true;
	b->throws |= op->code == OP_THROW;
}

static void frame_finish(struct builder *b, struct frame *f, const struct fp_use *use, uint32_t sub)
{
	if (b->unit->stack)
		f->stack = b->unit->stack[sub];
	f->stack = (f->stack + 7) & ~7u;
	f->fp |= f->loops;
	b->tails |= f->tail_calls != 0;
	if (b->target->bias && !f->fp_value)
		f->bias = b->target->bias(f, use->depth, use->moves);
}

/* Its place in the area, the loop budget below the stack included. */
static void frame_make_private(struct builder *b, struct frame *f)
{
	f->is_private = b->privates = true;
	b->private.size += ((f->stack + 8u * f->loops) + 15) & ~15u;
	f->private_off = PRIVATE_HEAD + PRIVATE_GUARD + b->private.size;
}

/* A program with tail calls may be entered again through them while its own frame is gone, time
 * after time, and each would take an area: it stays on C's stack. */
static void frames_make_private(struct builder *b, struct frame *frames)
{
	for (uint32_t s = 0; s < b->unit->n_subs && !b->tails; s++)
		if (frames[s].fp && frames[s].stack >= PRIVATE_MIN)
			frame_make_private(b, &frames[s]);
}

void frames_scan(struct builder *b, struct frame *frames)
{
	const struct unit *u = b->unit;

	for (uint32_t s = 0; s < u->n_subs && !b->err; s++) {
		struct frame *f = &frames[s];
		struct fp_use use = { .moves = 0 };

		f->first = u->subs[s];
		f->end = s + 1 < u->n_subs ? u->subs[s + 1] : u->n_ops;
		f->last_exit = UINT32_MAX;
		for (uint32_t i = f->first; i < f->end; i++) {
			frame_add(f, &use, &u->ops[i], i);
			targets_note(b, frames, &u->ops[i]);
		}
		frame_finish(b, f, &use, s);
	}
	if (b->opts->private_stack)
		frames_make_private(b, frames);
}
