/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in registers: struct scalar (64 bits, with the low 32 beside). The same source at 4 and 2
 * bits (struct scalar4) is what tests/prove tries exhaustively.
 */
#ifndef SKEP_VERIFY_SCALAR_H
#define SKEP_VERIFY_SCALAR_H

#include <stdbool.h>
#include <stdint.h>

enum alu { ALU_ADD, ALU_SUB, ALU_MUL, ALU_AND, ALU_OR, ALU_XOR, ALU_LSH, ALU_RSH, ALU_ARSH };

/* Greater-than is less-than with the sides exchanged, and "not" is asked by `holds`. */
enum cmp { CMP_EQ, CMP_LT, CMP_LE, CMP_SLT, CMP_SLE, CMP_SET };

#define W    64
#define U    uint64_t
#define S    int64_t
#define DOM  dom64
#define N(f) dom64_##f
#include "verify/dom.tmpl.h"

#define W    32
#define U    uint32_t
#define S    int32_t
#define DOM  dom32
#define N(f) dom32_##f
#include "verify/dom.tmpl.h"

#define SC   scalar
#define F(f) scalar_##f
#define W    64
#define DOM  dom64
#define D(f) dom64_##f
#define U    uint64_t
#define S    int64_t
#define HDOM dom32
#define H(f) dom32_##f
#define HU   uint32_t
#define HS   int32_t
#include "verify/scalar.tmpl.h"

#endif
