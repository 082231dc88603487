/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/debug.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/btf.h"
#include "isa/unit.h"
#include "sys/cmd.h"
#include "sys/fd.h"

/* Sizes of one row that PROG_LOAD takes, and the most rows, which bound memory. */
enum { FUNC_SIZE = 8, LINE_SIZE = 16, ROW_MAX = 252, ROWS_MAX = 1 << 20 };

/* One row that is longer than we know. */
static int row_read(uint64_t from, uint32_t size, uint32_t known, const char *what,
		    struct report *log, void *to)
{
	int err = user_zero(from + known, size - known);

	if (err == -E2BIG)
		return report_fail(log, err, "nonzero tailing record in %s", what);
	return err ? err : user_read(to, from, known);
}

/* n rows of `size` bytes from the caller; rows that are longer than we know have a zero tail, and
 * are kept without it. */
static int rows_read(uint64_t from, uint32_t n, uint32_t size, uint32_t known, const char *what,
		     struct report *log, struct prog_rows *out)
{
	if (size < known || size > ROW_MAX || size % 4)
		return report_fail(log, -EINVAL, "invalid %s rec size %u", what, size);
	if (n > ROWS_MAX)
		return -EINVAL;
	out->at = mem_zalloc(n, known);
	if (!out->at)
		return -ENOMEM;
	out->n = n;
	out->size = known;
	if (size == known)
		return user_read(out->at, from, (size_t)n * size);
	for (uint32_t i = 0; i < n; i++, from += size) {
		int err =
		    row_read(from, size, known, what, log, (char *)out->at + (size_t)i * known);

		if (err)
			return err;
	}
	return 0;
}

static int btf_read(const struct attr_prog_load *a, struct debug_info *out)
{
	return fd_get((int)a->prog_btf_fd, OBJ_BTF, &out->btf);
}

static int lines_check(const struct prog_rows *rows, const struct btf_obj *b,
		       const struct bpf_insn *insns, uint32_t n, struct report *log)
{
	const struct bpf_line_info *l = rows->at;
	uint32_t before = 0;

	for (uint32_t i = 0; i < rows->n; before = l[i++].insn_off) {
		if ((i && l[i].insn_off <= before) || l[i].insn_off >= n)
			return report_fail(
			    log, -EINVAL,
			    "Invalid line_info[%u].insn_off:%u (prev_offset:%u prog->len:%u)", i,
			    l[i].insn_off, before, n);
		if (!insns[l[i].insn_off].code)
			return report_fail(log, -EINVAL,
					   "Invalid insn code at line_info[%u].insn_off", i);
		if (!btf_obj_string_ok(b, l[i].line_off) ||
		    !btf_obj_string_ok(b, l[i].file_name_off))
			return report_fail(log, -EINVAL,
					   "Invalid line_info[%u].line_off or .file_name_off", i);
	}
	return 0;
}

static int func_check(const struct bpf_func_info *f, uint32_t i, const struct btf_obj *b,
		      struct report *log)
{
	const struct btf_type *type = btf_obj_type(b, f->type_id);

	if (i == 0 && f->insn_off)
		return report_fail(log, -EINVAL,
				   "nonzero insn_off %u for the first func info record",
				   f->insn_off);
	if (i && f->insn_off <= f[-1].insn_off)
		return report_fail(
		    log, -EINVAL,
		    "same or smaller insn offset (%u) than previous func info record (%u)",
		    f->insn_off, f[-1].insn_off);
	if (!type || btf_kind(type) != BTF_KIND_FUNC)
		return report_fail(log, -EINVAL, "invalid type id %d in func info", f->type_id);
	return 0;
}

static int funcs_check(const struct prog_rows *rows, const struct btf_obj *b, struct report *log)
{
	const struct bpf_func_info *f = rows->at;
	int err = 0;

	for (uint32_t i = 0; i < rows->n && !err; i++)
		err = func_check(f + i, i, b, log);
	return err;
}

int debug_read(const struct attr_prog_load *a, const struct bpf_insn *insns, struct report *log,
	       struct debug_info *out)
{
	int err;

	if (!a->func_info_cnt && !a->line_info_cnt)
		return 0;
	err = btf_read(a, out);
	if (!err && a->func_info_cnt)
		err = rows_read(a->func_info, a->func_info_cnt, a->func_info_rec_size, FUNC_SIZE,
				"func_info", log, &out->funcs);
	if (!err)
		err = funcs_check(&out->funcs, btf_obj_of(out->btf), log);
	if (!err && a->line_info_cnt)
		err = rows_read(a->line_info, a->line_info_cnt, a->line_info_rec_size, LINE_SIZE,
				"line_info", log, &out->lines);
	if (!err)
		err = lines_check(&out->lines, btf_obj_of(out->btf), insns, a->insn_cnt, log);
	return err;
}

/* One row of func_info for each subprogram, at its first instruction. */
static int funcs_match(const struct prog_rows *rows, const struct unit *u, struct report *log)
{
	const struct bpf_func_info *f = rows->at;

	if (!rows->n)
		return 0;
	if (rows->n != u->n_subs)
		return report_fail(log, -EINVAL,
				   "number of funcs in func_info doesn't match number of subprogs");
	for (uint32_t i = 0; i < rows->n; i++) {
		if (f[i].insn_off != u->slot[u->subs[i]])
			return report_fail(
			    log, -EINVAL,
			    "func_info BTF section doesn't match subprog layout in BPF program");
	}
	return 0;
}

/* Each subprogram begins with a row of line_info. */
static int lines_match(const struct prog_rows *rows, const struct unit *u, struct report *log)
{
	const struct bpf_line_info *l = rows->at;
	uint32_t sub = 0;

	if (!rows->n)
		return 0;
	for (uint32_t i = 0; i < rows->n && sub < u->n_subs; i++) {
		uint32_t start = u->slot[u->subs[sub]];

		if (l[i].insn_off == start)
			sub++;
		else if (l[i].insn_off > start)
			break;
	}
	if (sub < u->n_subs)
		return report_fail(log, -EINVAL, "missing bpf_line_info for func#%u", sub);
	return 0;
}

int debug_attach(struct debug_info *d, struct prog *p, struct report *log)
{
	int err = funcs_match(&d->funcs, p->loaded, log);

	if (!err)
		err = lines_match(&d->lines, p->loaded, log);
	if (err)
		return err;
	p->btf = d->btf;
	p->funcs = d->funcs;
	p->lines = d->lines;
	memset(d, 0, sizeof(*d));
	return 0;
}

void debug_free(struct debug_info *d)
{
	obj_put(d->btf);
	mem_free(d->funcs.at);
	mem_free(d->lines.at);
	memset(d, 0, sizeof(*d));
}
