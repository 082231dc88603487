/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/debug.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/btf.h"
#include "isa/unit.h"
#include "sys/cmd.h"
#include "sys/fd.h"

/* Sizes of one row that PROG_LOAD takes, and the most rows, which bound memory. */
enum { FUNC_SIZE = 8, LINE_SIZE = 16, ROW_MAX = 252, ROWS_MAX = 1 << 20 };

/* Rows of one kind as they are read: what is known of a row when its turn comes. */
struct row_in {
	const char *what; /* in messages */
	uint64_t from;
	uint32_t n, size, known; /* rows, bytes of one, bytes of it that we know */
	uint32_t size_at;	 /* where the attributes have `size` */
	const struct btf_obj *btf;
	const struct debug_info *debug;
	const struct unit *unit; /* decoded; NULL: not yet */
	int (*check)(struct row_in *in, const void *rows, uint32_t i, struct report *log);
	uint32_t sub; /* lines_check: subprograms that have a line */
};

/* One row; what is longer than we know has a zero tail, else the client learns what we know. */
static int row_read(const struct row_in *in, uint32_t i, struct report *log, void *to)
{
	uint64_t from = in->from + (uint64_t)i * in->size;
	int err = user_zero(from + in->known, in->size - in->known);

	if (err == -E2BIG) {
		report_fail(log, err, "nonzero tailing record in %s", in->what);
		if (attr_write(in->debug->call, in->size_at, &in->known, sizeof(in->known)))
			err = -EFAULT;
	}
	return err ? err : user_read(to, from, in->known);
}

/* All rows at once, where they have our size and can be read. */
static bool rows_copied(const struct row_in *in, void *to)
{
	return in->size == in->known && !user_read(to, in->from, (size_t)in->n * in->known);
}

/* Each row is read and checked before the next one, as the kernel does it: which of several errors
 * is told depends on it. Rows are kept without what we do not know. */
static int rows_read(struct row_in *in, struct report *log, struct prog_rows *out)
{
	bool copied;
	int err = 0;

	if (in->n > ROWS_MAX)
		return -EINVAL;
	out->at = mem_zalloc(in->n, in->known);
	if (!out->at)
		return -ENOMEM;
	out->n = in->n;
	out->size = in->known;
	copied = rows_copied(in, out->at);
	for (uint32_t i = 0; i < in->n && !err; i++) {
		if (!copied)
			err = row_read(in, i, log, (char *)out->at + (size_t)i * in->known);
		if (!err)
			err = in->check(in, out->at, i, log);
	}
	return err;
}

static bool size_ok(uint32_t size, uint32_t known)
{
	return size >= known && size <= ROW_MAX && size % 4 == 0;
}

static int func_check(struct row_in *in, const void *rows, uint32_t i, struct report *log)
{
	const struct bpf_func_info *f = (const struct bpf_func_info *)rows + i;
	const struct btf_type *type = btf_obj_type(in->btf, f->type_id);

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

int debug_read(const struct attr_prog_load *a, const struct call *call, struct report *log,
	       struct debug_info *out)
{
	struct row_in in = { .what = "func info",
			     .from = a->func_info,
			     .n = a->func_info_cnt,
			     .size = a->func_info_rec_size,
			     .known = FUNC_SIZE,
			     .size_at = offsetof(union attr, prog_load.func_info_rec_size),
			     .debug = out,
			     .check = func_check };
	int err;

	out->attr = a;
	out->call = call;
	if (!a->func_info_cnt && !a->line_info_cnt)
		return 0;
	err = fd_get((int)a->prog_btf_fd, OBJ_BTF, &out->btf);
	if (err || !a->func_info_cnt)
		return err;
	if (!size_ok(in.size, FUNC_SIZE))
		return report_fail(log, -EINVAL, "invalid func info rec size %u", in.size);
	in.btf = btf_obj_of(out->btf);
	return rows_read(&in, log, &out->funcs);
}

/* One row of func_info for each subprogram, at its first instruction. */
static int funcs_match(const struct debug_info *d, const struct unit *u, struct report *log)
{
	const struct bpf_func_info *f = d->funcs.at;

	if (!d->funcs.n)
		return 0;
	if (d->funcs.n != u->n_subs)
		return report_fail(log, -EINVAL,
				   "number of funcs in func_info doesn't match number of subprogs");
	for (uint32_t i = 0; i < d->funcs.n; i++) {
		if (f[i].insn_off != u->slot[u->subs[i]])
			return report_fail(
			    log, -EINVAL,
			    "func_info BTF section doesn't match subprog layout in BPF program");
	}
	return 0;
}

/* A line begins at an instruction, and each subprogram begins with a line. */
static int line_check(struct row_in *in, const void *rows, uint32_t i, struct report *log)
{
	const struct bpf_line_info *l = (const struct bpf_line_info *)rows + i;
	const struct unit *u = in->unit;
	uint32_t before = i ? l[-1].insn_off : 0, n = u->slot[u->n_ops];
	uint32_t start = in->sub < u->n_subs ? u->slot[u->subs[in->sub]] : UINT32_MAX;

	if ((i && l->insn_off <= before) || l->insn_off >= n)
		return report_fail(
		    log, -EINVAL, "Invalid line_info[%u].insn_off:%u (prev_offset:%u prog->len:%u)",
		    i, l->insn_off, before, n);
	if (u->slot[unit_op_at(u, l->insn_off)] != l->insn_off)
		return report_fail(log, -EINVAL, "Invalid insn code at line_info[%u].insn_off", i);
	if (!btf_obj_string_ok(in->btf, l->line_off) ||
	    !btf_obj_string_ok(in->btf, l->file_name_off))
		return report_fail(log, -EINVAL, "Invalid line_info[%u].line_off or .file_name_off",
				   i);
	if (l->insn_off > start)
		return report_fail(log, -EINVAL, "missing bpf_line_info for func#%u", in->sub);
	in->sub += l->insn_off == start;
	return 0;
}

static int lines_read(struct debug_info *d, const struct unit *u, struct report *log)
{
	struct row_in in = { .what = "line_info",
			     .from = d->attr->line_info,
			     .n = d->attr->line_info_cnt,
			     .size = d->attr->line_info_rec_size,
			     .known = LINE_SIZE,
			     .size_at = offsetof(union attr, prog_load.line_info_rec_size),
			     .debug = d,
			     .unit = u,
			     .check = line_check };
	int err;

	if (!in.n)
		return 0;
	if (!size_ok(in.size, LINE_SIZE))
		return -EINVAL;
	in.btf = btf_obj_of(d->btf);
	err = rows_read(&in, log, &d->lines);
	if (!err && in.sub < u->n_subs)
		return report_fail(log, -EINVAL,
				   "missing bpf_line_info for %u funcs starting from func#%u",
				   u->n_subs - in.sub, in.sub);
	return err;
}

int debug_describe(void *debug, const struct unit *decoded, struct prog *p, struct report *log)
{
	struct debug_info *d = debug;
	int err = funcs_match(d, decoded, log);

	if (!err)
		err = lines_read(d, decoded, log);
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
