/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "isa/wire.h"

/* The distance to op i's target, as the wire has it, or -E2BIG when the field is too small. */
static int encode_jump(const struct unit *u, uint32_t i, const struct wire *w, struct report *r,
		       struct bpf_insn *in)
{
	int64_t far = (int64_t)u->slot[unit_target(u, i)] - u->slot[i] - 1;

	if ((w->use & USE_JUMP_OFF) && far != (int16_t)far)
		return report_fail(r, -E2BIG, "insn %u: jump by %lld does not fit in 16 bits",
				   u->slot[i], (long long)far);
	if (w->use & USE_JUMP_OFF)
		in->off = (int16_t)far;
	else
		in->imm = (int32_t)far;
	return 0;
}

/* The 64 bits that the two imm fields of a wide op carry, the first one's low. */
static uint64_t encode_wide(const struct unit *u, const struct op *op, const struct wire *w,
			    int32_t low)
{
	uint64_t high = (uint32_t)op->off;

	if (op->code == OP_LDBTF && u->n_refs)
		return u->refs[op->imm].addr;
	if ((op->code == OP_LDMAP || op->code == OP_LDVALUE) && u->n_refs)
		low = (int32_t)u->refs[op->imm].map->id;
	if (w->use & USE_HIGH_IMM)
		return (uint64_t)op->imm;
	if (w->use & USE_HIGH_ONLY)
		high = (uint32_t)op->imm;
	else if (!(w->use & USE_HIGH_OFF))
		high = 0;
	return high << 32 | (uint32_t)low;
}

static void encode_fields(const struct op *op, const struct wire *w, struct bpf_insn *in)
{
	in->code = w->opcode;
	in->dst_reg = (w->use & USE_DST) ? op->dst & 15 : 0;
	in->src_reg = (w->use & USE_SRC) ? op->src & 15 : 0;
	in->off = (w->use & USE_OFF) ? (int16_t)op->off : 0;
	in->imm = (w->use & (USE_IMM | USE_SWAP | USE_CAST)) ? (int32_t)op->imm : 0;
	if (w->key == KEY_SRC)
		in->src_reg = w->value & 15;
	if (w->key == KEY_OFF)
		in->off = (int16_t)w->value;
	if (w->key == KEY_IMM)
		in->imm = w->value;
}

static int encode_op(const struct unit *u, uint32_t i, struct report *r, struct bpf_insn *in)
{
	const struct op *op = &u->ops[i];
	const struct wire *w = wire_of_op(op);
	uint64_t wide;
	int err = 0;

	if (!w)
		return report_fail(r, -EINVAL, "op %u: %s has no form with mode %#x", i,
				   op_row(op)->name, op->mode);
	if ((w->use & USE_OFF) && op->off != (int16_t)op->off)
		return report_fail(r, -E2BIG, "insn %u: offset %d does not fit in 16 bits",
				   u->slot[i], op->off);
	encode_fields(op, w, in);
	if (w->use & (USE_JUMP_OFF | USE_JUMP_IMM))
		err = encode_jump(u, i, w, r, in);
	if (op_has(op, P_WIDE)) {
		wide = encode_wide(u, op, w, in->imm);
		in[0].imm = (int32_t)wide;
		in[1].imm = (int32_t)(wide >> 32);
	}
	return err;
}

int unit_encode(const struct unit *u, struct report *r, struct bpf_insn **out, uint32_t *n)
{
	struct bpf_insn *insns = mem_zalloc(u->slot[u->n_ops], sizeof(*insns));
	int err = insns ? 0 : report_fail(r, -ENOMEM, "out of memory");

	for (uint32_t i = 0; !err && i < u->n_ops; i++)
		err = encode_op(u, i, r, &insns[u->slot[i]]);
	if (err) {
		mem_free(insns);
		return err;
	}
	*out = insns;
	*n = u->slot[u->n_ops];
	return 0;
}
