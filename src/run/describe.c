/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/describe.h"

#include <errno.h>
#include <linux/bpf.h>

#include "base/mem.h"
#include "btf/btf.h"
#include "isa/unit.h"

static int lines_make(const struct prog *p, const struct btf_obj *b, struct unit *u)
{
	const struct bpf_line_info *l = p->lines.at;

	u->lines = mem_zalloc(p->lines.n, sizeof(*u->lines));
	if (!u->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->lines.n; i++) {
		u->lines[i] = (struct line){ .op = unit_op_at(u, l[i].insn_off),
					     .line = BPF_LINE_INFO_LINE_NUM(l[i].line_col),
					     .col = BPF_LINE_INFO_LINE_COL(l[i].line_col),
					     .file = btf_obj_string(b, l[i].file_name_off),
					     .text = btf_obj_string(b, l[i].line_off) };
	}
	u->n_lines = p->lines.n;
	return 0;
}

/* Rows of func_info match the subprograms one by one (sys/debug.c). */
static int names_make(const struct prog *p, const struct btf_obj *b, struct unit *u)
{
	const struct bpf_func_info *f = p->funcs.at;
	const char **names = mem_zalloc(u->n_subs, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->n_subs; i++)
		names[i] = btf_obj_string(b, btf_obj_type(b, f[i].type_id)->name_off);
	err = unit_set_names(u, names);
	mem_free(names);
	return err;
}

int describe_unit(const struct prog *p, struct unit *u)
{
	const struct btf_obj *b = p->btf ? btf_obj_of(p->btf) : NULL;
	int err = 0;

	if (b && p->lines.n)
		err = lines_make(p, b, u);
	if (b && p->funcs.n && !err)
		err = names_make(p, b, u);
	return err;
}
