/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of parsing: ops in their final order (.text last, as libbpf links it), names and
 * distances as op indices, names of subprograms.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/helper.h"
#include "isa/parse.h"

struct link {
	struct parse *p;
	struct unit *u;
	uint32_t *place; /* op in the order of the text -> op of the unit */
	uint32_t *slot;	 /* op of the unit -> its first 8-byte instruction; n_ops + 1 values */
};

static int symbol_compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int c = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);

	return c ? c : (x->n > y->n) - (x->n < y->n);
}

static int symbol_fail(const struct symbol *s, struct report *r, const char *what)
{
	return report_fail(r, -EINVAL, "%s:%u:%u: '%.*s' %s", s->where.name, s->where.row,
			   (unsigned)(s->where.at - s->where.line) + 1, (int)(s->n & 0xff), s->name,
			   what);
}

static int symbols_sort(struct symbol *at, size_t n, struct report *r)
{
	if (n)
		qsort(at, n, sizeof(*at), symbol_compare);
	for (size_t i = 1; i < n; i++)
		if (!symbol_compare(&at[i - 1], &at[i]))
			return symbol_fail(&at[i], r, "is there twice; names are unique");
	return 0;
}

static const struct symbol *symbol_find(const struct symbol *at, size_t n, const struct fix *f)
{
	struct symbol key = { .name = f->name, .n = f->n };

	return n ? bsearch(&key, at, n, sizeof(key), symbol_compare) : NULL;
}

static const struct symbol *link_label(const struct link *l, const struct fix *f)
{
	return symbol_find(l->p->labels.at, l->p->labels.n, f);
}

/* Ops of .text after the others; places and slots. */
static void link_order(struct link *l)
{
	struct parse *p = l->p;
	uint32_t at = 0;

	for (int late = 0; late < 2; late++) {
		for (uint32_t i = 0; i < p->ops.n; i++) {
			if (p->late.at[i] != late)
				continue;
			l->place[i] = at;
			l->u->ops[at] = p->ops.at[i];
			l->slot[at + 1] = l->slot[at] + (op_has(&p->ops.at[i], P_WIDE) ? 2 : 1);
			at++;
		}
	}
}

/* The op at a slot: the slots ascend. n_ops when none begins there. */
static uint32_t link_op_at(const struct link *l, int64_t slot)
{
	uint32_t low = 0, high = l->u->n_ops;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (l->slot[mid] < slot)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->u->n_ops && l->slot[low] == slot ? low : l->u->n_ops;
}

static int link_distance(const struct link *l, struct fix *f, struct op *op)
{
	int64_t to = l->slot[l->place[f->op]] + 1 + f->distance;
	uint32_t target = link_op_at(l, to);

	if (target == l->u->n_ops)
		return scan_fail(&f->where, "no instruction begins there",
				 "the distance counts 8-byte instructions, 'll' loads have two");
	op->off = (int32_t)target;
	return 0;
}

static int link_to_label(const struct link *l, const struct symbol *label, struct op *op)
{
	if (label->value >= l->p->ops.n)
		return symbol_fail(label, l->p->s.r, "has no instruction behind it");
	op->off = (int32_t)l->place[label->value];
	return 0;
}

static int link_call(struct fix *f, struct op *op)
{
	char name[64] = "";
	const struct helper *h;

	strncat(name, f->name, f->n < sizeof(name) ? f->n : 0);
	h = helper_by_name(name);
	if (!h)
		return scan_fail(&f->where, "unknown function",
				 "expected a label, a helper's name or number, or 'kfunc N'");
	op->code = h->id == 12 ? OP_TAILCALL : OP_CALL;
	op->imm = h->id == 12 ? 0 : h->id;
	return 0;
}

static int link_symbol(const struct link *l, struct fix *f, struct op *op)
{
	const struct symbol *map = symbol_find(l->p->maps.at, l->p->maps.n, f);

	if (!map)
		return scan_fail(&f->where, "unknown name",
				 "expected the label of a subprogram or a map's name, which "
				 "'.map NAME NUMBER' gives");
	op->imm = (int32_t)map->value;
	return 0;
}

static int link_fix(const struct link *l, struct fix *f)
{
	struct op *op = &l->u->ops[l->place[f->op]];
	const struct symbol *label = f->kind == FIX_DISTANCE ? NULL : link_label(l, f);

	if (f->kind == FIX_DISTANCE)
		return link_distance(l, f, op);
	if (label && f->kind == FIX_SYMBOL)
		op->code = OP_LDFUNC;
	if (label)
		return link_to_label(l, label, op);
	if (f->kind == FIX_CALL)
		return link_call(f, op);
	if (f->kind == FIX_SYMBOL)
		return link_symbol(l, f, op);
	return scan_fail(&f->where, "unknown label", "expected a label of this file");
}

/* Names of subprograms are the labels in front of them; the last of several counts. */
static int link_names(const struct link *l)
{
	struct unit *u = l->u;
	const char **names = mem_zalloc(u->n_subs, sizeof(*names));
	bool some = false;
	int err = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < l->p->labels.n; i++) {
		const struct symbol *s = &l->p->labels.at[i];
		uint32_t op = s->value < l->p->ops.n ? l->place[s->value] : 0;
		uint32_t sub = unit_sub_of(u, op);

		if (s->value >= l->p->ops.n || u->subs[sub] != op)
			continue;
		((char *)s->name)[s->n] = '\0';
		names[sub] = s->name;
		some = true;
	}
	if (some)
		err = unit_set_names(u, names);
	mem_free(names);
	return err;
}

/* unit_index, with its message prefixed by the file's name. */
static int link_index(const struct link *l)
{
	struct report r = { 0 };
	int err = unit_index(l->u, &r);

	if (err && r.text)
		report_fail(l->p->s.r, err, "%s: %.*s", l->p->s.name, (int)strcspn(r.text, "\n"),
			    r.text);
	report_free(&r);
	return err;
}

static int link_run(struct link *l)
{
	struct parse *p = l->p;
	int err;

	link_order(l);
	err = symbols_sort(p->labels.at, p->labels.n, p->s.r);
	if (!err)
		err = symbols_sort(p->maps.at, p->maps.n, p->s.r);
	for (size_t i = 0; !err && i < p->fixes.n; i++)
		err = link_fix(l, &p->fixes.at[i]);
	if (!err)
		err = link_index(l);
	return err ? err : link_names(l);
}

int parse_link(struct parse *p, struct unit **out)
{
	struct link l = { .p = p, .u = mem_zalloc(1, sizeof(*l.u)) };
	int err = -ENOMEM;

	l.place = mem_zalloc(p->ops.n, sizeof(*l.place));
	l.slot = mem_zalloc(p->ops.n + 1, sizeof(*l.slot));
	if (l.u) {
		l.u->n_ops = (uint32_t)p->ops.n;
		l.u->ops = mem_zalloc(p->ops.n, sizeof(*l.u->ops));
	}
	if (l.u && l.u->ops && l.place && l.slot)
		err = link_run(&l);
	mem_free(l.place);
	mem_free(l.slot);
	if (err)
		unit_free(l.u);
	else
		*out = l.u;
	return err;
}
