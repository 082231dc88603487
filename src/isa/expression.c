/* SPDX-License-Identifier: BSD-2-Clause */
/* What may stand behind "rN =". */
#include <errno.h>
#include <string.h>

#include "isa/statement.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* "= -r1" or a negative number. */
static int expression_minus(struct parse *p, char letter)
{
	struct scan before = p->s;
	uint8_t reg;
	int err;

	part_width(p, letter);
	p->op.code = OP_NEG;
	err = part_reg(p, letter, &reg);
	if (!err && reg != p->op.dst)
		return scan_fail(&before, "a register is negated in place",
				 "expected the register on the left");
	return err;
}

/* "= (s8)r1", after the bracket. */
static int expression_extend(struct parse *p, char letter)
{
	static const char *const names[] = { "s8", "s16", "s32" };
	int err;

	part_width(p, letter);
	p->op.code = OP_MOV;
	for (unsigned i = 0; i < LENGTH(names); i++) {
		if (!scan_eat(&p->s, names[i]))
			continue;
		p->op.mode |= (uint8_t)(i << OP_SIZE_SHIFT | OP_SX | OP_REG);
		err = part_want(p, ")");
		return err ? err : part_reg(p, letter, &p->op.src);
	}
	return scan_unexpected(&p->s, "expected s8, s16 or s32");
}

/* "skb[12]", "skb[r1]", "skb[r1 + 12]" */
static int expression_packet(struct parse *p)
{
	struct scan peek;
	char letter;
	int err = part_want(p, "[");

	p->op.code = OP_LDABS;
	if (p->op.dst != 0 && !err)
		return scan_fail(&p->s, "packet loads go to r0", "expected r0 = ...");
	peek = p->s;
	if (!err && scan_reg(&peek, &letter, &p->op.src)) {
		p->op.code = OP_LDIND;
		err = part_reg(p, 'r', &p->op.src);
		peek = p->s;
		if (!err && !scan_eat(&peek, "]")) {
			scan_eat(&p->s, "+");
			err = part_imm(p);
		}
	} else if (!err) {
		err = part_imm(p);
	}
	return err ? err : part_want(p, "]");
}

/* "*(u32 *)(r1 + 4)" or "*(u32 *)skb[...]", after the star. */
static int expression_load(struct parse *p, char letter)
{
	int err = part_size(p);

	if (!err && scan_eat(&p->s, "skb"))
		return expression_packet(p);
	p->op.code = OP_LD;
	return err ? err : part_address(p, &p->op.src);
}

/* "&(void __percpu *)(r1)", after the ampersand. */
static int expression_percpu(struct parse *p, char letter)
{
	static const char *const tokens[] = { "(", "void", "__percpu", "*", ")", "(" };
	int err = 0;

	p->op.code = OP_PERCPU;
	for (unsigned i = 0; !err && i < LENGTH(tokens); i++)
		err = part_want(p, tokens[i]);
	if (!err)
		err = part_reg(p, 'r', &p->op.src);
	return err ? err : part_want(p, ")");
}

static int expression_acquire(struct parse *p, char letter)
{
	int err = part_want(p, "(");

	p->op.code = OP_LDACQ;
	if (!err)
		err = part_size(p);
	if (!err)
		err = part_address(p, &p->op.src);
	return err ? err : part_want(p, ")");
}

/* "(r2, TO, FROM)" */
static int expression_cast(struct parse *p, char letter)
{
	int64_t to = 0;
	int err = part_want(p, "(");

	p->op.code = OP_CAST;
	if (!err)
		err = part_reg(p, 'r', &p->op.src);
	if (!err)
		err = part_want(p, ",");
	if (!err)
		err = part_imm(p);
	to = p->op.imm;
	if (!err)
		err = part_want(p, ",");
	if (!err)
		err = part_imm(p);
	if (!err && (to | p->op.imm) != 1)
		return scan_fail(&p->s, "there are only the address spaces 0 and 1",
				 "expected 0, 1 or 1, 0");
	if (!err && to == p->op.imm)
		return scan_fail(&p->s, "a cast to the same address space",
				 "expected 0, 1 or 1, 0");
	p->op.imm |= to << 16;
	return err ? err : part_want(p, ")");
}

/* Names of atomics that return the old value; `size` is 0 where a cast gives it. */
static const struct fetch {
	const char *name;
	uint8_t code, size;
} fetches[] = {
	{ "atomic_fetch_add", OP_AADD, 0 },  { "atomic64_fetch_add", OP_AADD, 0 },
	{ "atomic_fetch_or", OP_AOR, 0 },    { "atomic64_fetch_or", OP_AOR, 0 },
	{ "atomic_fetch_and", OP_AAND, 0 },  { "atomic64_fetch_and", OP_AAND, 0 },
	{ "atomic_fetch_xor", OP_AXOR, 0 },  { "atomic64_fetch_xor", OP_AXOR, 0 },
	{ "atomic_xchg", OP_XCHG, 0 },	     { "atomic64_xchg", OP_XCHG, 0 },
	{ "atomic_cmpxchg", OP_CMPXCHG, 0 }, { "atomic64_cmpxchg", OP_CMPXCHG, 0 },
	{ "xchg32_32", OP_XCHG, 4 },	     { "xchg_64", OP_XCHG, 8 },
	{ "cmpxchg32_32", OP_CMPXCHG, 4 },   { "cmpxchg_64", OP_CMPXCHG, 8 },
};

/* The place: "(u32 *)(r1 + 4)", or "r1 + 4" where the name says the size. */
static int fetch_place(struct parse *p, const struct fetch *f)
{
	int err;

	if (!f->size) {
		err = part_size(p);
		return err ? err : part_address(p, &p->op.dst);
	}
	p->op.mode |= op_mode_size(f->size);
	err = part_reg(p, 'r', &p->op.dst);
	return err ? err : part_offset(p);
}

/* "NAME(PLACE, r2)" or "NAME(PLACE, r0, r2)" */
static int expression_fetch(struct parse *p, const struct fetch *f)
{
	uint8_t result = p->op.dst, old = 0;
	bool cmp = f->code == OP_CMPXCHG;
	int err = part_want(p, "(");

	p->op.code = f->code;
	p->op.mode |= OP_FETCH;
	if (!err)
		err = fetch_place(p, f);
	if (!err && cmp)
		err = part_want(p, ",");
	if (!err && cmp)
		err = part_reg(p, 0, &old);
	if (!err)
		err = part_want(p, ",");
	if (!err)
		err = part_reg(p, 0, &p->op.src);
	if (!err && cmp && (old || result))
		return scan_fail(&p->s, "cmpxchg compares with r0 and returns in r0",
				 "expected r0 = cmpxchg_64(rN + 0, r0, rM)");
	if (!err && !cmp && result != p->op.src)
		return scan_fail(&p->s, "the old value goes to the last operand",
				 "expected the same register on the left");
	return err ? err : part_want(p, ")");
}

/* "map_fd 5 ll", "map_value 5 + 16 ll", ..., after the word. */
static int expression_ref(struct parse *p, unsigned code)
{
	struct scan_number off = { 0 };
	int err = part_imm(p);

	p->op.code = (uint8_t)code;
	if (!err && scan_eat(&p->s, "+") && !scan_number(&p->s, &off))
		return scan_unexpected(&p->s, "expected a number");
	p->op.off = (int32_t)off.value;
	if ((code == OP_LDMAP || code == OP_LDMAPIDX) && off.value)
		return scan_fail(&p->s, "a map itself has no offset",
				 "expected map_value or map_idx_value");
	scan_eat(&p->s, "ll");
	return err;
}

/* bpftool's "map[id:5]", "map[id:5][0]+16", "map[idx:5]+16", "btf[id:5]+0", after the bracket. */
static int expression_kernel_ref(struct parse *p, bool btf)
{
	bool index = !btf && scan_eat(&p->s, "idx"), value = false;
	struct scan_number off = { 0 };
	int err = index ? 0 : part_want(p, "id");

	if (!err)
		err = part_want(p, ":");
	if (!err)
		err = part_imm(p);
	if (!err)
		err = part_want(p, "]");
	if (!err && scan_eat(&p->s, "["))
		err = part_want(p, "0") ?: part_want(p, "]");
	if (!err)
		value = scan_number(&p->s, &off);
	p->op.off = (int32_t)off.value;
	p->op.code = btf     ? OP_LDBTF
		     : index ? (value ? OP_LDVALUEIDX : OP_LDMAPIDX)
		     : value ? OP_LDVALUE
			     : OP_LDMAP;
	scan_eat(&p->s, "ll");
	return err;
}

/* "func NAME ll" or "func NAME#3 ll", after the word. */
static int expression_func(struct parse *p, char letter)
{
	struct fix f = { .kind = FIX_LABEL, .where = p->s };
	int err;

	p->op.code = OP_LDFUNC;
	if (!scan_name(&p->s, &f.name, &f.n))
		return scan_unexpected(&p->s, "expected the label of a subprogram");
	err = scan_eat(&p->s, "#") ? part_imm(p) : 0;
	scan_eat(&p->s, "ll");
	return err ? err : part_fix(p, &f);
}

/* bpftool's "subprog[+4]", after the bracket. */
static int expression_subprog(struct parse *p, char letter)
{
	struct fix f = { .kind = FIX_DISTANCE, .where = p->s };
	struct scan_number n;
	int err;

	p->op.code = OP_LDFUNC;
	if (!scan_number(&p->s, &n))
		return scan_unexpected(&p->s, "expected a number");
	f.distance = n.big ? INT64_MAX / 2 : (int64_t)n.value;
	err = part_want(p, "]");
	return err ? err : part_fix(p, &f);
}

static int expression_map(struct parse *p, char letter)
{
	return expression_kernel_ref(p, false);
}

static int expression_btf(struct parse *p, char letter)
{
	return expression_kernel_ref(p, true);
}

/* A number of 32 bits, or of 64 with "ll" behind it or bpftool's "(18)" before the statement. */
static int expression_number(struct parse *p, char letter)
{
	struct scan peek = p->s;
	struct scan_number n;

	scan_number(&peek, &n);
	if (scan_eat(&peek, "ll") || p->opcode == 0x18) {
		if (n.big)
			return scan_fail(&p->s, "the number does not fit in 64 bits",
					 "expected 64 bits, signed or unsigned");
		if (letter == 'w')
			return scan_fail(&p->s, "64 bits do not fit in a w register",
					 "expected rN = NUMBER ll");
		p->op.code = OP_LDIMM;
		p->op.imm = (int64_t)n.value;
		p->s = peek;
		return 0;
	}
	p->op.code = OP_MOV;
	part_width(p, letter);
	return part_imm(p);
}

/* "le16 r1" and its kin. */
static bool is_swap(struct parse *p)
{
	static const uint8_t codes[] = { OP_TOLE, OP_TOBE, OP_BSWAP };
	static const char *const widths[] = { "16", "32", "64" };
	char word[16];

	for (unsigned i = 0; i < LENGTH(codes) * LENGTH(widths); i++) {
		strcpy(word, op_rows[codes[i / 3]].text);
		strcat(word, widths[i % 3]);
		if (!scan_eat(&p->s, word))
			continue;
		p->op.code = codes[i / 3];
		p->op.imm = 16 << i % 3;
		return true;
	}
	return false;
}

static int expression_swap(struct parse *p)
{
	struct scan before = p->s;
	uint8_t reg;
	int err = part_reg(p, 'r', &reg);

	if (!err && reg != p->op.dst)
		return scan_fail(&before, "bytes are swapped in place",
				 "expected the register on the left");
	return err;
}

/* "= r2", "= w2"; a w register on the right alone is clang's word for zero extension. */
static int expression_move(struct parse *p, char letter, char source)
{
	p->op.code = OP_MOV;
	p->op.mode |= OP_REG;
	part_width(p, source);
	return part_reg(p, letter == 'w' ? 'w' : source, &p->op.src);
}

static int expression_symbol(struct parse *p)
{
	struct fix f = { .kind = FIX_SYMBOL, .where = p->s };

	p->op.code = OP_LDMAP;
	if (!scan_name(&p->s, &f.name, &f.n))
		return scan_unexpected(&p->s, "expected a register, a number or a load");
	if (!scan_eat(&p->s, "ll"))
		return scan_fail(&f.where, "unknown name",
				 "expected a register, a number, a load or 'NAME ll'");
	return part_fix(p, &f);
}

static const struct expression {
	const char *token;
	int (*parse)(struct parse *p, char letter);
	bool access, /* "probe" and "arena" may stand before it */
	    wide;    /* the left side is rN */
} expressions[] = {
	{ "*", expression_load, true, false },
	{ "(", expression_extend, false, false },
	{ "&", expression_percpu, false, true },
	{ "load_acquire", expression_acquire, true, false },
	{ "addr_space_cast", expression_cast, false, true },
	{ "map[", expression_map, false, true },
	{ "btf[", expression_btf, false, true },
	{ "func", expression_func, false, true },
	{ "subprog[", expression_subprog, false, true },
};

static int expression_want_r(struct parse *p, char letter)
{
	return letter == 'r' ? 0
			     : scan_fail(&p->s, "this gives 64 bits", "expected rN on the left");
}

/* Forms that begin with a fixed token. Returns 1 when there was none. */
static int expression_token(struct parse *p, char letter, bool probe)
{
	for (unsigned i = 0; i < LENGTH(expressions); i++) {
		const struct expression *e = &expressions[i];

		if ((probe && !e->access) || !scan_eat(&p->s, e->token))
			continue;
		if (e->wide && expression_want_r(p, letter))
			return -EINVAL;
		return e->parse(p, letter);
	}
	for (unsigned i = 0; i < LENGTH(fetches); i++)
		if (scan_eat(&p->s, fetches[i].name))
			return expression_fetch(p, &fetches[i]);
	return 1;
}

int expression_parse(struct parse *p, char letter)
{
	bool probe = part_probe(p);
	int err = expression_token(p, letter, probe);
	struct scan peek = p->s;
	struct scan_number n;
	uint8_t reg;
	char c;

	if (err <= 0)
		return err;
	if (probe)
		return scan_unexpected(&p->s, "expected an access");
	for (unsigned i = 0; i < OP_COUNT; i++)
		if (op_rows[i].form == FORM_LDMAP && scan_eat(&p->s, op_rows[i].text))
			return expression_want_r(p, letter) ?: expression_ref(p, i);
	if (scan_number(&peek, &n))
		return expression_number(p, letter);
	if (scan_eat(&p->s, "-"))
		return expression_minus(p, letter);
	if (is_swap(p))
		return expression_want_r(p, letter) ?: expression_swap(p);
	if (scan_reg(&peek, &c, &reg))
		return expression_move(p, letter, c);
	return expression_want_r(p, letter) ?: expression_symbol(p);
}
