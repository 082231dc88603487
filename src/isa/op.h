/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct op: one decoded BPF operation, 16 bytes. Rows and their meaning: isa/ops.def.
 * Pseudo forms are resolved into operations of their own; jumps and calls name the index of the
 * target op, so that ops can be inserted and removed by copying.
 */
#ifndef SKEP_ISA_OP_H
#define SKEP_ISA_OP_H

#include <stdbool.h>
#include <stdint.h>

enum op_code {
#define OP(id, form, text, props, doc) OP_##id,
#include "isa/ops.def"
	OP_COUNT
};

enum op_form {
	FORM_ALU,
	FORM_NEG,
	FORM_MOV,
	FORM_END,
	FORM_LDIMM,
	FORM_LDMAP,
	FORM_LDFUNC,
	FORM_LD,
	FORM_ST,
	FORM_LDABS,
	FORM_ATOMIC,
	FORM_ACQ,
	FORM_REL,
	FORM_JA,
	FORM_JCOND,
	FORM_MAYGOTO,
	FORM_CALL,
	FORM_CALLSUB,
	FORM_CALLKFUNC,
	FORM_CALLDIRECT,
	FORM_CALLX,
	FORM_TAILCALL,
	FORM_EXIT,
	FORM_CAST,
	FORM_PERCPU,
	FORM_THROW,
	FORM_NOSPEC,
};

/* Properties of a row. */
enum {
	P_WRITES_DST = 1 << 0, /* dst is written */
	P_READS_DST = 1 << 1,  /* dst is an input (for stores: the address) */
	P_MEM = 1 << 2,	       /* touches memory */
	P_ATOMIC = 1 << 3,
	P_JUMP = 1 << 4, /* op.off is an op index that control may go to */
	P_COND = 1 << 5, /* control may also go to the next op */
	P_CALL = 1 << 6, /* clobbers r0-r5 */
	P_EXIT = 1 << 7,
	P_WIDE = 1 << 8,     /* takes two 8-byte instructions when encoded */
	P_INTERNAL = 1 << 9, /* only the engine creates it; refused in what a user loads */
};

/* Bits of op.mode. */
enum {
	OP_REG =
	    1 << 0, /* second operand is register src, not imm (arithmetic, compares, stores) */
	OP_W32 = 1 << 1,   /* 32-bit width */
	OP_SIZE_SHIFT = 2, /* two bits: log2 of the access size in bytes */
	OP_SIZE_MASK = 3 << OP_SIZE_SHIFT,
	OP_SX = 1 << 4,	   /* sign-extend */
	OP_FETCH = 1 << 5, /* atomics */
	OP_PROBE = 1 << 6, /* access may fault: a load gives 0, a store does nothing (PROBE_MEM) */
	OP_ARENA =
	    1 << 7, /* the address is unit.arena + the low half of the register (PROBE_MEM32) */
};

struct op {
	uint8_t code; /* enum op_code */
	uint8_t mode;
	uint8_t dst; /* 0-10; 11 and 12 in internal forms */
	uint8_t src; /* 0-10, 0 when unused; 11 and 12 in internal forms */
	int32_t off; /* bytes for memory; target op index for jumps, CALLSUB and LDFUNC */
	int64_t imm; /* sign-extended 32-bit value except for LDIMM */
};

_Static_assert(sizeof(struct op) == 16, "struct op is 16 bytes");

enum {
	BPF_FP = 10,
	/* Scratch registers of rewrites (r11 as in the kernel's own dumps). A user's program never
	 * has them, and they hold nothing across calls and subprograms. */
	BPF_AX = 11,
	BPF_BX = 12,
	BPF_REGS = 13,	     /* r0-r10, BPF_AX, BPF_BX */
	BPF_STACK = 512,     /* bytes for each frame */
	BPF_STACK_MORE = 64, /* that rewrites may use below, at most */
};

struct op_row {
	const char *name; /* "add" */
	const char *text;
	const char *doc;
	uint8_t form;
	uint16_t props;
};

extern const struct op_row op_rows[OP_COUNT];

static inline const struct op_row *op_row(const struct op *op)
{
	return &op_rows[op->code];
}

static inline bool op_has(const struct op *op, unsigned props)
{
	return (op_rows[op->code].props & props) != 0;
}

/* The op would change r10, which the verifier refuses where control reaches it. */
bool op_writes_fp(const struct op *op);

/* The op reads its src field as a register. */
bool op_reads_src(const struct op *op);

/* Registers that an op reads and writes, a bit each; what a call passes and clobbers is not in
 * them. */
uint16_t op_reads(const struct op *op);
uint16_t op_writes(const struct op *op);

/* log2 of the access size; the size in bytes. */
static inline unsigned op_size_log(const struct op *op)
{
	return (op->mode & OP_SIZE_MASK) >> OP_SIZE_SHIFT;
}

static inline unsigned op_size(const struct op *op)
{
	return 1u << op_size_log(op);
}

static inline uint8_t op_mode_size(unsigned bytes)
{
	return (uint8_t)(__builtin_ctz(bytes) << OP_SIZE_SHIFT);
}

#endif
