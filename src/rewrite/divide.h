/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Division and modulo by a constant, without dividing (system.md J11): a multiplication by a
 * scaled reciprocal, keeping its upper half, then shifts. The choice of multiplier is here, once,
 * for every back end. After Granlund and Montgomery, "Division by Invariant Integers using
 * Multiplication" (PLDI 1994), and, for 32-bit dividends, Lemire, Kaser and Kurz, "Faster
 * Remainder by Direct Computation" (2019).
 */
#ifndef SKEP_REWRITE_DIVIDE_H
#define SKEP_REWRITE_DIVIDE_H

#include "isa/unit.h"

enum { DIVIDE_OPS = 12 };

/* Ops that together do what the DIV, SDIV, MOD or SMOD op with an immediate does, BPF's x / 0 = 0,
 * x % 0 = x and MIN / -1 = MIN included. They use op->dst and the first `scratch` (1 or 2) of the
 * scratch registers BPF_AX, BPF_BX. Returns their number, or -1 when it takes more scratch
 * registers: then the division stays. */
int divide_ops(const struct op *op, unsigned scratch, struct op out[DIVIDE_OPS]);

#endif
