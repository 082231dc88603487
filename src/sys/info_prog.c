/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct bpf_prog_info. Its arrays all work alike: the client gives an address and room for a
 * number of rows, and receives as many as fit and the number that there is.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "map/map.h"
#include "sys/info.h"

enum { FUNC_SIZE = 8, LINE_SIZE = 16, JITED_LINE_SIZE = 8, TAG_SIZE = 8 };

/* The first rows of `from` that fit; *n: room, then how many there are. */
static int rows_out(uint64_t to, uint32_t *n, const void *from, uint32_t have, uint32_t size)
{
	uint32_t fit = *n < have ? *n : have;

	*n = have;
	return fit ? user_write(to, from, (size_t)fit * size) : 0;
}

static int maps_out(struct bpf_prog_info *info, struct prog *p)
{
	uint32_t *ids;
	int err;

	pthread_mutex_lock(&p->maps_lock);
	ids = mem_zalloc(p->maps.n, sizeof(*ids));
	for (size_t i = 0; ids && i < p->maps.n; i++)
		ids[i] = p->maps.at[i]->desc.id;
	err =
	    ids ? rows_out(info->map_ids, &info->nr_map_ids, ids, (uint32_t)p->maps.n, sizeof(*ids))
		: -ENOMEM;
	pthread_mutex_unlock(&p->maps_lock);
	mem_free(ids);
	return err;
}

/* Address and length of each native subprogram. */
static int jited_out(struct bpf_prog_info *info, const struct prog *p)
{
	const struct image *image = p->image;
	uint32_t n = image ? image->code->n_subs : 0;
	uint64_t *at = mem_zalloc(n, sizeof(*at));
	uint32_t *len = mem_zalloc(n, sizeof(*len));
	int err = at && len ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint64_t start = i ? image->code->sub_offset[i] : 0;
		uint64_t end = i + 1 < n ? image->code->sub_offset[i + 1] : image->size;

		at[i] = (uint64_t)(uintptr_t)image->bytes + start;
		len[i] = (uint32_t)(end - start);
	}
	if (!err)
		err = rows_out(info->jited_prog_insns, &info->jited_prog_len,
			       image ? image->bytes : NULL, image ? (uint32_t)image->size : 0, 1);
	if (!err)
		err = rows_out(info->jited_ksyms, &info->nr_jited_ksyms, at, n, sizeof(*at));
	if (!err)
		err = rows_out(info->jited_func_lens, &info->nr_jited_func_lens, len, n,
			       sizeof(*len));
	mem_free(at);
	mem_free(len);
	return err;
}

/* Native offset of the first code made for op or one behind it. */
static uint64_t code_at(const struct code *c, uint32_t op)
{
	for (size_t i = 0; i < c->n_lines; i++) {
		if (c->lines[i].op >= op)
			return c->lines[i].offset;
	}
	return c->size;
}

/* The number of the loaded instruction that a row of func_info or line_info begins with. */
static uint32_t row_insn(const struct prog_rows *rows, uint32_t i)
{
	uint32_t insn;

	memcpy(&insn, (const char *)rows->at + (size_t)i * rows->size, sizeof(insn));
	return insn;
}

/* The op of the rewritten program that row i is about; n_ops when nothing is left of what it was
 * about before the next row begins. */
static uint32_t row_op(const struct prog_rows *rows, uint32_t i, const struct unit *xlated)
{
	const uint32_t *of = xlated->origin ? xlated->origin : xlated->slot;
	uint32_t op = unit_op_at(xlated, row_insn(rows, i));
	bool gone = op < xlated->n_ops && i + 1 < rows->n && of[op] >= row_insn(rows, i + 1);

	return gone ? xlated->n_ops : op;
}

static int jited_lines_out(struct bpf_prog_info *info, const struct prog *p)
{
	uint32_t rows = p->image ? p->lines.n : 0, n = 0;
	uint64_t *at = mem_zalloc(rows, sizeof(*at));
	int err;

	for (uint32_t i = 0; at && i < rows; i++) {
		uint32_t op = row_op(&p->lines, i, p->xlated);

		if (op < p->xlated->n_ops)
			at[n++] =
			    (uint64_t)(uintptr_t)p->image->bytes + code_at(p->image->code, op);
	}
	err = at ? rows_out(info->jited_line_info, &info->nr_jited_line_info, at, n, sizeof(*at))
		 : -ENOMEM;
	mem_free(at);
	return err;
}

/* Rows of func_info or line_info, with the instruction's number in the rewritten program. Those of
 * what was removed are left out. */
static int debug_rows_out(uint64_t to, uint32_t *n, const struct prog_rows *rows,
			  const struct unit *xlated)
{
	uint8_t *copy = mem_zalloc(rows->n, rows->size), *at = copy;
	uint32_t left = 0;
	int err;

	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t op = row_op(rows, i, xlated);

		if (op == xlated->n_ops)
			continue;
		memcpy(at, (const char *)rows->at + (size_t)i * rows->size, rows->size);
		memcpy(at, &xlated->slot[op], sizeof(xlated->slot[op]));
		at += rows->size;
		left++;
	}
	err = rows_out(to, n, copy, left, rows->size);
	mem_free(copy);
	return err;
}

static int xlated_out(struct bpf_prog_info *info, const struct prog *p)
{
	const struct unit *u = p->xlated;
	uint8_t(*tags)[TAG_SIZE] = mem_zalloc(u->n_subs, TAG_SIZE);
	struct bpf_insn *insns = NULL;
	uint32_t n = 0;
	int err = tags ? unit_encode(u, NULL, &insns, &n) : -ENOMEM;

	for (uint32_t i = 0; i < u->n_subs && !err; i++) {
		uint32_t start = u->slot[u->subs[i]];
		uint32_t end = i + 1 < u->n_subs ? u->slot[u->subs[i + 1]] : n;

		prog_tag_of(insns + start, end - start, tags[i]);
	}
	if (!err)
		memcpy(tags[0], p->tag, TAG_SIZE);
	if (!err)
		err = rows_out(info->xlated_prog_insns, &info->xlated_prog_len, insns,
			       n * (uint32_t)sizeof(*insns), 1);
	if (!err)
		err = rows_out(info->prog_tags, &info->nr_prog_tags, tags, u->n_subs, TAG_SIZE);
	mem_free(insns);
	mem_free(tags);
	return err;
}

/* Row sizes are ours; a client that has others is too old or too new to understand the rows. */
static int sizes_agree(struct bpf_prog_info *info)
{
	if ((info->nr_func_info || info->func_info_rec_size) &&
	    info->func_info_rec_size != FUNC_SIZE)
		return -EINVAL;
	if ((info->nr_line_info || info->line_info_rec_size) &&
	    info->line_info_rec_size != LINE_SIZE)
		return -EINVAL;
	if ((info->nr_jited_line_info || info->jited_line_info_rec_size) &&
	    info->jited_line_info_rec_size != JITED_LINE_SIZE)
		return -EINVAL;
	info->func_info_rec_size = FUNC_SIZE;
	info->line_info_rec_size = LINE_SIZE;
	info->jited_line_info_rec_size = JITED_LINE_SIZE;
	return 0;
}

static void plain_fields(struct bpf_prog_info *info, const struct prog *p)
{
	const struct prog_stats stats = prog_stats_read(p);

	info->type = p->type;
	info->id = p->obj.id;
	info->created_by_uid = p->uid;
	info->gpl_compatible = p->gpl;
	memcpy(info->tag, p->tag, sizeof(info->tag));
	memcpy(info->name, p->name, sizeof(info->name));
	info->load_time = p->load_time;
	info->ifindex = 0;
	info->netns_dev = info->netns_ino = 0;
	info->btf_id = p->btf ? p->btf->id : 0;
	info->run_time_ns = stats.ns;
	info->run_cnt = stats.runs;
	info->recursion_misses = stats.misses;
	info->verified_insns = p->verified_insns;
	info->attach_btf_obj_id = 0;
	info->attach_btf_id = p->attach_btf_id;
}

int info_prog(const struct attr_info *a, const struct call *call, struct prog *p)
{
	struct bpf_prog_info info;
	uint32_t len;
	int err = info_read(a, &info, sizeof(info), &len);

	if (err)
		return err;
	plain_fields(&info, p);
	err = maps_out(&info, p);
	if (!err)
		err = sizes_agree(&info);
	if (!err)
		err = xlated_out(&info, p);
	if (!err)
		err = jited_out(&info, p);
	if (!err)
		err = debug_rows_out(info.func_info, &info.nr_func_info, &p->funcs, p->xlated);
	if (!err)
		err = debug_rows_out(info.line_info, &info.nr_line_info, &p->lines, p->xlated);
	if (!err)
		err = jited_lines_out(&info, p);
	return err ? err : info_write(a, call, &info, len);
}
