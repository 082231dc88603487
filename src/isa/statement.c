/* SPDX-License-Identifier: BSD-2-Clause */
/* Statements but for assignments (expression.c), and the parts that both are made of. */
#include "isa/statement.h"

#include <errno.h>
#include <string.h>

#include "isa/helper.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

int part_want(struct parse *p, const char *token)
{
	char accepted[32] = "expected '";

	if (scan_eat(&p->s, token))
		return 0;
	strncat(accepted, token, sizeof(accepted) - strlen(accepted) - 2);
	strcat(accepted, "'");
	return scan_unexpected(&p->s, accepted);
}

int part_reg(struct parse *p, char letter, uint8_t *reg)
{
	struct scan before = p->s;
	char found;

	if (!scan_reg(&p->s, &found, reg))
		return scan_unexpected(&p->s, letter == 'w' ? "expected a register, w0 to w10"
							    : "expected a register, r0 to r10");
	if (letter && letter != found)
		return scan_fail(&before, "the operands differ in width",
				 letter == 'w' ? "expected w0 to w10" : "expected r0 to r10");
	return 0;
}

int part_imm(struct parse *p)
{
	struct scan before = p->s;
	struct scan_number n;
	int64_t v;

	if (!scan_number(&p->s, &n))
		return scan_unexpected(&p->s, "expected a number");
	v = (int64_t)n.value;
	if (n.big || (n.minus ? v < INT32_MIN : v < 0 || v > UINT32_MAX))
		return scan_fail(&before, "the number does not fit in 32 bits",
				 "only 'rN = NUMBER ll' takes 64 bits");
	p->op.imm = (int32_t)v;
	return 0;
}

int part_size(struct parse *p)
{
	static const char *const names[] = { "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64" };
	int err = part_want(p, "(");

	for (unsigned i = 0; !err && i < LENGTH(names); i++) {
		if (!scan_eat(&p->s, names[i]))
			continue;
		p->op.mode |= (uint8_t)((i % 4) << OP_SIZE_SHIFT | (i >= 4 ? OP_SX : 0));
		err = part_want(p, "*");
		return err ? err : part_want(p, ")");
	}
	return err ? err : scan_unexpected(&p->s, "expected u8, u16, u32, u64, s8, s16 or s32");
}

int part_offset(struct parse *p)
{
	bool plus = scan_eat(&p->s, "+");
	struct scan before = p->s;
	struct scan_number n;

	if (!scan_number(&p->s, &n))
		return plus ? scan_unexpected(&p->s, "expected a number") : 0;
	p->op.off = (int16_t)n.value;
	if (n.big || p->op.off != (int64_t)n.value)
		return scan_fail(&before, "the offset does not fit in 16 bits",
				 "expected -32768 to 32767");
	return 0;
}

int part_address(struct parse *p, uint8_t *reg)
{
	int err = part_want(p, "(");

	if (!err)
		err = part_reg(p, 'r', reg);
	if (!err)
		err = part_offset(p);
	return err ? err : part_want(p, ")");
}

bool part_probe(struct parse *p)
{
	bool probe = scan_eat(&p->s, "probe"), arena = !probe && scan_eat(&p->s, "arena");

	if (probe || arena)
		p->op.mode |= OP_PROBE;
	if (arena)
		p->op.mode |= OP_ARENA;
	return probe || arena;
}

int part_fix(struct parse *p, const struct fix *f)
{
	struct fix fix = *f;

	fix.op = (uint32_t)p->ops.n;
	return vec_push(&p->fixes, fix);
}

void part_width(struct parse *p, char letter)
{
	if (letter == 'w')
		p->op.mode |= OP_W32;
}

/* "+3", "-3", "pc+3" or a label. */
static int part_target(struct parse *p)
{
	struct fix f = { .kind = FIX_DISTANCE, .where = p->s };
	bool pc = scan_eat(&p->s, "pc");
	struct scan_number n;

	if (scan_number(&p->s, &n)) {
		f.distance = n.big ? INT64_MAX / 2 : (int64_t)n.value;
		return part_fix(p, &f);
	}
	f.kind = FIX_LABEL;
	if (pc || !scan_name(&p->s, &f.name, &f.n))
		return scan_unexpected(&p->s, "expected a label, '+N', '-N' or 'pc+N'");
	return part_fix(p, &f);
}

static int statement_goto(struct parse *p)
{
	p->op.code = OP_JA;
	return part_target(p);
}

static int statement_gotol(struct parse *p)
{
	p->op.mode = OP_W32;
	return statement_goto(p);
}

static int statement_may_goto(struct parse *p)
{
	p->op.code = OP_MAYGOTO;
	return part_target(p);
}

/* The row of a form whose text stands here, the longest that fits. */
static int part_operator(struct parse *p, enum op_form form, const char *accepted)
{
	struct scan best = p->s;
	unsigned found = OP_COUNT;

	for (unsigned i = 0; i < OP_COUNT; i++) {
		struct scan s = p->s;

		if (op_rows[i].form == form && scan_eat(&s, op_rows[i].text) && s.at > best.at) {
			best = s;
			found = i;
		}
	}
	if (found == OP_COUNT)
		return scan_unexpected(&p->s, accepted);
	p->s = best;
	p->op.code = (uint8_t)found;
	return 0;
}

/* Register src of the width `letter`, or imm. */
static int part_operand(struct parse *p, char letter)
{
	struct scan peek = p->s;
	char found;

	if (!scan_reg(&peek, &found, &p->op.src))
		return part_imm(p);
	p->op.mode |= OP_REG;
	return part_reg(p, letter, &p->op.src);
}

static int statement_if(struct parse *p)
{
	struct scan peek = p->s;
	char letter = 'r';
	int err;

	scan_reg(&peek, &letter, &p->op.dst);
	err = part_reg(p, 0, &p->op.dst);
	part_width(p, letter);
	if (!err)
		err = part_operator(p, FORM_JCOND,
				    "expected ==, !=, <, <=, >, >=, s<, s<=, s>, s>= or &");
	if (!err)
		err = part_operand(p, letter);
	if (!err)
		err = part_want(p, "goto");
	return err ? err : part_target(p);
}

static int call_number(struct parse *p)
{
	p->op.code = p->op.imm == 12 ? OP_TAILCALL : OP_CALL;
	if (p->op.code == OP_TAILCALL)
		p->op.imm = 0;
	return 0;
}

static int call_kfunc(struct parse *p)
{
	int err = part_imm(p);

	p->op.code = OP_CALLKFUNC;
	return err ? err : part_offset(p);
}

/* "call direct 3", or with a name that tells the reader something: "call direct hash_lookup#3". */
static int call_direct(struct parse *p)
{
	const char *name;
	size_t n;

	p->op.code = OP_CALLDIRECT;
	if (scan_name(&p->s, &name, &n) && !scan_eat(&p->s, "#"))
		return scan_unexpected(&p->s, "expected '#' and the function's number");
	return part_imm(p);
}

/* "pc+5" or "+5", after which bpftool may give the name or the address. */
static int call_distance(struct parse *p)
{
	int err;

	p->op.code = OP_CALLSUB;
	err = part_target(p);
	if (!err && scan_eat(&p->s, "#"))
		p->s.at += strcspn(p->s.at, " \t\r;");
	return err;
}

/* A name, with the number behind '#' for names that mean nothing to us. */
static int call_name(struct parse *p)
{
	struct fix f = { .kind = FIX_CALL, .where = p->s };
	char name[64] = "";
	int err;

	if (!scan_name(&p->s, &f.name, &f.n))
		return scan_unexpected(
		    &p->s, "expected a helper's number or name, a label, 'pc+N' or 'kfunc N'");
	p->op.code = OP_CALLSUB;
	if (!scan_eat(&p->s, "#"))
		return part_fix(p, &f);
	err = part_imm(p);
	strncat(name, f.name, f.n < sizeof(name) ? f.n : 0);
	if (helper_by_name(name))
		p->op.imm = helper_by_name(name)->id;
	return err ? err : call_number(p);
}

static int statement_call(struct parse *p)
{
	struct scan peek = p->s, direct = p->s;
	struct scan_number n;
	int err;

	if (scan_eat(&p->s, "kfunc") || scan_eat(&p->s, "kernel-function#"))
		return call_kfunc(p);
	if (scan_eat(&direct, "direct") && !scan_end(&direct)) {
		p->s = direct;
		return call_direct(p);
	}
	if (scan_eat(&peek, "pc") || scan_eat(&peek, "+"))
		return call_distance(p);
	if (!scan_number(&peek, &n))
		return call_name(p);
	if (scan_eat(&peek, "#")) /* bpftool: "0xADDRESS#NUMBER" */
		p->s = peek;
	err = part_imm(p);
	return err ? err : call_number(p);
}

static int statement_callx(struct parse *p)
{
	p->op.code = OP_CALLX;
	return part_reg(p, 'r', &p->op.dst);
}

static int statement_exit(struct parse *p)
{
	p->op.code = OP_EXIT;
	return 0;
}

static int statement_tail_call(struct parse *p)
{
	p->op.code = OP_TAILCALL;
	p->op.mode = OP_REG;
	return 0;
}

static int statement_throw(struct parse *p)
{
	p->op.code = OP_THROW;
	return 0;
}

static int statement_nospec(struct parse *p)
{
	p->op.code = OP_NOSPEC;
	return 0;
}

/* After the star of "*(u32 *)(r1 + 4) = ..." */
static int statement_store(struct parse *p)
{
	int err = part_size(p);
	struct scan peek;
	char letter;

	p->op.code = OP_ST;
	if (!err)
		err = part_address(p, &p->op.dst);
	if (!err)
		err = part_want(p, "=");
	peek = p->s;
	if (err || !scan_reg(&peek, &letter, &p->op.src))
		return err ? err : part_imm(p);
	p->op.mode |= OP_REG;
	return part_reg(p, op_size_log(&p->op) == 3 ? 'r' : 0, &p->op.src);
}

static int statement_lock(struct parse *p)
{
	int err = part_want(p, "*");

	if (!err)
		err = part_size(p);
	if (!err)
		err = part_address(p, &p->op.dst);
	if (!err)
		err = part_operator(p, FORM_ATOMIC, "expected +=, |=, &= or ^=");
	return err ? err : part_reg(p, 0, &p->op.src);
}

static int statement_store_release(struct parse *p)
{
	int err = part_want(p, "(");

	p->op.code = OP_STREL;
	if (!err)
		err = part_size(p);
	if (!err)
		err = part_address(p, &p->op.dst);
	if (!err)
		err = part_want(p, ",");
	if (!err)
		err = part_reg(p, 0, &p->op.src);
	return err ? err : part_want(p, ")");
}

/* LLVM's words for wide loads with a source: "ld_pseudo r1, SOURCE, NUMBER". */
static int statement_ld_pseudo(struct parse *p)
{
	static const uint8_t codes[] = { OP_LDIMM, OP_LDMAP,	OP_LDVALUE,   OP_LDBTF,
					 OP_COUNT, OP_LDMAPIDX, OP_LDVALUEIDX };
	struct scan_number n = { 0 };
	struct scan before;
	int err = part_reg(p, 'r', &p->op.dst);

	if (!err)
		err = part_want(p, ",");
	before = p->s;
	if (!err)
		err = part_imm(p);
	if (err)
		return err;
	if (p->op.imm < 0 || p->op.imm >= (int)LENGTH(codes) || codes[p->op.imm] == OP_COUNT)
		return scan_fail(&before, "no such source", "expected 0, 1, 2, 3, 5 or 6");
	p->op.code = codes[p->op.imm];
	err = part_want(p, ",");
	if (!err && (!scan_number(&p->s, &n) || n.big))
		return scan_unexpected(&p->s, "expected a number of 64 bits");
	p->op.imm = p->op.code == OP_LDIMM ? (int64_t)n.value : (int32_t)n.value;
	if (op_row(&p->op)->form == FORM_LDMAP)
		p->op.off = (int32_t)(n.value >> 32);
	if (p->op.off && (p->op.code == OP_LDMAP || p->op.code == OP_LDMAPIDX))
		return scan_fail(&before, "a map itself has no offset", "expected source 2 or 6");
	return err;
}

static int statement_assign(struct parse *p)
{
	static const char accepted[] =
	    "expected =, +=, -=, *=, /=, %=, s/=, s%=, |=, &=, ^=, <<=, >>= or s>>=";
	char letter;
	int err;

	if (!scan_reg(&p->s, &letter, &p->op.dst))
		return scan_unexpected(&p->s, "expected a statement: rN = ..., *(u32 *)(rN + 0) = "
					      "..., if, goto, call, lock, exit");
	if (scan_eat(&p->s, "="))
		return expression_parse(p, letter);
	part_width(p, letter);
	err = part_operator(p, FORM_ALU, accepted);
	return err ? err : part_operand(p, letter);
}

static const struct statement {
	const char *word;
	int (*parse)(struct parse *p);
} statements[] = {
	{ "exit", statement_exit },
	{ "goto", statement_goto },
	{ "gotol", statement_gotol },
	{ "may_goto", statement_may_goto },
	{ "if", statement_if },
	{ "callx", statement_callx },
	{ "call", statement_call },
	{ "tail_call", statement_tail_call },
	{ "throw", statement_throw },
	{ "nospec", statement_nospec },
	{ "*", statement_store },
	{ "lock", statement_lock },
	{ "store_release", statement_store_release },
	{ "ld_pseudo", statement_ld_pseudo },
};

int statement_parse(struct parse *p)
{
	bool probe = part_probe(p);

	for (unsigned i = 0; i < LENGTH(statements); i++)
		if (scan_eat(&p->s, statements[i].word))
			return statements[i].parse(p);
	if (probe)
		return scan_unexpected(&p->s, "expected an access: *(u32 *)(rN + 0) = ..., lock, "
					      "store_release");
	return statement_assign(p);
}
