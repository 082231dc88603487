/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/arm64/insn.h"

#include "jit/arm64/row.h"

static const struct a64_field_row fields[A64_FIELDS] = {
#define FIELD(id, k, l, w, a) { #id, KIND_##k, l, w, a },
#include "jit/arm64/field.def"
};

const struct a64_row a64_rows[A64_COUNT] = {
#define INSN(id, word, chk, txt, ...) { #id, txt, word, CHECK_##chk, { __VA_ARGS__ } },
#include "jit/arm64/insn.def"
};

const struct a64_sysreg a64_sysregs[] = {
	{ A64_TPIDR_EL0, "TPIDR_EL0" },
	{ A64_TPIDR_EL1, "TPIDR_EL1" },
	{ A64_CNTVCT_EL0, "CNTVCT_EL0" },
};
const unsigned a64_n_sysregs = sizeof(a64_sysregs) / sizeof(a64_sysregs[0]);

const struct a64_field_row *a64_field_row(enum a64_field f)
{
	return &fields[f];
}

static uint64_t ones(unsigned n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/* The smallest period of the bit pattern: 2, 4, ... 64. */
static unsigned bitmask_period(uint64_t v)
{
	unsigned size = 64;

	while (size > 2 && ((v ^ (v >> (size / 2))) & ones(size / 2)) == 0)
		size /= 2;
	return size;
}

/* A logical immediate is one run of ones, rotated, repeated with a period of 2 to 64 bits. The
 * run starts where the pattern, rotated right by immr, has its ones at the bottom. */
int a64_bitmask(uint64_t value, bool is64)
{
	unsigned size, run, start;
	uint64_t pattern;

	if (!is64) {
		if (value >> 32)
			return -1;
		value |= value << 32;
	}
	if (value == 0 || value == ~0ull)
		return -1;
	size = bitmask_period(value);
	pattern = value & ones(size);
	run = (unsigned)__builtin_popcountll(pattern);
	if (pattern & 1) {
		/* the run may wrap: it starts above the highest zero */
		uint64_t zeros = ~pattern & ones(size);

		start = 64 - (unsigned)__builtin_clzll(zeros);
		start %= size;
	} else {
		start = (unsigned)__builtin_ctzll(pattern);
	}
	pattern = ((pattern >> start) | (start ? pattern << (size - start) : 0)) & ones(size);
	if (pattern != ones(run))
		return -1;
	return (int)((size == 64) << 12 | ((size - start) % size) << 6 |
		     ((0x3f & ~(size * 2 - 1)) | (run - 1)));
}

static uint64_t bitmask_value(unsigned field, bool is64)
{
	unsigned n = field >> 12, immr = field >> 6 & 63, imms = field & 63;
	unsigned len = 31 - (unsigned)__builtin_clz((n << 6 | (~imms & 0x3f)) | 1);
	unsigned size = 1u << len, run = (imms & (size - 1)) + 1, rot = immr & (size - 1);
	uint64_t v = ones(run);

	v = ((v >> rot) | (rot ? v << (size - rot) : 0)) & ones(size);
	for (; size < 64; size *= 2)
		v |= v << size;
	return is64 ? v : v & 0xffffffff;
}

/* The bits of a value in its field, or -1 when it does not fit. One function for each kind. */
typedef int64_t (*put_fn)(const struct a64_field_row *f, int64_t v, bool is64);

static int64_t put_none(const struct a64_field_row *f, int64_t v, bool is64)
{
	return -1;
}

static int64_t put_uint(const struct a64_field_row *f, int64_t v, bool is64)
{
	int64_t limit = f->arg ? f->arg : 1ll << f->width;

	return v >= 0 && v < limit ? v << f->lo : -1;
}

static int64_t put_reg(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v >= 0 && v <= A64_ZR ? v << f->lo : -1;
}

static int64_t put_regsp(const struct a64_field_row *f, int64_t v, bool is64)
{
	if (v == A64_SP)
		return 31ll << f->lo;
	return v >= 0 && v < A64_ZR ? v << f->lo : -1;
}

static int64_t put_amount(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v >= 0 && v < (is64 ? 64 : 32) ? v << f->lo : -1;
}

static int64_t put_hw(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v >= 0 && v < (is64 ? 4 : 2) ? v << f->lo : -1;
}

static int64_t put_bitmask(const struct a64_field_row *f, int64_t v, bool is64)
{
	int64_t bits = a64_bitmask((uint64_t)v, is64);

	return bits < 0 ? -1 : bits << f->lo;
}

static int64_t put_nbit(const struct a64_field_row *f, int64_t v, bool is64)
{
	return (int64_t)is64 << f->lo;
}

static int64_t put_sint(const struct a64_field_row *f, int64_t v, bool is64)
{
	int64_t half = 1ll << (f->width - 1), unit = 1ll << f->arg;

	if (v % unit != 0 || v / unit < -half || v / unit >= half)
		return -1;
	return ((v / unit) & (int64_t)ones(f->width)) << f->lo;
}

static int64_t put_uoff(const struct a64_field_row *f, int64_t v, bool is64)
{
	int64_t unit = 1ll << f->arg;

	return v >= 0 && v % unit == 0 && v / unit < 1ll << f->width ? v / unit << f->lo : -1;
}

static int64_t put_bitno(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v >= 0 && v < 64 ? (v >> 5) << 31 | (v & 31) << f->lo : -1;
}

static int64_t put_adr(const struct a64_field_row *f, int64_t v, bool is64)
{
	int64_t unit = 1ll << f->arg, n = v / unit;

	if (v % unit != 0 || n < -(1 << 20) || n >= 1 << 20)
		return -1;
	return (n & 3) << 29 | ((n >> 2) & (int64_t)ones(f->width)) << f->lo;
}

static int64_t put_regext(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v == A64_UXTW || v == A64_UXTX || v == A64_SXTW || v == A64_SXTX ? v << f->lo : -1;
}

static int64_t put_bti(const struct a64_field_row *f, int64_t v, bool is64)
{
	return v >= 0 && v < 4 ? v << f->lo : -1;
}

static int64_t put_sysreg(const struct a64_field_row *f, int64_t v, bool is64)
{
	for (unsigned i = 0; i < a64_n_sysregs; i++) {
		if (a64_sysregs[i].number == v)
			return v << f->lo;
	}
	return -1;
}

static const put_fn put[] = {
	[KIND_NONE] = put_none,	      [KIND_UINT] = put_uint,	  [KIND_REG] = put_reg,
	[KIND_REGSP] = put_regsp,     [KIND_AMOUNT] = put_amount, [KIND_HW] = put_hw,
	[KIND_BITMASK] = put_bitmask, [KIND_NBIT] = put_nbit,	  [KIND_SINT] = put_sint,
	[KIND_UOFF] = put_uoff,	      [KIND_BITNO] = put_bitno,	  [KIND_ADR] = put_adr,
	[KIND_REGEXT] = put_regext,   [KIND_BTI] = put_bti,	  [KIND_SYSREG] = put_sysreg,
};

bool a64_fits(enum a64_field field, int64_t value, bool is64)
{
	return put[fields[field].kind](&fields[field], value, is64) >= 0;
}

/* Operand that makes the combination unpredictable (Arm ARM C6.2, "CONSTRAINED UNPREDICTABLE"),
 * or -1. A base of SP never clashes: SP is operand 32, and no data register has that number. */
static int check_operands(const struct a64_row *row, const int64_t *o)
{
	switch (row->check) {
	case CHECK_WRITEBACK: /* rt, base */
		return o[0] == o[1] ? 1 : -1;
	case CHECK_LDP: /* rt, rt2, base */
		return o[0] == o[1] ? 1 : -1;
	case CHECK_LDP_WB:
		return o[0] == o[1] ? 1 : o[0] == o[2] || o[1] == o[2] ? 2 : -1;
	case CHECK_STP_WB:
		return o[0] == o[2] || o[1] == o[2] ? 2 : -1;
	case CHECK_STXR: /* status, data, base */
		return o[0] == o[1] ? 1 : o[0] == o[2] ? 2 : -1;
	default:
		return -1;
	}
}

uint32_t a64_encode(enum a64_insn id, const int64_t *operand, int *bad)
{
	const struct a64_row *row = &a64_rows[id];
	bool is64 = row->field[0] != F_SF || operand[0] == 1;
	uint32_t word = row->word;

	*bad = -1;
	for (int i = 0; i < A64_OPERANDS && row->field[i] != F_NONE; i++) {
		const struct a64_field_row *f = &fields[row->field[i]];
		int64_t bits = put[f->kind](f, f->kind == KIND_NBIT ? 0 : operand[i], is64);

		if (bits < 0) {
			*bad = i;
			return A64_FAULT;
		}
		word |= (uint32_t)bits;
	}
	*bad = check_operands(row, operand);
	return *bad < 0 ? word : A64_FAULT;
}

unsigned a64_operands(enum a64_insn id)
{
	unsigned n = 0;

	while (n < A64_OPERANDS && a64_rows[id].field[n] != F_NONE &&
	       a64_rows[id].field[n] != F_NBIT)
		n++;
	return n;
}

enum a64_field a64_operand_field(enum a64_insn id, unsigned i)
{
	return (enum a64_field)a64_rows[id].field[i];
}

const char *a64_name(enum a64_insn id)
{
	return a64_rows[id].name;
}

/* The value of a field in a word: the inverse of put. */
static int64_t get_field(const struct a64_field_row *f, uint32_t word, bool is64)
{
	int64_t raw = word >> f->lo & (uint32_t)ones(f->width);
	int64_t sign = raw & 1ll << (f->width - 1) ? -(1ll << f->width) : 0;

	switch (f->kind) {
	case KIND_REGSP:
		return raw == 31 ? A64_SP : raw;
	case KIND_BITMASK:
		return (int64_t)bitmask_value((unsigned)raw, is64);
	case KIND_SINT:
		return (raw + sign) * (1ll << f->arg);
	case KIND_UOFF:
		return raw << f->arg;
	case KIND_BITNO:
		return raw | (int64_t)(word >> 31) << 5;
	case KIND_ADR:
		return ((raw + sign) * 4 + (word >> 29 & 3)) * (1ll << f->arg);
	default:
		return raw;
	}
}

/* Decoding tries each row: its operands as the word has them must encode to the word. */
enum a64_insn a64_decode(uint32_t word, int64_t operand[A64_OPERANDS])
{
	for (int id = 0; id < A64_COUNT; id++) {
		const struct a64_row *row = &a64_rows[id];
		bool is64 = row->field[0] != F_SF || word >> 31;
		int bad;

		if ((word & row->word) != row->word)
			continue;
		for (int i = 0; i < A64_OPERANDS; i++)
			operand[i] = row->field[i] == F_NONE
					 ? 0
					 : get_field(&fields[row->field[i]], word, is64);
		if (a64_encode((enum a64_insn)id, operand, &bad) == word && bad < 0)
			return (enum a64_insn)id;
	}
	return A64_COUNT;
}
