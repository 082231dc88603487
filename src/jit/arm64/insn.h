/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A64 instructions: encoder, checks and printer, all from the rows of insn.def.
 */
#ifndef SKEP_JIT_ARM64_INSN_H
#define SKEP_JIT_ARM64_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum a64_insn {
#define INSN(id, ...) A64_##id,
#include "jit/arm64/insn.def"
	A64_COUNT
};

enum a64_field {
#define FIELD(id, ...) F_##id,
#include "jit/arm64/field.def"
	A64_FIELDS
};

/* Register numbers as operands. The zero register and the stack pointer share encoding 31; as
 * operands they differ, so that one is never taken for the other. */
enum { A64_ZR = 31, A64_SP = 32 };

enum a64_cond {
	A64_EQ,
	A64_NE,
	A64_HS,
	A64_LO,
	A64_MI,
	A64_PL,
	A64_VS,
	A64_VC,
	A64_HI,
	A64_LS,
	A64_GE,
	A64_LT,
	A64_GT,
	A64_LE,
	A64_AL,
	A64_NV,
};
enum { A64_LSL, A64_LSR, A64_ASR, A64_ROR }; /* SHIFT3, SHIFT4 */
enum { A64_UXTB, A64_UXTH, A64_UXTW, A64_UXTX, A64_SXTB, A64_SXTH, A64_SXTW, A64_SXTX }; /* EXT */
enum { A64_BTI_PLAIN, A64_BTI_C, A64_BTI_J, A64_BTI_JC };
enum { A64_ISH = 0xb, A64_SY = 0xf }; /* CRM of dmb and dsb */
enum { A64_TPIDR_EL0 = 0x5e82, A64_TPIDR_EL1 = 0x4684, A64_CNTVCT_EL0 = 0x5f02 }; /* SYSREG */

enum { A64_OPERANDS = 6 };

/* What is emitted in place of an instruction that cannot be encoded: brk #0x100, a trap. */
#define A64_FAULT 0xd4202000u

/* Number of operands of the row. */
unsigned a64_operands(enum a64_insn id);
enum a64_field a64_operand_field(enum a64_insn id, unsigned i);
const char *a64_name(enum a64_insn id);

/* The instruction's word. Operands in the row's order: registers by number, immediates and
 * offsets in bytes as they mean, never pre-scaled. When one does not fit or the combination is
 * unpredictable, the result is A64_FAULT and *bad the index of the operand (else it is -1). */
uint32_t a64_encode(enum a64_insn id, const int64_t *operand, int *bad);

/* The row of a word and its operands; A64_COUNT when no row has it. */
enum a64_insn a64_decode(uint32_t word, int64_t operand[A64_OPERANDS]);

/* The word as an assembler writes it, aliases preferred as LLVM does; ".inst 0x..." when no row
 * has it. Returns the length; buf is always terminated. */
int a64_print(uint32_t word, char *buf, size_t size);

/* N:immr:imms of a logical immediate, or -1 when the value is none (Arm ARM DecodeBitMasks). */
int a64_bitmask(uint64_t value, bool is64);

/* Whether a value fits the immediate of that field. For unsigned offsets: scaled and in range. */
bool a64_fits(enum a64_field field, int64_t value, bool is64);

#endif
