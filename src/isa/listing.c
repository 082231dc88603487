/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/print.h"

/* Longest line of one op: a name of up to NAME_MAX_LEN bytes and less than 100 more. */
enum { NAME_MAX_LEN = 255, LINE_MAX_LEN = 512 };

/* So many subprograms are compared by name; more are numbered. The kernel allows 256. */
enum { NAMED_SUBS_MAX = 512 };

static const char *const words[] = {
	"arena", "call", "callx",    "exit",   "func", "goto",	"gotol",	 "if",
	"kfunc", "lock", "may_goto", "nospec", "pc",   "probe", "store_release", "tail_call",
};

/* Nothing but digits from s on, and at least one. */
static bool is_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return n > 0;
}

static bool is_made_up(const char *s, size_t n)
{
	return ((s[0] == 'r' || s[0] == 'w' || s[0] == 'L') && is_digits(s + 1, n - 1)) ||
	       (n > 3 && !memcmp(s, "sub", 3) && is_digits(s + 3, n - 3));
}

bool print_is_label(const char *s, size_t n)
{
	if (!n || n > NAME_MAX_LEN || isdigit((unsigned char)s[0]) || s[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '.' && s[i] != '$')
			return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == n && !memcmp(words[i], s, n))
			return false;
	return !is_made_up(s, n);
}

const char *print_sub_name(const struct unit *u, uint32_t sub)
{
	const char *name = u->sub_names ? u->sub_names[sub] : NULL;

	if (!name || u->n_subs > NAMED_SUBS_MAX || !print_is_label(name, strlen(name)))
		return NULL;
	for (uint32_t i = 0; i < u->n_subs; i++)
		if (i != sub && u->sub_names[i] && !strcmp(u->sub_names[i], name))
			return NULL;
	return name;
}

/* A source line's text, or its place when nobody kept the text. */
static void listing_line(const struct line *l, struct report *r)
{
	if (l->text && *l->text)
		report_add(r, "; %.*s\n", (int)strcspn(l->text, "\n"), l->text);
	else if (l->file && *l->file)
		report_add(r, "; %.*s:%u\n", (int)strcspn(l->file, "\n"), l->file, l->line);
}

/* The source line that begins at op i, as a comment in both syntaxes. *next walks u->lines. */
static void listing_source(const struct unit *u, uint32_t i, uint32_t *next, struct report *r)
{
	for (; *next < u->n_lines && u->lines[*next].op <= i; ++*next)
		if (u->lines[*next].op == i)
			listing_line(&u->lines[*next], r);
}

/* What goes to an op, as bits. */
enum { FROM_JUMP = 1, FROM_CALL = 2 };

static void listing_sub(const struct unit *u, uint32_t sub, bool called, enum print_syntax syntax,
			struct report *r)
{
	const char *name = print_sub_name(u, sub);

	if (name)
		report_add(r, "%s:\n", name);
	else if (syntax == PRINT_LLVM && called)
		report_add(r, "sub%u:\n", sub);
}

/* FROM_x bits for each op. NULL when there is no memory. */
static uint8_t *listing_targets(const struct unit *u)
{
	uint8_t *targets = mem_zalloc(u->n_ops, 1);

	for (uint32_t i = 0; targets && i < u->n_ops; i++)
		if (op_has(&u->ops[i], P_JUMP))
			targets[unit_target(u, i)] |= FROM_JUMP;
		else if (u->ops[i].code == OP_CALLSUB || u->ops[i].code == OP_LDFUNC)
			targets[unit_target(u, i)] |= FROM_CALL;
	return targets;
}

static void listing_op(const struct unit *u, uint32_t i, enum print_syntax syntax,
		       const uint8_t *targets, struct report *r)
{
	char line[LINE_MAX_LEN];

	op_print(u, i, syntax, line, sizeof(line));
	if (syntax == PRINT_KERNEL) {
		report_add(r, "%4u: %s\n", u->slot[i], line);
		return;
	}
	if (targets[i] & FROM_JUMP)
		report_add(r, "L%u:\n", i);
	report_add(r, "\t%s\n", line);
}

void unit_print(const struct unit *u, enum print_syntax syntax, struct report *r)
{
	uint8_t *targets = listing_targets(u);
	uint32_t sub = 0, line = 0;

	if (!targets) {
		report_fail(r, -ENOMEM, "out of memory");
		return;
	}
	for (uint32_t i = 0; i < u->n_ops; i++) {
		if (sub < u->n_subs && u->subs[sub] == i)
			listing_sub(u, sub++, targets[i] & FROM_CALL, syntax, r);
		listing_source(u, i, &line, r);
		listing_op(u, i, syntax, targets, r);
	}
	mem_free(targets);
}
