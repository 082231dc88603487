/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows behind insn.h, shared by encode.c and print.c only. */
#ifndef SKEP_JIT_ARM64_ROW_H
#define SKEP_JIT_ARM64_ROW_H

#include "jit/arm64/insn.h"

enum a64_kind {
	KIND_NONE,
	KIND_UINT,
	KIND_REG,
	KIND_REGSP,
	KIND_AMOUNT,
	KIND_HW,
	KIND_BITMASK,
	KIND_NBIT,
	KIND_SINT,
	KIND_UOFF,
	KIND_BITNO,
	KIND_ADR,
	KIND_REGEXT,
	KIND_BTI,
	KIND_SYSREG,
};

enum a64_check {
	CHECK_NONE,
	CHECK_WRITEBACK,
	CHECK_LDP,
	CHECK_LDP_WB,
	CHECK_STP,
	CHECK_STP_WB,
	CHECK_STXR,
};

struct a64_field_row {
	const char *name;
	uint8_t kind, lo, width, arg;
};

struct a64_row {
	const char *name, *text;
	uint32_t word;
	uint8_t check;
	uint8_t field[A64_OPERANDS];
};

/* The system registers that may be read; no other number is encoded. */
extern const struct a64_sysreg {
	uint16_t number; /* o0:op1:CRn:CRm:op2 */
	const char *name;
} a64_sysregs[];
extern const unsigned a64_n_sysregs;

extern const struct a64_row a64_rows[A64_COUNT];
const struct a64_field_row *a64_field_row(enum a64_field f);

#endif
