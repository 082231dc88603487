/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/resolve.h"

#include <errno.h>

#include "base/report.h"
#include "isa/unit.h"
#include "map/map.h"

/* The kernel's bounds: maps that one program may use, and offsets into a direct value. */
enum { MAPS_MAX = 64, VALUE_OFF_MAX = 1 << 29 };

static bool op_names_map(const struct op *op)
{
	return op->code == OP_LDMAP || op->code == OP_LDMAPIDX || op->code == OP_LDVALUE ||
	       op->code == OP_LDVALUEIDX;
}

static bool op_by_index(const struct op *op)
{
	return op->code == OP_LDMAPIDX || op->code == OP_LDVALUEIDX;
}

static bool op_wants_value(const struct op *op)
{
	return op->code == OP_LDVALUE || op->code == OP_LDVALUEIDX;
}

/* Index of m in p->maps, where it is put with the caller's reference if it was not there. */
static int maps_add(struct prog *p, struct map *m, struct report *log)
{
	for (size_t i = 0; i < p->maps.n; i++) {
		if (p->maps.at[i] == m) {
			obj_put(&m->obj);
			return (int)i;
		}
	}
	if (p->maps.n >= MAPS_MAX) {
		obj_put(&m->obj);
		return report_fail(
		    log, -E2BIG, "The total number of maps per program has reached the limit of %u",
		    MAPS_MAX);
	}
	if (vec_push(&p->maps, m)) {
		obj_put(&m->obj);
		return -ENOMEM;
	}
	return (int)p->maps.n - 1;
}

static int value_check(const struct map *m, uint32_t off, struct report *log)
{
	if (!m->value)
		return report_fail(log, -EINVAL,
				   "no direct value access support for this map type");
	if (off >= VALUE_OFF_MAX)
		return report_fail(log, -EINVAL, "direct value offset of %u is not allowed", off);
	if (m->desc.max_entries != 1 || off >= m->desc.value_size)
		return report_fail(log, -EINVAL,
				   "invalid access to map value pointer, value_size=%u off=%u",
				   m->desc.value_size, off);
	return 0;
}

static int op_find_map(const struct op *op, const struct prog_spec *spec, struct prog *p,
		       struct report *log)
{
	struct map *m = NULL;
	int err = spec->find_map
		      ? spec->find_map(spec->find_arg, op_by_index(op), (int32_t)op->imm, &m)
		      : -EBADF;

	if (err == -EPROTO)
		return report_fail(log, err, "fd_idx without fd_array is invalid");
	if (err)
		return report_fail(log, err, "fd %d is not pointing to valid bpf_map",
				   (int)op->imm);
	return maps_add(p, m, log);
}

static int op_resolve(struct op *op, const struct prog_spec *spec, struct prog *p,
		      struct report *log)
{
	int at = op_find_map(op, spec, p, log), err = 0;

	if (at < 0)
		return at;
	if (op_wants_value(op))
		err = value_check(p->maps.at[at], (uint32_t)op->off, log);
	op->code = op_wants_value(op) ? OP_LDVALUE : OP_LDMAP;
	op->imm = at;
	return err;
}

/* One row of refs for each map of p, in the same order. */
static int refs_make(struct unit *u, const struct prog *p)
{
	u->refs = mem_zalloc(p->maps.n, sizeof(*u->refs));
	if (!u->refs)
		return -ENOMEM;
	u->n_refs = (uint32_t)p->maps.n;
	for (uint32_t i = 0; i < u->n_refs; i++) {
		const struct map *m = p->maps.at[i];

		u->refs[i] = (struct ref){ .kind = REF_MAP,
					   .map = &m->desc,
					   .addr = (uint64_t)(uintptr_t)m,
					   .value = (uint64_t)(uintptr_t)m->value };
	}
	return 0;
}

int resolve_maps(const struct unit *in, const struct prog_spec *spec, struct prog *p,
		 struct report *log, struct unit **out)
{
	struct unit *u = unit_copy(in);
	int err = 0;

	if (!u)
		return -ENOMEM;
	for (uint32_t i = 0; i < u->n_ops && !err; i++) {
		if (u->ops[i].code == OP_LDBTF)
			err =
			    report_fail(log, -EINVAL,
					"ldimm64 of a kernel variable (BTF id %d): there are none",
					(int)u->ops[i].imm);
		else if (op_names_map(&u->ops[i]))
			err = op_resolve(&u->ops[i], spec, p, log);
	}
	if (!err)
		err = refs_make(u, p);
	if (err) {
		unit_free(u);
		return err;
	}
	*out = u;
	return 0;
}
