/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two passes: the first turns each instruction into an op whose off is still the slot that it
 * goes to; the second turns slots into op indices. unit_index then checks the whole.
 */
#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "isa/wire.h"

/* What the kernel says, and whether it adds the instruction's imm. */
static const struct bad_text {
	const char *text;
	enum { ADD_NOTHING, ADD_HEX, ADD_DECIMAL } add;
} bad_texts[BAD_COUNT] = {
	[BAD_ALU] = { "BPF_ALU uses reserved fields", ADD_NOTHING },
	[BAD_NEG] = { "BPF_NEG uses reserved fields", ADD_NOTHING },
	[BAD_MOV] = { "BPF_MOV uses reserved fields", ADD_NOTHING },
	[BAD_END] = { "BPF_END uses reserved fields", ADD_NOTHING },
	[BAD_LD_IMM] = { "BPF_LD_IMM64 uses reserved fields", ADD_NOTHING },
	[BAD_LDX] = { "BPF_LDX uses reserved fields", ADD_NOTHING },
	[BAD_ST] = { "BPF_ST uses reserved fields", ADD_NOTHING },
	[BAD_STX] = { "BPF_STX uses reserved fields", ADD_NOTHING },
	[BAD_LD_ABS] = { "BPF_LD_[ABS|IND] uses reserved fields", ADD_NOTHING },
	[BAD_ATOMIC] = { "BPF_ATOMIC uses invalid atomic opcode ", ADD_HEX },
	[BAD_ATOMIC_SIZE] = { "invalid atomic operand size", ADD_NOTHING },
	[BAD_JA] = { "BPF_JA uses reserved fields", ADD_NOTHING },
	[BAD_JMP] = { "BPF_JMP/JMP32 uses reserved fields", ADD_NOTHING },
	[BAD_MAYGOTO] = { "invalid may_goto imm ", ADD_DECIMAL },
	[BAD_CALL] = { "BPF_CALL uses reserved fields", ADD_NOTHING },
	[BAD_EXIT] = { "BPF_EXIT uses reserved fields", ADD_NOTHING },
};

struct decode {
	const struct bpf_insn *insns;
	uint32_t n;
	bool internal;
	struct report *r;
	struct unit *u;
	uint32_t *op_of; /* slot to op index; NOT_A_START for the second half of a wide one */
};

#define NOT_A_START UINT32_MAX

static int decode_fail(const struct decode *d, uint32_t at, enum wire_bad bad)
{
	const struct bad_text *t = &bad_texts[bad];
	int32_t imm = d->insns[at].imm;

	if (t->add == ADD_HEX)
		return report_fail(d->r, -EINVAL, "insn %u: %s%02x", at, t->text, imm);
	if (t->add == ADD_DECIMAL)
		return report_fail(d->r, -EINVAL, "insn %u: %s%d", at, t->text, imm);
	return report_fail(d->r, -EINVAL, "insn %u: %s", at, t->text);
}

/* The row of the instruction; NULL with a message when there is none for this caller. */
static const struct wire *decode_row(const struct decode *d, uint32_t at)
{
	const struct bpf_insn *in = &d->insns[at];
	const struct wire *first = wire_first(in->code), *w = wire_of_insn(in);
	bool unknown = !first || ((first->use & USE_INTERNAL) && !d->internal);

	if (unknown && BPF_CLASS(in->code) == BPF_LDX)
		decode_fail(d, at, BAD_LDX);
	else if (unknown)
		report_fail(d->r, -EINVAL, "insn %u: unknown opcode %02x", at, in->code);
	else if (!w && first->bad == BAD_LD_IMM)
		report_fail(d->r, -EINVAL, "insn %u: unrecognized bpf_ld_imm64 insn", at);
	else if (!w || !wire_fields_ok(w, in) || ((w->use & USE_INTERNAL) && !d->internal))
		decode_fail(d, at, first->bad);
	else
		return w;
	return NULL;
}

static int decode_check_regs(const struct decode *d, uint32_t at, const struct op *op)
{
	unsigned last = d->internal ? BPF_BX : BPF_FP;
	unsigned bad = op->dst > last ? op->dst : op->src;

	if (bad > last)
		return report_fail(d->r, -EINVAL, "insn %u: R%u is invalid", at, bad);
	return 0;
}

/* op.off becomes the slot that is the target. */
static int decode_jump(const struct decode *d, uint32_t at, const struct wire *w, struct op *op)
{
	const struct bpf_insn *in = &d->insns[at];
	int64_t to = (int64_t)at + 1 + ((w->use & USE_JUMP_OFF) ? in->off : in->imm);

	if (to >= 0 && to < d->n) {
		op->off = (int32_t)to;
		return 0;
	}
	if (op_has(op, P_JUMP))
		return report_fail(d->r, -EINVAL, "jump out of range from insn %u to %lld", at,
				   (long long)to);
	return report_fail(d->r, -EINVAL, "insn %u: call to invalid destination", at);
}

/* The second half of a wide instruction is there, and has nothing but a number. */
static int decode_check_high(const struct decode *d, uint32_t at)
{
	const struct bpf_insn *high = &d->insns[at + 1];

	if (d->insns[at].code != (BPF_LD | BPF_IMM | BPF_DW))
		return 0;
	if (at + 1 >= d->n || high->code || high->dst_reg || high->src_reg || high->off)
		return report_fail(d->r, -EINVAL, "insn %u: invalid bpf_ld_imm64 insn", at);
	return 0;
}

/* No program runs off its end: said before anything else of it. */
static int decode_check_last(const struct decode *d)
{
	uint8_t last = d->n ? d->insns[d->n - 1].code : 0;

	if (!d->n || d->internal || last == (BPF_JMP | BPF_EXIT) || last == (BPF_JMP | BPF_JA) ||
	    last == (BPF_JMP32 | BPF_JA))
		return 0;
	return report_fail(d->r, -EINVAL, "last insn is not an exit or jmp");
}

static int decode_wide(const struct decode *d, uint32_t at, const struct wire *w, struct op *op)
{
	const struct bpf_insn *high = &d->insns[at + 1];

	if (w->use & USE_HIGH_IMM)
		op->imm = (int64_t)((uint64_t)(uint32_t)high->imm << 32 | (uint32_t)op->imm);
	else if (w->use & USE_HIGH_OFF)
		op->off = high->imm;
	else if (w->use & USE_HIGH_ONLY)
		op->imm = high->imm;
	else if (high->imm)
		return report_fail(d->r, -EINVAL, "insn %u: unrecognized bpf_ld_imm64 insn", at);
	return 0;
}

static int decode_insn(const struct decode *d, uint32_t at, struct op *op)
{
	const struct bpf_insn *in = &d->insns[at];
	int err = decode_check_high(d, at);
	const struct wire *w = err ? NULL : decode_row(d, at);

	if (!w)
		return -EINVAL;
	op->code = w->code;
	op->mode = w->mode;
	op->dst = in->dst_reg;
	op->src = (w->use & USE_SRC) ? in->src_reg : 0;
	op->off = (w->use & USE_OFF) ? in->off : 0;
	op->imm = (w->use & (USE_IMM | USE_SWAP | USE_CAST)) ? in->imm : 0;
	err = decode_check_regs(d, at, op);
	if (!err && (w->use & (USE_JUMP_OFF | USE_JUMP_IMM)))
		err = decode_jump(d, at, w, op);
	if (!err && op_has(op, P_WIDE))
		err = decode_wide(d, at, w, op);
	return err;
}

static int decode_all(struct decode *d)
{
	uint32_t at = 0;

	while (at < d->n) {
		struct op *op = &d->u->ops[d->u->n_ops];
		int err = decode_insn(d, at, op);

		if (err)
			return err;
		d->op_of[at++] = d->u->n_ops++;
		if (op_has(op, P_WIDE))
			d->op_of[at++] = NOT_A_START;
	}
	return 0;
}

static int decode_targets(struct decode *d)
{
	for (uint32_t at = 0; at < d->n; at++) {
		uint32_t i = d->op_of[at];
		struct op *op = &d->u->ops[i == NOT_A_START ? 0 : i];
		bool call = op->code == OP_CALLSUB || op->code == OP_LDFUNC;
		uint32_t to = (uint32_t)op->off;

		if (i == NOT_A_START || (!call && !op_has(op, P_JUMP)))
			continue;
		if (d->op_of[to] == NOT_A_START && call)
			return report_fail(d->r, -EINVAL, "last insn is not an exit or jmp");
		if (d->op_of[to] == NOT_A_START)
			return report_fail(d->r, -EINVAL,
					   "insn %u: jump into the middle of ldimm64 insn %u", at,
					   to - 1);
		op->off = (int32_t)d->op_of[to];
	}
	return 0;
}

static int decode_run(struct decode *d)
{
	int err;

	d->u = mem_zalloc(1, sizeof(*d->u));
	d->op_of = mem_zalloc(d->n, sizeof(*d->op_of));
	if (d->u)
		d->u->ops = mem_zalloc(d->n, sizeof(*d->u->ops));
	if (!d->u || !d->op_of || !d->u->ops)
		return -ENOMEM;
	err = decode_check_last(d);
	if (!err)
		err = decode_all(d);
	if (!err)
		err = decode_targets(d);
	if (!err)
		err = unit_index(d->u, d->r);
	return err;
}

int unit_decode(const struct bpf_insn *insns, uint32_t n, bool internal, struct report *r,
		struct unit **out)
{
	struct decode d = { .insns = insns, .n = n, .internal = internal, .r = r };
	int err = n <= INT32_MAX ? decode_run(&d) : -ENOMEM;

	if (err == -ENOMEM)
		report_fail(r, err, "out of memory");
	mem_free(d.op_of);
	if (err)
		unit_free(d.u);
	else
		*out = d.u;
	return err;
}
