/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF text line by line: sections, labels, what bpftool prints around statements, statements.
 * Both syntaxes at once, since they differ only in ways that do not collide.
 */
#include "isa/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/statement.h"
#include "isa/wire.h"

static int parse_label(struct parse *p, const char *name, size_t n, const struct scan *where)
{
	struct symbol label = { name, n, (uint32_t)p->ops.n, *where };

	return vec_push(&p->labels, label);
}

/* ".map NAME NUMBER": from here on and before, NAME stands for map_fd NUMBER. */
static int directive_map(struct parse *p)
{
	struct symbol map = { .where = p->s };
	int err = 0;

	if (!scan_name(&p->s, &map.name, &map.n))
		return scan_unexpected(&p->s, "expected .map NAME NUMBER");
	p->op.imm = 0;
	err = part_imm(p);
	map.value = (uint32_t)p->op.imm;
	return err ? err : vec_push(&p->maps, map);
}

static int directive_text(struct parse *p)
{
	p->in_text = true;
	p->in_data = false;
	return 0;
}

static int directive_data(struct parse *p)
{
	p->in_text = false;
	p->in_data = true;
	return 0;
}

/* Code is what is in .text, in a section with the flag x, or, where no flags are given, in one
 * whose name does not begin with a dot. */
static int directive_section(struct parse *p)
{
	const char *name = p->s.at + strspn(p->s.at, " \t\""), *flags = strstr(name, ",\"");

	p->in_text = strncmp(name, ".text", 5) == 0;
	p->in_data = !p->in_text && *name == '.';
	if (flags && strchr(flags + 2, '"'))
		p->in_data = !memchr(flags + 2, 'x', strcspn(flags + 2, "\""));
	return 0;
}

static int directive_nothing(struct parse *p)
{
	return 0;
}

static const struct directive {
	const char *word;
	int (*parse)(struct parse *p);
	bool rest; /* what follows on the line does not matter */
} directives[] = {
	{ ".map", directive_map, false },
	{ ".text", directive_text, true },
	{ ".data", directive_data, true },
	{ ".bss", directive_data, true },
	{ ".section", directive_section, true },
	{ ".globl", directive_nothing, true },
	{ ".global", directive_nothing, true },
	{ ".weak", directive_nothing, true },
	{ ".local", directive_nothing, true },
	{ ".hidden", directive_nothing, true },
	{ ".type", directive_nothing, true },
	{ ".size", directive_nothing, true },
	{ ".p2align", directive_nothing, true },
	{ ".align", directive_nothing, true },
	{ ".file", directive_nothing, true },
	{ ".loc", directive_nothing, true },
	{ ".ident", directive_nothing, true },
	{ ".addrsig", directive_nothing, true },
	{ ".addrsig_sym", directive_nothing, true },
	{ ".cfi_startproc", directive_nothing, true },
	{ ".cfi_endproc", directive_nothing, true },
	{ ".cfi_sections", directive_nothing, true },
};

static void skip_line(struct parse *p)
{
	p->s.at += strlen(p->s.at);
}

static int parse_directive(struct parse *p)
{
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++) {
		int err;

		if (!scan_eat(&p->s, directives[i].word))
			continue;
		err = directives[i].parse(p);
		if (!err && directives[i].rest)
			skip_line(p);
		return err;
	}
	if (p->in_data) {
		skip_line(p);
		return 0;
	}
	return scan_unexpected(&p->s, "directives in code are .section, .text, .globl, .map, ...");
}

/* The header of a function in bpftool's dump: "int name(struct xdp_md *ctx):". Read as a label. */
static bool parse_header(struct parse *p, int *err)
{
	const char *open = strchr(p->s.at, '('), *end = p->s.at + strlen(p->s.at), *name;

	while (end > p->s.at && isspace((unsigned char)end[-1]))
		end--;
	if (!open || end - p->s.at < 3 || end[-1] != ':' || end[-2] != ')')
		return false;
	for (name = open; name > p->s.at && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
		name--;
	while (name < open && isdigit((unsigned char)*name))
		name++;
	if (name == open)
		return false;
	*err = parse_label(p, name, (size_t)(open - name), &p->s);
	skip_line(p);
	return true;
}

/* "NAME:". Leaves p->s where it was when there is none. */
static bool parse_label_here(struct parse *p, int *err)
{
	struct scan s = p->s;
	const char *name;
	size_t n;

	if (!scan_name(&s, &name, &n) || *s.at != ':')
		return false;
	s.at++;
	*err = 0;
	if (!p->in_data)
		*err = parse_label(p, name, n, &p->s);
	p->s = s;
	return true;
}

/* What bpftool and the verifier print before a statement: "  12: (b7) ". */
static void skip_prefix(struct parse *p)
{
	struct scan s = p->s;
	struct scan_number n;

	p->opcode = 0;
	if (scan_number(&s, &n) && scan_eat(&s, ":"))
		p->s = s;
	s = p->s;
	scan_end(&s);
	if (s.at[0] == '(' && isxdigit((unsigned char)s.at[1]) &&
	    isxdigit((unsigned char)s.at[2]) && s.at[3] == ')') {
		p->opcode = (uint8_t)strtoul(s.at + 1, NULL, 16);
		p->s.at = s.at + 4;
	}
}

/* The op exists and writes no read-only register. */
static int parse_check(struct parse *p, const struct scan *where)
{
	struct scan at = *where;

	scan_end(&at);
	if (!wire_of_op(&p->op))
		return scan_fail(&at, "there is no such operation of this size",
				 "docs/isa.md has a table of what there is");
	return 0;
}

static int parse_statement(struct parse *p)
{
	struct scan before;
	int err;

	skip_prefix(p);
	before = p->s;
	if (scan_end(&p->s))
		return 0;
	p->op = (struct op){ 0 };
	err = statement_parse(p);
	if (!err && !scan_end(&p->s) && *p->s.at != ';')
		return scan_unexpected(&p->s, "expected the end of the line");
	if (!err)
		err = parse_check(p, &before);
	if (!err)
		err = vec_push(&p->late, p->in_text);
	return err ? err : vec_push(&p->ops, p->op);
}

static int parse_line(struct parse *p)
{
	int err = 0;

	if (!p->in_data && parse_header(p, &err))
		return err;
	while (!err && !scan_end(&p->s)) {
		if (scan_eat(&p->s, ";") || parse_label_here(p, &err))
			continue;
		if (*p->s.at == '.')
			err = parse_directive(p);
		else if (p->in_data)
			skip_line(p);
		else
			err = parse_statement(p);
	}
	return err;
}

static void parse_free(struct parse *p)
{
	vec_free(&p->ops);
	vec_free(&p->late);
	vec_free(&p->fixes);
	vec_free(&p->labels);
	vec_free(&p->maps);
}

int unit_parse(const char *name, const char *text, struct report *r, struct unit **out)
{
	struct parse p = { .s = { .name = name, .r = r } };
	size_t n = strlen(text);
	char *copy = mem_strdup(text);
	int err = copy ? 0 : -ENOMEM;

	if (copy)
		scan_strip(copy, n);
	for (size_t at = 0; !err && at < n; at += strlen(copy + at) + 1) {
		p.s.line = p.s.at = copy + at;
		p.s.row++;
		err = parse_line(&p);
	}
	if (!err)
		err = parse_link(&p, out);
	if (err == -ENOMEM)
		report_fail(r, err, "%s: out of memory", name);
	parse_free(&p);
	mem_free(copy);
	return err;
}
