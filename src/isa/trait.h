/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the code that runs a program does by itself: a bit each. A back end says it of its target,
 * the interpreter of itself; rewrites put explicit ops where a trait is missing.
 */
#ifndef SKEP_ISA_TRAIT_H
#define SKEP_ISA_TRAIT_H

enum {
	TRAIT_ZEXT32 = 1 << 0, /* 32-bit results come zero-extended; else a rewrite puts a 32-bit
				* move, which always clears the upper half, where that is needed */
	TRAIT_PERCPU = 1 << 1, /* has the per-CPU base at hand */
	TRAIT_INDEX = 1 << 2,  /* loads and stores take base + register */
	TRAIT_DIV0 = 1 << 3,   /* x / 0 = 0, x % 0 = x, MIN / -1 = MIN, as BPF has them */
};

#endif
