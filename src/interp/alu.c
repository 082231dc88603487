/* SPDX-License-Identifier: BSD-2-Clause */
#include "interp/alu.h"

#include <endian.h>

/* EACH_WIDTH defines NAME64 and NAME32 of operands a and b. In expr, U and S are the unsigned and
 * the signed type of that width and W is its number of bits. */
#define DEFINE(name, u, s, bits, expr)                                                             \
	static uint64_t name##bits(uint64_t a64, uint64_t b64)                                     \
	{                                                                                          \
		typedef u U;                                                                       \
		typedef s S __attribute__((unused));                                               \
		enum { W = bits };                                                                 \
		const U a = (U)a64, b = (U)b64;                                                    \
		(void)a, (void)b, (void)W;                                                         \
		return (U)(expr);                                                                  \
	}
#define EACH_WIDTH(name, expr)                                                                     \
	DEFINE(name, uint64_t, int64_t, 64, expr)                                                  \
	DEFINE(name, uint32_t, int32_t, 32, expr)

/* The smallest negative value divided by -1 does not fit; it wraps to itself, remainder 0. */
#define MINUS_ONE ((U) - 1)

EACH_WIDTH(add, a + b)
EACH_WIDTH(sub, a - b)
EACH_WIDTH(mul, a *b)
EACH_WIDTH(div, b == 0 ? 0 : a / b)
EACH_WIDTH(sdiv, b == 0 ? 0 : b == MINUS_ONE ? 0 - a : (U)((S)a / (S)b))
EACH_WIDTH(mod, b == 0 ? a : a % b)
EACH_WIDTH(smod, b == 0 ? a : b == MINUS_ONE ? 0 : (U)((S)a % (S)b))
EACH_WIDTH(or, a | b)
EACH_WIDTH(and, a &b)
EACH_WIDTH(xor, a ^ b)
EACH_WIDTH(lsh, a << (b & (W - 1)))
EACH_WIDTH(rsh, a >> (b & (W - 1)))
EACH_WIDTH(arsh, (S)a >> (b & (W - 1)))
EACH_WIDTH(uhmul, ((unsigned __int128)a * b) >> W)
EACH_WIDTH(shmul, ((__int128)(S)a * (S)b) >> W)
EACH_WIDTH(neg, 0 - a)
EACH_WIDTH(mov, b)

EACH_WIDTH(jeq, a == b)
EACH_WIDTH(jne, a != b)
EACH_WIDTH(jgt, a > b)
EACH_WIDTH(jge, a >= b)
EACH_WIDTH(jlt, a < b)
EACH_WIDTH(jle, a <= b)
EACH_WIDTH(jset, (a & b) != 0)
EACH_WIDTH(jsgt, (S)a > (S)b)
EACH_WIDTH(jsge, (S)a >= (S)b)
EACH_WIDTH(jslt, (S)a < (S)b)
EACH_WIDTH(jsle, (S)a <= (S)b)

/* By op code: the 64-bit function, then the 32-bit one. */
static uint64_t (*const table[OP_COUNT][2])(uint64_t, uint64_t) = {
	[OP_ADD] = { add64, add32 },	   [OP_SUB] = { sub64, sub32 },
	[OP_MUL] = { mul64, mul32 },	   [OP_DIV] = { div64, div32 },
	[OP_SDIV] = { sdiv64, sdiv32 },	   [OP_MOD] = { mod64, mod32 },
	[OP_SMOD] = { smod64, smod32 },	   [OP_OR] = { or64, or32 },
	[OP_AND] = { and64, and32 },	   [OP_XOR] = { xor64, xor32 },
	[OP_LSH] = { lsh64, lsh32 },	   [OP_RSH] = { rsh64, rsh32 },
	[OP_ARSH] = { arsh64, arsh32 },	   [OP_UHMUL] = { uhmul64, uhmul32 },
	[OP_SHMUL] = { shmul64, shmul32 }, [OP_NEG] = { neg64, neg32 },
	[OP_MOV] = { mov64, mov32 },	   [OP_JEQ] = { jeq64, jeq32 },
	[OP_JNE] = { jne64, jne32 },	   [OP_JGT] = { jgt64, jgt32 },
	[OP_JGE] = { jge64, jge32 },	   [OP_JLT] = { jlt64, jlt32 },
	[OP_JLE] = { jle64, jle32 },	   [OP_JSET] = { jset64, jset32 },
	[OP_JSGT] = { jsgt64, jsgt32 },	   [OP_JSGE] = { jsge64, jsge32 },
	[OP_JSLT] = { jslt64, jslt32 },	   [OP_JSLE] = { jsle64, jsle32 },
};

uint64_t alu_eval(uint8_t code, bool w32, uint64_t a, uint64_t b)
{
	return table[code][w32](a, b);
}

bool alu_compare(uint8_t code, bool w32, uint64_t a, uint64_t b)
{
	return table[code][w32](a, b) != 0;
}

uint64_t alu_sext(uint64_t v, unsigned size)
{
	const unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static uint64_t to_little(uint64_t v, int64_t bits)
{
	return bits == 16 ? htole16((uint16_t)v) : bits == 32 ? htole32((uint32_t)v) : htole64(v);
}

static uint64_t to_big(uint64_t v, int64_t bits)
{
	return bits == 16 ? htobe16((uint16_t)v) : bits == 32 ? htobe32((uint32_t)v) : htobe64(v);
}

static uint64_t swap(uint64_t v, int64_t bits)
{
	return __builtin_bswap64(v) >> (64 - bits);
}

uint64_t alu_end(uint8_t code, uint64_t v, int64_t bits)
{
	return code == OP_TOLE	 ? to_little(v, bits)
	       : code == OP_TOBE ? to_big(v, bits)
				 : swap(v, bits);
}
