/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints an A64 word by its row's text. Words after % in the text, N an operand's index:
 *   rN register of the row's width   wN, xN w or x register   eN by the extend in N + 1
 *   mN by the extend in N + 1 of an address   bN by the bit number in N + 1
 *   uN dN hN unsigned, signed, hexadecimal number   cN iN condition, inverted
 *   LN ", lsl #12"   HN ", lsl #16 * hw"   SN shift and amount   XN extend and amount
 *   IN ", #n" unless 0   MNs extend and scaled bit of an address, access of 1 << s bytes
 *   oN barrier option   tN bti kind   yN system register   v V numbers of the alias
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jit/arm64/row.h"

/* An alias being tried or printed, or the row's own text. */
struct form {
	const char *text;
	int64_t v[2];
};

struct out {
	char *at;
	size_t size, n;
};

static const char *const conds[] = { "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc",
				     "hi", "ls", "ge", "lt", "gt", "le", "al", "nv" };
static const char *const shifts[] = { "lsl", "lsr", "asr", "ror" };
static const char *const extends[] = { "uxtb", "uxth", "uxtw", "uxtx",
				       "sxtb", "sxth", "sxtw", "sxtx" };
static const char *const barriers[16] = { [1] = "oshld", "oshst",     "osh",	     [5] = "nshld",
					  "nshst",	 "nsh",	      [9] = "ishld", "ishst",
					  "ish",	 [13] = "ld", "st",	     "sy" };
static const char *const btis[] = { "", " c", " j", " jc" };

static int64_t movz_value(const int64_t *o)
{
	return (int64_t)((uint64_t)o[2] << (o[3] * 16));
}

/* Whether movz alone makes the value. */
static bool movz_any(int64_t value, int width)
{
	uint64_t v = width == 32 ? (uint32_t)value : (uint64_t)value;

	for (int i = 0; i < width; i += 16) {
		if ((v & ~(0xffffull << i)) == 0)
			return true;
	}
	return false;
}

/* Whether movz or movn alone makes the value, so that `mov` means those. */
static bool mov_wide(int64_t value, int width)
{
	return movz_any(value, width) || movz_any(~value, width);
}

static int64_t mov_value(int64_t value, int width)
{
	return width == 32 ? (int32_t)value : value;
}

static void put(struct out *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(b->n < b->size ? b->at + b->n : NULL, b->n < b->size ? b->size - b->n : 0,
		      fmt, ap);
	va_end(ap);
	b->n += n > 0 ? (size_t)n : 0;
}

static void put_reg(struct out *b, int64_t reg, bool is64)
{
	if (reg == A64_SP)
		put(b, "%s", is64 ? "sp" : "wsp");
	else if (reg == A64_ZR)
		put(b, "%s", is64 ? "xzr" : "wzr");
	else
		put(b, "%c%d", is64 ? 'x' : 'w', (int)reg);
}

/* Extend and amount of an add or subtract; with SP as an operand the plain one is written lsl. */
static void put_extend(struct out *b, const int64_t *o, unsigned i, bool is64)
{
	bool plain = (o[1] == A64_SP || o[2] == A64_SP) && o[i] == (is64 ? A64_UXTX : A64_UXTW);

	if (!plain)
		put(b, ", %s", extends[o[i]]);
	else if (o[i + 1])
		put(b, ", lsl");
	if (o[i + 1])
		put(b, " #%d", (int)o[i + 1]);
}

static void put_index(struct out *b, int64_t extend, bool scaled, int log)
{
	if (extend != A64_UXTX)
		put(b, ", %s", extends[extend]);
	else if (scaled)
		put(b, ", lsl");
	if (scaled)
		put(b, " #%d", log);
}

static void put_barrier(struct out *b, int64_t option)
{
	if (barriers[option])
		put(b, "%s", barriers[option]);
	else
		put(b, "#%d", (int)option);
}

static void put_sysreg(struct out *b, int64_t r)
{
	for (unsigned i = 0; i < a64_n_sysregs; i++) {
		if (a64_sysregs[i].number == r)
			put(b, "%s", a64_sysregs[i].name);
	}
}

/* Registers: r w x e m b. */
static void put_register_word(struct out *b, char w, const int64_t *o, unsigned i, bool is64)
{
	bool x[128] = {
		['r'] = is64,
		['x'] = true,
		['e'] = w == 'e' && is64 && (o[i + 1] & 3) == 3,
		['m'] = w == 'm' && (o[i + 1] & 1),
		['b'] = w == 'b' && o[i + 1] >= 32,
	};

	put_reg(b, o[i], x[(int)w]);
}

/* Numbers and names: one word of a text. Returns the number of extra characters consumed. */
static int put_word(struct out *b, char w, const char *rest, const int64_t *o, unsigned i,
		    bool is64)
{
	switch (w) {
	case 'u':
		put(b, "%llu", (unsigned long long)o[i]);
		return 0;
	case 'd':
		put(b, "%lld", (long long)o[i]);
		return 0;
	case 'h':
		put(b, o[i] ? "0x%llx" : "%llx", (unsigned long long)o[i]);
		return 0;
	case 'c':
		put(b, "%s", conds[o[i]]);
		return 0;
	case 'i':
		put(b, "%s", conds[o[i] ^ 1]);
		return 0;
	case 'L':
		put(b, "%s", o[i] ? ", lsl #12" : "");
		return 0;
	case 'H':
		if (o[i])
			put(b, ", lsl #%d", (int)o[i] * 16);
		return 0;
	case 'S':
		if (o[i] || o[i + 1])
			put(b, ", %s #%d", shifts[o[i]], (int)o[i + 1]);
		return 0;
	case 'X':
		put_extend(b, o, i, is64);
		return 0;
	case 'I':
		if (o[i])
			put(b, ", #%lld", (long long)o[i]);
		return 0;
	case 'M':
		put_index(b, o[i], o[i + 1], rest[0] - '0');
		return 1;
	case 'o':
		put_barrier(b, o[i]);
		return 0;
	case 't':
		put(b, "%s", btis[o[i]]);
		return 0;
	case 'y':
		put_sysreg(b, o[i]);
		return 0;
	default:
		put_register_word(b, w, o, i, is64);
		return 0;
	}
}

static void put_text(struct out *b, const struct form *f, const int64_t *o, bool is64)
{
	for (const char *t = f->text; *t; t++) {
		if (*t != '%') {
			put(b, "%c", *t);
		} else if (t[1] == 'v' || t[1] == 'V') {
			put(b, "%lld", (long long)f->v[*++t == 'V']);
		} else {
			t += 2 + put_word(b, t[1], t + 3, o, (unsigned)(t[2] - '0'), is64);
		}
	}
}

static struct form form_of(enum a64_insn id, const int64_t *o, int W)
{
#define ALIAS(insn, when, text, v, V)                                                              \
	if (id == A64_##insn && (when))                                                            \
		return (struct form){ text, { v, V } };
#include "jit/arm64/alias.def"
	return (struct form){ a64_rows[id].text, { 0, 0 } };
}

int a64_print(uint32_t word, char *buf, size_t size)
{
	struct out b = { buf, size, 0 };
	int64_t o[A64_OPERANDS + 2] = { 0 };
	enum a64_insn id = a64_decode(word, o);

	if (size)
		buf[0] = '\0';
	if (id == A64_COUNT) {
		put(&b, ".inst 0x%08x", word);
	} else {
		bool is64 = a64_rows[id].field[0] != F_SF || o[0] == 1;
		struct form f = form_of(id, o, is64 ? 64 : 32);

		put_text(&b, &f, o, is64);
	}
	return (int)b.n;
}
