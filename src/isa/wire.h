/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of wire.def, looked up in both directions. Only decode.c and encode.c need them.
 */
#ifndef SKEP_ISA_WIRE_H
#define SKEP_ISA_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_insn;
struct op;

/* Which fields of the instruction carry an operand. */
enum wire_use {
	USE_DST = 1 << 0,
	USE_SRC = 1 << 1,
	USE_OFF = 1 << 2,	 /* op.off */
	USE_IMM = 1 << 3,	 /* op.imm */
	USE_JUMP_OFF = 1 << 4,	 /* off is the distance to the op op.off */
	USE_JUMP_IMM = 1 << 5,	 /* imm is the distance to the op op.off */
	USE_SWAP = 1 << 6,	 /* imm is op.imm: 16, 32 or 64 */
	USE_CAST = 1 << 7,	 /* imm is op.imm: 1 or 0x10000 */
	USE_HIGH_IMM = 1 << 8,	 /* the second instruction's imm is the upper half of op.imm */
	USE_HIGH_OFF = 1 << 9,	 /* ... is op.off */
	USE_HIGH_ONLY = 1 << 10, /* ... is op.imm */
	USE_INTERNAL = 1 << 11,	 /* refused in what a user loads */
	USE_DECODE = 1 << 12,	 /* only read, whatever imm is: another row is what is written */
};

enum wire_key {
	KEY_NONE,
	KEY_SRC,
	KEY_OFF,
	KEY_IMM,
	KEY_SRC_FAR, /* src, and off is not 0 */
};

/* What the kernel says of reserved fields; texts in decode.c. */
enum wire_bad {
	BAD_ALU,
	BAD_NEG,
	BAD_MOV,
	BAD_END,
	BAD_LD_IMM,
	BAD_LDX,
	BAD_ST,
	BAD_STX,
	BAD_LD_ABS,
	BAD_ATOMIC,
	BAD_ATOMIC_SIZE,
	BAD_JA,
	BAD_JMP,
	BAD_MAYGOTO,
	BAD_CALL,
	BAD_EXIT,
	BAD_COUNT
};

struct wire {
	uint8_t opcode;
	uint8_t code;  /* enum op_code */
	uint8_t mode;  /* op.mode */
	uint8_t key;   /* enum wire_key */
	uint8_t bad;   /* enum wire_bad */
	uint16_t use;  /* enum wire_use */
	int32_t value; /* of the key field */
};

/* The first row of an opcode, or NULL. */
const struct wire *wire_first(uint8_t opcode);

/* The next row of the same opcode, or NULL. */
const struct wire *wire_next(const struct wire *w);

/* The row that in's opcode and key field select, or NULL. */
const struct wire *wire_of_insn(const struct bpf_insn *in);

/* The row that op's code and mode select, or NULL: such a mode does not exist. */
const struct wire *wire_of_op(const struct op *op);

/* Every field that carries nothing is zero, and imm has one of its allowed values. Register
 * numbers are not looked at. */
bool wire_fields_ok(const struct wire *w, const struct bpf_insn *in);

#endif
