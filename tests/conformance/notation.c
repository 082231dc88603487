/* SPDX-License-Identifier: BSD-2-Clause */
#include "notation.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

/* How the operands of a mnemonic are written. */
enum shape {
	SHAPE_ALU,    /* dst, src|imm */
	SHAPE_UNARY,  /* dst */
	SHAPE_MOVSX,  /* dst, src */
	SHAPE_LDDW,   /* dst, imm64 */
	SHAPE_LDX,    /* dst, [src+off] */
	SHAPE_ST,     /* [dst+off], imm */
	SHAPE_STX,    /* [dst+off], src */
	SHAPE_ATOMIC, /* [dst+off], src */
	SHAPE_JA,     /* target */
	SHAPE_JCOND,  /* dst, src|imm, target */
	SHAPE_CALL,   /* number, register or "local" target */
	SHAPE_EXIT,
};

struct mnemonic {
	const char *name;
	uint8_t shape, code;
	int16_t off;
	int32_t imm;
};

#define ALU(name, op, off)                                                                         \
	{ name, SHAPE_ALU, BPF_ALU64 | op, off, 0 }, { name "32", SHAPE_ALU, BPF_ALU | op, off, 0 }
#define JCOND(name, op)                                                                            \
	{ name, SHAPE_JCOND, BPF_JMP | op, 0, 0 }, { name "32", SHAPE_JCOND, BPF_JMP32 | op, 0, 0 }
#define END(name, class, bits) { name #bits, SHAPE_UNARY, class | BPF_END, 0, bits }
#define ENDS(name, class)      END(name, class, 16), END(name, class, 32), END(name, class, 64)
#define ATOMIC(name, op)                                                                           \
	{ name, SHAPE_ATOMIC, BPF_STX | BPF_ATOMIC | BPF_DW, 0, op },                              \
	{                                                                                          \
		name "32", SHAPE_ATOMIC, BPF_STX | BPF_ATOMIC | BPF_W, 0, op                       \
	}
#define FETCHABLE(name, op) ATOMIC("lock " name, op), ATOMIC("lock fetch " name, op | BPF_FETCH)
#define MEM(suffix, size)                                                                          \
	{ "ldx" suffix, SHAPE_LDX, BPF_LDX | BPF_MEM | size, 0, 0 },                               \
	    { "st" suffix, SHAPE_ST, BPF_ST | BPF_MEM | size, 0, 0 },                              \
	    { "stx" suffix, SHAPE_STX, BPF_STX | BPF_MEM | size, 0, 0 }
#define MEMSX(suffix, size) { "ldxs" suffix, SHAPE_LDX, BPF_LDX | 0x80 | size, 0, 0 }

/* clang-format off */
static const struct mnemonic mnemonics[] = {
	ALU("add", BPF_ADD, 0), ALU("sub", BPF_SUB, 0), ALU("mul", BPF_MUL, 0),
	ALU("div", BPF_DIV, 0), ALU("sdiv", BPF_DIV, 1), ALU("mod", BPF_MOD, 0),
	ALU("smod", BPF_MOD, 1), ALU("or", BPF_OR, 0), ALU("and", BPF_AND, 0),
	ALU("xor", BPF_XOR, 0), ALU("lsh", BPF_LSH, 0), ALU("rsh", BPF_RSH, 0),
	ALU("arsh", BPF_ARSH, 0), ALU("mov", BPF_MOV, 0),
	{ "neg", SHAPE_UNARY, BPF_ALU64 | BPF_NEG, 0, 0 },
	{ "neg32", SHAPE_UNARY, BPF_ALU | BPF_NEG, 0, 0 },
	ENDS("le", BPF_ALU | BPF_TO_LE), ENDS("be", BPF_ALU | BPF_TO_BE),
	ENDS("swap", BPF_ALU64), ENDS("bswap", BPF_ALU64),
	{ "movsx832", SHAPE_MOVSX, BPF_ALU | BPF_MOV, 8, 0 },
	{ "movsx1632", SHAPE_MOVSX, BPF_ALU | BPF_MOV, 16, 0 },
	{ "movsx864", SHAPE_MOVSX, BPF_ALU64 | BPF_MOV, 8, 0 },
	{ "movsx1664", SHAPE_MOVSX, BPF_ALU64 | BPF_MOV, 16, 0 },
	{ "movsx3264", SHAPE_MOVSX, BPF_ALU64 | BPF_MOV, 32, 0 },
	{ "lddw", SHAPE_LDDW, BPF_LD | BPF_IMM | BPF_DW, 0, 0 },
	MEM("b", BPF_B), MEM("h", BPF_H), MEM("w", BPF_W), MEM("dw", BPF_DW),
	MEMSX("b", BPF_B), MEMSX("h", BPF_H), MEMSX("w", BPF_W),
	FETCHABLE("add", BPF_ADD), FETCHABLE("or", BPF_OR), FETCHABLE("and", BPF_AND),
	FETCHABLE("xor", BPF_XOR), ATOMIC("lock xchg", BPF_XCHG),
	ATOMIC("lock cmpxchg", BPF_CMPXCHG),
	{ "ja", SHAPE_JA, BPF_JMP | BPF_JA, 0, 0 }, { "ja32", SHAPE_JA, BPF_JMP32 | BPF_JA, 0, 0 },
	JCOND("jeq", BPF_JEQ), JCOND("jne", BPF_JNE), JCOND("jgt", BPF_JGT), JCOND("jge", BPF_JGE),
	JCOND("jlt", BPF_JLT), JCOND("jle", BPF_JLE), JCOND("jset", BPF_JSET),
	JCOND("jsgt", BPF_JSGT), JCOND("jsge", BPF_JSGE), JCOND("jslt", BPF_JSLT),
	JCOND("jsle", BPF_JSLE),
	{ "call", SHAPE_CALL, BPF_JMP | BPF_CALL, 0, 0 },
	{ "exit", SHAPE_EXIT, BPF_JMP | BPF_EXIT, 0, 0 },
};
/* clang-format on */

/* One line without comment; `at` is what is left to read. */
struct cursor {
	const char *at;
	bool bad;
};

enum { WORD_MAX = 64 };

struct mark {
	char name[WORD_MAX];
	uint32_t insn;
	unsigned line;
};

struct parser {
	struct insns *out;
	VEC(struct mark) labels;
	VEC(struct mark) uses; /* jumps and calls whose target is a name */
	unsigned line;
};

static void skip_space(struct cursor *c)
{
	while (isspace((unsigned char)*c->at))
		c->at++;
}

static bool take(struct cursor *c, const char *word)
{
	const size_t n = strlen(word);

	skip_space(c);
	if (strncmp(c->at, word, n) != 0)
		return false;
	c->at += n;
	return true;
}

static void need(struct cursor *c, const char *word)
{
	if (!take(c, word))
		c->bad = true;
}

static int64_t number(struct cursor *c)
{
	bool minus;
	uint64_t v;
	char *end;

	skip_space(c);
	minus = take(c, "-");
	if (!minus)
		take(c, "+");
	v = strtoull(c->at, &end, 0);
	if (end == c->at)
		c->bad = true;
	c->at = end;
	return (int64_t)(minus ? 0 - v : v);
}

static uint8_t reg(struct cursor *c)
{
	need(c, "%r");
	return (uint8_t)number(c) & 0xf;
}

static void word(struct cursor *c, char out[WORD_MAX])
{
	size_t n = 0;

	skip_space(c);
	while ((isalnum((unsigned char)*c->at) || *c->at == '_') && n < WORD_MAX - 1)
		out[n++] = *c->at++;
	out[n] = 0;
	if (n == 0)
		c->bad = true;
}

/* [%rN+off] */
static uint8_t memory(struct cursor *c, int16_t *off)
{
	uint8_t r;

	need(c, "[");
	r = reg(c);
	skip_space(c);
	*off = *c->at == ']' ? 0 : (int16_t)number(c);
	need(c, "]");
	return r;
}

static void reg_or_imm(struct cursor *c, struct bpf_insn *i)
{
	skip_space(c);
	if (*c->at == '%') {
		i->code |= BPF_X;
		i->src_reg = reg(c);
	} else {
		i->imm = (int32_t)number(c);
	}
}

/* A number is what the field holds; a name is resolved at the end. */
static int64_t target(struct parser *p, struct cursor *c)
{
	struct mark use = { .insn = (uint32_t)p->out->v.n, .line = p->line };

	skip_space(c);
	if (isdigit((unsigned char)*c->at) || *c->at == '+' || *c->at == '-')
		return number(c);
	word(c, use.name);
	if (vec_push(&p->uses, use))
		c->bad = true;
	return 0;
}

static void operands_call(struct parser *p, struct cursor *c, struct bpf_insn *i)
{
	skip_space(c);
	if (*c->at == '%') {
		i->code |= BPF_X;
		i->dst_reg = reg(c);
	} else if (take(c, "local")) {
		i->src_reg = BPF_PSEUDO_CALL;
		i->imm = (int32_t)target(p, c);
	} else {
		i->imm = (int32_t)number(c);
	}
}

static void operands_store(struct cursor *c, struct bpf_insn *i, bool from_reg)
{
	int16_t off;

	i->dst_reg = memory(c, &off);
	i->off = off;
	need(c, ",");
	if (from_reg)
		i->src_reg = reg(c);
	else
		i->imm = (int32_t)number(c);
}

static void operands_jcond(struct parser *p, struct cursor *c, struct bpf_insn *i)
{
	i->dst_reg = reg(c);
	need(c, ",");
	reg_or_imm(c, i);
	need(c, ",");
	i->off = (int16_t)target(p, c);
}

/* dst and, behind a comma, what the shape wants. Returns the upper half of a LDDW's constant. */
static int32_t operands_dst(struct cursor *c, struct bpf_insn *i, enum shape shape)
{
	int16_t off;
	int64_t v;

	i->dst_reg = reg(c);
	if (shape == SHAPE_UNARY)
		return 0;
	need(c, ",");
	if (shape == SHAPE_LDX) {
		i->src_reg = memory(c, &off);
		i->off = off;
	} else if (shape == SHAPE_LDDW) {
		v = number(c);
		i->imm = (int32_t)v;
		return (int32_t)(v >> 32);
	} else {
		reg_or_imm(c, i);
	}
	return 0;
}

static void operands(struct parser *p, struct cursor *c, const struct mnemonic *m)
{
	struct bpf_insn i = { .code = m->code, .off = m->off, .imm = m->imm };
	struct bpf_insn upper = { 0 };

	if (m->shape == SHAPE_CALL)
		operands_call(p, c, &i);
	else if (m->shape == SHAPE_JCOND)
		operands_jcond(p, c, &i);
	else if (m->shape == SHAPE_JA && m->code == (BPF_JMP32 | BPF_JA))
		i.imm = (int32_t)target(p, c);
	else if (m->shape == SHAPE_JA)
		i.off = (int16_t)target(p, c);
	else if (m->shape == SHAPE_ST || m->shape == SHAPE_STX || m->shape == SHAPE_ATOMIC)
		operands_store(c, &i, m->shape != SHAPE_ST);
	else if (m->shape != SHAPE_EXIT)
		upper.imm = operands_dst(c, &i, m->shape);
	if (vec_push(&p->out->v, i) || (m->shape == SHAPE_LDDW && vec_push(&p->out->v, upper)))
		c->bad = true;
}

/* The row whose name is all of the next word; "lock" and "fetch" belong to the name. */
static const struct mnemonic *mnemonic(struct cursor *c)
{
	const struct mnemonic *m;
	const size_t rows = sizeof(mnemonics) / sizeof(mnemonics[0]);

	skip_space(c);
	for (m = mnemonics; m < mnemonics + rows; m++) {
		const size_t n = strlen(m->name);

		if (strncmp(c->at, m->name, n) == 0 && !isalnum((unsigned char)c->at[n])) {
			c->at += n;
			return m;
		}
	}
	return NULL;
}

static bool label(struct parser *p, const char *text)
{
	struct cursor c = { .at = text };
	struct mark l = { .insn = (uint32_t)p->out->v.n, .line = p->line };

	word(&c, l.name);
	return !c.bad && take(&c, ":") && vec_push(&p->labels, l) == 0;
}

static int parse_line(struct parser *p, const char *text, struct report *r)
{
	struct cursor c = { .at = text };
	const struct mnemonic *m;

	skip_space(&c);
	if (!*c.at || label(p, c.at))
		return 0;
	m = mnemonic(&c);
	if (!m)
		return report_fail(r, -EINVAL, "line %u: no such instruction: %s", p->line, text);
	operands(p, &c, m);
	skip_space(&c);
	if (c.bad || *c.at)
		return report_fail(r, -EINVAL, "line %u: bad operands: %s", p->line, text);
	return 0;
}

/* Index of the instruction with this label. The data also jumps to `exit` without such a label:
 * that is the last exit. */
static bool find_label(const struct parser *p, const char *name, uint32_t *insn)
{
	for (size_t i = 0; i < p->labels.n; i++) {
		if (strcmp(p->labels.at[i].name, name) == 0) {
			*insn = p->labels.at[i].insn;
			return true;
		}
	}
	for (size_t i = p->out->v.n; i-- > 0 && strcmp(name, "exit") == 0;) {
		if (p->out->v.at[i].code == (BPF_JMP | BPF_EXIT)) {
			*insn = (uint32_t)i;
			return true;
		}
	}
	return false;
}

static int resolve(const struct parser *p, struct report *r)
{
	for (size_t i = 0; i < p->uses.n; i++) {
		const struct mark *use = &p->uses.at[i];
		struct bpf_insn *insn = &p->out->v.at[use->insn];
		const bool in_imm =
		    insn->code == (BPF_JMP | BPF_CALL) || insn->code == (BPF_JMP32 | BPF_JA);
		uint32_t to;

		if (!find_label(p, use->name, &to))
			return report_fail(r, -EINVAL, "line %u: no label %s", use->line,
					   use->name);
		if (in_imm)
			insn->imm = (int32_t)(to - use->insn - 1);
		else
			insn->off = (int16_t)(to - use->insn - 1);
	}
	return 0;
}

int notation_parse(const char *text, struct report *r, struct insns *out)
{
	struct parser p = { .out = out };
	int err = 0;

	while (*text && !err) {
		const size_t n = strcspn(text, "\n");
		const size_t code = strcspn(text, "#\n");
		char line[256];

		p.line++;
		snprintf(line, sizeof(line), "%.*s", (int)code, text);
		err = parse_line(&p, line, r);
		text += n + (text[n] == '\n');
	}
	if (!err)
		err = resolve(&p, r);
	vec_free(&p.labels);
	vec_free(&p.uses);
	return err;
}
