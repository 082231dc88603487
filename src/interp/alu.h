/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic of the reference interpreter: pure functions of two operands, by op code.
 */
#ifndef SKEP_INTERP_ALU_H
#define SKEP_INTERP_ALU_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/op.h"

/* The result of a FORM_ALU, FORM_NEG or FORM_MOV op without sign extension. In the 32-bit width
 * the upper halves of a and b do not matter and that of the result is zero. */
uint64_t alu_eval(uint8_t code, bool w32, uint64_t a, uint64_t b);

/* Whether the FORM_JCOND op `code` jumps. */
bool alu_compare(uint8_t code, bool w32, uint64_t a, uint64_t b);

/* The low `size` (1, 2, 4, 8) bytes of v, sign-extended to 64 bits. */
uint64_t alu_sext(uint64_t v, unsigned size);

/* The low `bits` (16, 32, 64) of v in another byte order, zero-extended: OP_TOLE, OP_TOBE,
 * OP_BSWAP. */
uint64_t alu_end(uint8_t code, uint64_t v, int64_t bits);

#endif
