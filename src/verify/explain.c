/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify/explain.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *pattern, *what, *remedy;
} rows[] = {
#define EXPLAIN(pattern, what, remedy) { pattern, what, remedy },
#include "verify/explain.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), REGS_MAX = 3 };

/* Does the text begin as the pattern says? `*` is any text within the line. */
static bool fits(const char *pattern, const char *text)
{
	for (; *pattern && *pattern != '*'; pattern++, text++) {
		if (*pattern != *text)
			return false;
	}
	if (!*pattern)
		return !*text || *text == '\n';
	for (; *text && *text != '\n'; text++) {
		if (fits(pattern + 1, text))
			return true;
	}
	return fits(pattern + 1, text);
}

int explain_find(const char *line)
{
	for (unsigned i = 0; i < ROWS; i++) {
		if (fits(rows[i].pattern, line))
			return (int)i;
	}
	return -1;
}

const char *explain_pattern(unsigned row)
{
	return row < ROWS ? rows[row].pattern : NULL;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* The row for the refusal: of its last line that has one, since the last line is the verdict. */
static int row_of(const char *refusal)
{
	int found = -1;

	for (const char *line = refusal; *line; line = next_line(line)) {
		int row = explain_find(line);

		found = row >= 0 ? row : found;
	}
	return found;
}

static const char *base_name(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;

	return slash ? slash + 1 : file ? file : "";
}

/* ", xdp.c:42: return v->b;" */
static void source_add(struct ver *v, uint32_t op)
{
	const struct line *l = unit_line_of(v->u, op);
	const char *text = l && l->text ? l->text : "";

	text += strspn(text, " \t");
	if (l)
		report_add(&v->explanation, ", %s:%u%s%s", base_name(l->file), l->line,
			   *text ? ": " : "", text);
}

/* "insn 11 (r0 = *(u64 *)(r0 +8)), xdp.c:42: return v->b;" */
static void op_add(struct ver *v, uint32_t op)
{
	struct unit bare = *v->u;
	char text[256];
	const char *skip;

	bare.sub_names = NULL;
	op_print(&bare, op, PRINT_KERNEL, text, sizeof(text));
	skip = text[0] == '(' ? strchr(text, ' ') : NULL;
	report_add(&v->explanation, "insn %u (%s)", slot_of(v, op), skip ? skip + 1 : text);
	source_add(v, op);
}

static const char *sub_name(const struct ver *v, uint32_t op)
{
	const char *name = v->in->subs ? v->in->subs[unit_sub_of(v->u, op)].name : NULL;

	return name && *name ? name : NULL;
}

static void where_add(struct ver *v)
{
	const char *name = sub_name(v, v->op);

	report_add(&v->explanation, EXPLAIN_MARK "where: ");
	if (name)
		report_add(&v->explanation, "%s(), ", name);
	op_add(v, v->op);
	report_add(&v->explanation, "\n");
}

/* Behind the register: where its value came from. */
static void origin_add(struct ver *v, unsigned r)
{
	struct origin o = origin_of(v, r);

	if (r == BPF_FP) {
		report_add(&v->explanation, ", the frame pointer\n");
		return;
	}
	report_add(&v->explanation, o.op ? ", from " : ", as it was at the start");
	if (o.op)
		op_add(v, o.op - 1);
	report_add(&v->explanation, "\n");
	if (o.source) {
		report_add(&v->explanation, EXPLAIN_MARK "    which had it from ");
		op_add(v, o.source - 1);
		report_add(&v->explanation, "\n");
	}
	if (o.moved && o.op && reg(v, r)->kind == KIND_SCALAR) {
		report_add(&v->explanation,
			   EXPLAIN_MARK "    since then the packet may have moved, and its "
					"pointers with it: ");
		op_add(v, o.moved - 1);
		report_add(&v->explanation, "\n");
	}
}

static void reg_add(struct ver *v, unsigned r)
{
	report_add(&v->explanation, EXPLAIN_MARK "r%u: ", r);
	if (reg(v, r)->kind == KIND_NONE)
		report_add(&v->explanation, "nothing that may be read");
	else
		reg_text(v, reg(v, r), &v->explanation);
	origin_add(v, r);
}

/* The registers that a line names: "R3 min value ...", "..., R2(id=0,...)". */
static uint32_t regs_named(const char *text)
{
	uint32_t set = 0;

	for (const char *p = text; (p = strchr(p, 'R')); p++) {
		char *end;
		unsigned long n;

		if ((p != text && p[-1] != ' ' && p[-1] != '\n') || p[1] < '0' || p[1] > '9')
			continue;
		n = strtoul(p + 1, &end, 10);
		if (n <= BPF_FP)
			set |= 1u << n;
	}
	return set;
}

/* Those that the op works on, when no line names one. */
static uint32_t regs_used(const struct op *op)
{
	uint32_t set = 0;

	if (op_has(op, P_READS_DST))
		set |= 1u << op->dst;
	if (op_row(op)->form == FORM_LD || op_row(op)->form == FORM_ACQ ||
	    (op->mode & OP_REG && !op_has(op, P_CALL | P_EXIT)))
		set |= 1u << op->src;
	return set;
}

static void regs_add(struct ver *v)
{
	uint32_t set = regs_named(v->refusal.text);
	unsigned n = 0;

	if (!set)
		set = regs_used(op_at(v));
	for (unsigned r = 0; r <= BPF_FP && n < REGS_MAX; r++) {
		if (!(set >> r & 1))
			continue;
		reg_add(v, r);
		n++;
	}
}

/* An instruction that the refusal names beside the running one. */
static void insn_add(struct ver *v, const char *words, const char *as)
{
	const char *at = strstr(v->refusal.text, words);
	uint32_t op;

	at = at ? at + strlen(words) : "";
	if (*at < '0' || *at > '9')
		return;
	op = unit_op_at(v->u, (uint32_t)strtoul(at, NULL, 10));
	if (op >= v->u->n_ops || (v->explanation.text && op == v->op))
		return;
	report_add(&v->explanation, EXPLAIN_MARK "%s", as);
	op_add(v, op);
	report_add(&v->explanation, "\n");
}

void explain_path(struct ver *v)
{
	if (!v->refusal.text)
		return;
	where_add(v);
	regs_add(v);
}

void explain_print(struct ver *v)
{
	int row = v->refusal.text ? row_of(v->refusal.text) : -1;
	struct report all = { 0 };

	if (!v->refusal.text)
		return;
	insn_add(v, "alloc_insn=", "acquired by ");
	insn_add(v, "insn ", "");
	if (row >= 0)
		report_add(&all, EXPLAIN_MARK "%s\n", rows[row].what);
	if (v->explanation.text)
		report_add(&all, "%s", v->explanation.text);
	if (row >= 0)
		report_add(&all, EXPLAIN_MARK "accepted: %s\n", rows[row].remedy);
	if (all.text)
		report_add_whole(v->log, all.text);
	report_free(&all);
}
