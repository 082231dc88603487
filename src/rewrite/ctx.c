/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads of a packet's addresses from the context: the UAPI has 32 bits for them; the whole address
 * lies behind the UAPI's structure. Only the verifier knows which loads are from the context.
 */
#include <stddef.h>

#include "isa/ctx.h"
#include "rewrite/pass.h"

static const struct field {
	uint64_t types;
	uint32_t off, at;
} fields[] = {
#define FIELD(types, type, member, at) { types, offsetof(type, member), at },
#include "rewrite/ctx.def"
};

static const struct field *field_find(uint32_t prog_type, const struct op *op)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (ctx_is(fields[i].types, prog_type) && (int64_t)op->off == fields[i].off)
			return &fields[i];
	}
	return NULL;
}

/* The load of the address, or the op as it is. The verifier takes loads of 4 bytes only. */
static void ctx_put(struct edit *e, uint32_t prog_type, const struct op *op,
		    const struct fact *fact)
{
	bool reads = op->code == OP_LD && fact->ctx && op_size(op) == 4;
	const struct field *f = reads ? field_find(prog_type, op) : NULL;
	struct op load = *op;

	if (!f) {
		edit_keep(e);
		return;
	}
	load.mode = op_mode_size(8);
	load.off = (int32_t)f->at;
	edit_put_known(e, load, fact);
}

int rewrite_ctx(const struct unit *u, const struct rewrite_opts *opts, struct report *r,
		struct unit **out)
{
	struct edit e;

	if (!u->facts)
		return 0;
	edit_begin(&e, u);
	for (uint32_t i = 0; i < u->n_ops; i++) {
		edit_at(&e, i);
		ctx_put(&e, opts->prog_type, &u->ops[i], &u->facts[i]);
	}
	return edit_finish(&e, r, out);
}

bool rewrite_reads_behind(const struct unit *u, uint32_t prog_type)
{
	int32_t end = ctx_is(CTX_XDP_TYPES, prog_type)	 ? CTX_XDP_DATA
		      : ctx_is(CTX_SKB_TYPES, prog_type) ? CTX_SKB_DATA
							 : INT32_MAX;

	for (uint32_t i = 0; i < u->n_ops && u->facts; i++) {
		if (u->facts[i].ctx && u->ops[i].off >= end)
			return true;
	}
	return false;
}
