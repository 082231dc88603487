/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/x86_64/insn.h"

#include <errno.h>

const struct x_form_row x_forms[] = {
#define FORM(name, fields, imm) [XF_##name] = { fields, IMM_##imm },
	X_FORMS(FORM)
#undef FORM
};

#define W    XW
#define Q    XQ
#define H    XH
#define F2   XF2
#define F3   XF3
#define LOCK XLOCK
#define V    0xff
const struct x_row x_rows[X_COUNT] = {
#define INSN(name, form, flags, opcode, digit, s1, s2, text)                                       \
	[X_##name] = { #name, text, XF_##form, flags, digit, opcode, s1, s2 },
#include "jit/x86_64/insn.def"
};
#undef W
#undef Q
#undef H
#undef F2
#undef F3
#undef LOCK
#undef V

/* Bytes of one instruction. */
struct x_bytes {
	uint8_t at[16];
	unsigned n;
};

static inline void byte(struct x_bytes *o, unsigned v)
{
	o->at[o->n++] = (uint8_t)v;
}

static inline void little_endian(struct x_bytes *o, uint64_t v, unsigned n)
{
	for (; n; n--, v >>= 8)
		byte(o, v & 0xff);
}

static bool fits_signed(int64_t v, unsigned bits)
{
	return v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << (bits - 1);
}

static bool imm_fits(enum x_imm kind, int64_t v)
{
	switch (kind) {
	case IMM_S8:
		return fits_signed(v, 8);
	case IMM_U8:
		return v >= 0 && v <= 0xff;
	case IMM_S16:
		return fits_signed(v, 16);
	case IMM_S32:
		return fits_signed(v, 32);
	case IMM_U32:
		return v >= 0 && v <= UINT32_MAX;
	default:
		return true;
	}
}

static const uint8_t imm_size[] = {
	[IMM_S8] = 1, [IMM_U8] = 1, [IMM_S16] = 2, [IMM_S32] = 4, [IMM_U32] = 4, [IMM_I64] = 8
};

static bool regs_fit(const struct x_args *a)
{
	return (a->reg | a->rm | a->base | a->index | a->vreg) < 16 && a->scale < 4 && a->w < 2;
}

/* NULL or what is wrong. */
static const char *x_check(const struct x_form_row *f, const struct x_args *a)
{
	if (!regs_fit(a))
		return "register";
	if (!fits_signed(a->disp, 32))
		return "displacement";
	if (!imm_fits(f->imm, a->imm))
		return "immediate";
	if (f->fields & F_INDEX && a->index == RSP)
		return "index register";
	return NULL;
}

static bool row_is_64(const struct x_row *row, const struct x_args *a)
{
	return row->flags & XQ || (row->flags & XW && a->w);
}

/* The low bytes of rsp, rbp, rsi, rdi are only reached with a REX prefix. */
static bool byte_needs_rex(const struct x_row *row, unsigned fields, const struct x_args *a)
{
	unsigned size_reg = fields & F_REG_FIRST ? row->s1 : row->s2;
	unsigned size_rm = fields & F_REG_FIRST ? row->s2 : row->s1;

	return (fields & F_REG && size_reg == 1 && a->reg >= 4) ||
	       (fields & F_RM && size_rm == 1 && a->rm >= 4);
}

static unsigned rex_bits(const struct x_row *row, const struct x_args *a)
{
	return (unsigned)row_is_64(row, a) << 3 | (a->reg >> 3) << 2 | (a->index >> 3) << 1 |
	       (a->rm | a->base) >> 3;
}

static void put_prefixes(struct x_bytes *o, const struct x_row *row, unsigned fields,
			 const struct x_args *a)
{
	unsigned rex = rex_bits(row, a);

	if (fields & F_FS)
		byte(o, 0x64);
	if (row->flags & XLOCK)
		byte(o, 0xf0);
	if (row->flags & XH)
		byte(o, 0x66);
	if (row->flags & XF2)
		byte(o, 0xf2);
	if (row->flags & XF3)
		byte(o, 0xf3);
	if (rex || byte_needs_rex(row, fields, a))
		byte(o, 0x40 | rex);
	if (row->opcode > 0xffff)
		byte(o, row->opcode >> 16);
	if (row->opcode > 0xff)
		byte(o, row->opcode >> 8 & 0xff);
	byte(o, (row->opcode & 0xff) + (fields & F_OPREG ? a->rm & 7 : 0));
}

/* Three-byte VEX with map 0f38. */
static void put_vex(struct x_bytes *o, const struct x_row *row, const struct x_args *a)
{
	unsigned pp = row->flags & XH ? 1 : row->flags & XF3 ? 2 : row->flags & XF2 ? 3 : 0;

	byte(o, 0xc4);
	byte(o, (~a->reg >> 3 & 1) << 7 | 1u << 6 | (~a->rm >> 3 & 1) << 5 | 2);
	byte(o, (unsigned)row_is_64(row, a) << 7 | (~a->vreg & 15) << 3 | pp);
	byte(o, row->opcode & 0xff);
}

/* ModRM, SIB and displacement of [base + index << scale + disp], shortest form. rbp and r13 have
 * no form without displacement, rsp and r12 none without SIB. */
static void put_mem(struct x_bytes *o, unsigned reg, bool index, const struct x_args *a)
{
	unsigned mod = !a->disp && (a->base & 7) != RBP ? 0 : fits_signed(a->disp, 8) ? 1 : 2;
	bool sib = index || (a->base & 7) == RSP;

	byte(o, mod << 6 | (reg & 7) << 3 | (sib ? 4 : a->base & 7));
	if (sib)
		byte(o, a->scale << 6 | (index ? a->index & 7 : 4) << 3 | (a->base & 7));
	little_endian(o, (uint64_t)a->disp, mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static void put_operands(struct x_bytes *o, const struct x_row *row, unsigned fields,
			 const struct x_args *a)
{
	unsigned reg = fields & F_REG ? a->reg : row->digit;

	if (fields & F_RM)
		byte(o, 3u << 6 | (reg & 7) << 3 | (a->rm & 7));
	if (fields & F_MEM)
		put_mem(o, reg, fields & F_INDEX, a);
	if (fields & F_RIP)
		byte(o, (reg & 7) << 3 | 5);
	if (fields & F_FS) {
		byte(o, (reg & 7) << 3 | 4);
		byte(o, 0x25);
	}
	if (fields & (F_RIP | F_FS))
		little_endian(o, (uint64_t)a->disp, 4);
}

void x_put(struct builder *b, enum x_insn insn, const struct x_args *a)
{
	const struct x_row *row = &x_rows[insn];
	const struct x_form_row *f = &x_forms[row->form];
	const char *wrong = x_check(f, a);
	struct x_bytes o = { .n = 0 };

	if (wrong) {
		builder_put(b, (const uint8_t[]){ 0x0f, 0x0b }, 2);
		builder_fail(b, -EINVAL, "%s does not fit '%s' (disp %lld, imm %lld)", wrong,
			     row->name, (long long)a->disp, (long long)a->imm);
		return;
	}
	if (f->fields & F_VREG)
		put_vex(&o, row, a);
	else
		put_prefixes(&o, row, f->fields, a);
	put_operands(&o, row, f->fields, a);
	little_endian(&o, (uint64_t)a->imm, imm_size[f->imm]);
	builder_put(b, o.at, o.n);
}
