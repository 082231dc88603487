/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants in the fewest instructions (system.md J17): movz or movn with a movk for each halfword
 * that differs from the background, a logical immediate from the zero register, or a logical
 * immediate with one movk; 32-bit forms where the value fits.
 */
#include "jit/arm64/arm64.h"

static unsigned halfword(uint64_t v, unsigned i)
{
	return v >> (i * 16) & 0xffff;
}

/* Halfwords of the lowest `n` that differ from `background` (0 or 0xffff). */
static unsigned differing(uint64_t v, unsigned n, unsigned background)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++)
		count += halfword(v, i) != background;
	return count;
}

/* How a constant is made. */
struct plan {
	bool is64;
	bool ones;    /* movn: background of ones */
	bool bitmask; /* orr of `base`, then a movk for each halfword that differs from it */
	uint64_t base;
	unsigned count;
};

static struct plan plan_wide(uint64_t v, bool is64)
{
	unsigned n = is64 ? 4 : 2, zeros = differing(v, n, 0), ones = differing(v, n, 0xffff);
	bool movn = ones < zeros;
	unsigned count = movn ? ones : zeros;

	return (struct plan){ .is64 = is64, .ones = movn, .count = count ? count : 1 };
}

/* A bitmask with one halfword patched: each halfword in turn takes the value of another. */
static bool plan_patched(uint64_t v, struct plan *p)
{
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned k = 0; k < 4; k++) {
			uint64_t base = (v & ~(0xffffull << i * 16)) | (uint64_t)halfword(v, k)
									   << i * 16;

			if (a64_bitmask(base, true) >= 0) {
				*p = (struct plan){
					.is64 = true, .bitmask = true, .base = base, .count = 2
				};
				return true;
			}
		}
	}
	return false;
}

static struct plan plan_imm(uint64_t v)
{
	bool is64 = v >> 32;
	struct plan p = plan_wide(v, is64);

	/* a 64-bit value whose upper half is zero may have set bits that movn gets in 32 bits */
	if (p.count > 1 && a64_bitmask(v, is64) >= 0)
		return (struct plan){ .is64 = is64, .bitmask = true, .base = v, .count = 1 };
	if (p.count > 2)
		plan_patched(v, &p);
	return p;
}

unsigned a64_mov_imm_count(uint64_t imm)
{
	return plan_imm(imm).count;
}

static void put_movks(struct builder *b, bool is64, uint8_t dst, uint64_t v, uint64_t have)
{
	for (unsigned i = 0; i < (is64 ? 4 : 2); i++) {
		if (halfword(v, i) != halfword(have, i))
			EMIT(b, MOVK, is64, dst, halfword(v, i), i);
	}
}

/* movz or movn of the first halfword that is not background, movk of the others. */
static void put_wide(struct builder *b, const struct plan *p, uint8_t dst, uint64_t v)
{
	unsigned n = p->is64 ? 4 : 2, back = p->ones ? 0xffff : 0, first = 0;
	uint64_t have = p->ones ? ~0ull : 0;

	while (first < n - 1 && halfword(v, first) == back)
		first++;
	if (halfword(v, first) == back)
		first = 0;
	if (p->ones)
		EMIT(b, MOVN, p->is64, dst, halfword(~v, first), first);
	else
		EMIT(b, MOVZ, p->is64, dst, halfword(v, first), first);
	have = (have & ~(0xffffull << first * 16)) | (uint64_t)halfword(v, first) << first * 16;
	put_movks(b, p->is64, dst, v, have);
}

void a64_mov_imm(struct builder *b, uint8_t dst, uint64_t imm)
{
	struct plan p = plan_imm(imm);

	if (p.bitmask) {
		EMIT(b, ORRI, p.is64, dst, A64_ZR, (int64_t)p.base);
		put_movks(b, p.is64, dst, imm, p.base);
	} else {
		put_wide(b, &p, dst, imm);
	}
}
