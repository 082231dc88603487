/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/wire.h"

#include <linux/bpf.h>
#include <stddef.h>

#include "isa/op.h"

#define SIZE_B (0 << OP_SIZE_SHIFT)
#define SIZE_H (1 << OP_SIZE_SHIFT)
#define SIZE_W (2 << OP_SIZE_SHIFT)
#define SIZE_D (3 << OP_SIZE_SHIFT)

static const struct wire rows[] = {
#define ALSO(opcode, op, mode, use, key, value, bad)                                               \
	{ opcode, OP_##op, mode, key, BAD_##bad, use, value },
#define WIRE(id, opcode, op, mode, use, key, value, bad)                                           \
	ALSO(opcode, op, mode, use, key, value, bad)
#include "isa/wire.def"
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Row numbers: each WIRE has a name, each ALSO takes one number. An enumerator without a name
 * does not exist, so the numbers come from the offsets of one-byte members. */
struct wire_index {
#define ALSO(opcode, op, mode, use, key, value, bad)                                               \
	uint8_t:                                                                                   \
	8;
#define WIRE(id, opcode, op, mode, use, key, value, bad) uint8_t id;
#include "isa/wire.def"
};

_Static_assert(sizeof(struct wire_index) == N_ROWS, "one byte a row");

/* Opcode to 1 + the index of its first row. */
static const uint16_t first_row[256] = {
#define ALSO(opcode, op, mode, use, key, value, bad)
#define WIRE(id, opcode, op, mode, use, key, value, bad)                                           \
	[opcode] = 1 + offsetof(struct wire_index, id),
#include "isa/wire.def"
};

const struct wire *wire_first(uint8_t opcode)
{
	return first_row[opcode] ? &rows[first_row[opcode] - 1] : NULL;
}

const struct wire *wire_next(const struct wire *w)
{
	return w + 1 < rows + N_ROWS && w[1].opcode == w->opcode ? w + 1 : NULL;
}

static bool wire_key_fits(const struct wire *w, const struct bpf_insn *in)
{
	switch (w->key) {
	case KEY_SRC:
		return in->src_reg == w->value;
	case KEY_SRC_FAR:
		return in->src_reg == w->value && in->off;
	case KEY_OFF:
		return in->off == w->value;
	case KEY_IMM:
		return in->imm == w->value;
	default:
		return true;
	}
}

const struct wire *wire_of_insn(const struct bpf_insn *in)
{
	const struct wire *w = wire_first(in->code);

	for (; w; w = wire_next(w))
		if (wire_key_fits(w, in))
			return w;
	return NULL;
}

const struct wire *wire_of_op(const struct op *op)
{
	for (unsigned i = 0; i < N_ROWS; i++)
		if (rows[i].code == op->code && rows[i].mode == op->mode &&
		    !(rows[i].use & USE_DECODE))
			return &rows[i];
	return NULL;
}

static bool wire_imm_ok(const struct wire *w, int32_t imm)
{
	if (w->use & USE_SWAP)
		return imm == 16 || imm == 32 || imm == 64;
	if (w->use & USE_CAST)
		return imm == 1 || imm == 1 << 16;
	return (w->use & (USE_IMM | USE_JUMP_IMM | USE_DECODE)) || w->key == KEY_IMM || imm == 0;
}

bool wire_fields_ok(const struct wire *w, const struct bpf_insn *in)
{
	return ((w->use & USE_DST) || !in->dst_reg) &&
	       ((w->use & USE_SRC) || w->key == KEY_SRC || w->key == KEY_SRC_FAR || !in->src_reg) &&
	       ((w->use & (USE_OFF | USE_JUMP_OFF)) || w->key == KEY_OFF || !in->off) &&
	       wire_imm_ok(w, in->imm);
}
