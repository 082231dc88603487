/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branch layout. Every branch starts in its shortest form and grows when its target turns out to
 * be too far; none ever shrinks. Distances only grow with sizes, so a form that was too short for
 * a lower bound of the distance is too short for the distance itself, and the first pass in which
 * nothing grows has found a layout that fits. Programs settle in two to four passes; since one can
 * be made up in which each growth starts the next only a pass later, what has not settled after
 * PATIENT_PASSES takes the longest form, which always reaches: the work is linear.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "jit/target.h"

enum { PATIENT_PASSES = 12 };

static uint32_t place_offset(const uint32_t *before, struct place p)
{
	return p.raw + before[p.branches];
}

/* One pass. before[i] is the size of all branches before branch i: of this pass up to the one in
 * hand; later ones are still `grown` bytes short. Returns whether any branch grew. */
static bool relax_pass(struct builder *b, uint32_t *before, bool longest)
{
	uint32_t grown = 0;

	for (uint32_t i = 0; i < b->branches.n; i++) {
		struct branch *br = &b->branches.at[i];
		struct place to = b->labels.at[br->label];
		bool ahead = to.branches > i;
		int64_t dist =
		    (int64_t)place_offset(before, to) + (ahead ? grown : 0) - (br->raw + before[i]);
		unsigned size = longest ? b->target->branch_longest(br)
					: b->target->branch_size(br, dist, ahead);

		grown += size - br->size;
		br->size = (uint8_t)size;
		before[i + 1] += grown;
	}
	return grown != 0;
}

static int labels_check(struct builder *b)
{
	for (size_t i = 0; i < b->branches.n; i++)
		if (b->labels.at[b->branches.at[i].label].raw == UINT32_MAX)
			builder_fail(b, -EINVAL, "a branch has no target");
	return b->err;
}

static void layout(struct builder *b, uint32_t *before)
{
	unsigned pass = 0;

	while (relax_pass(b, before, pass == PATIENT_PASSES))
		pass++;
}

/* Straight code and branches, each where it belongs. */
static void bytes_merge(struct builder *b, const uint32_t *before, uint8_t *out)
{
	uint32_t raw = 0;

	for (uint32_t i = 0; i < b->branches.n; i++) {
		const struct branch *br = &b->branches.at[i];
		uint32_t at = br->raw + before[i];
		int64_t dist = (int64_t)place_offset(before, b->labels.at[br->label]) - at;

		memcpy(out + raw + before[i], b->bytes.at + raw, br->raw - raw);
		raw = br->raw;
		if (b->target->branch_put(br, dist, out + at))
			builder_fail(b, -E2BIG, "image too large: a branch spans %lld bytes",
				     (long long)dist);
	}
	memcpy(out + raw + before[b->branches.n], b->bytes.at + raw, b->bytes.n - raw);
}

/* An op's code begins at its label; that of a subprogram's first op with the way in. */
static void lines_fill(const struct builder *b, const uint32_t *before, struct code *c)
{
	const struct unit *u = b->unit;

	for (uint32_t i = 0; i < u->n_ops; i++)
		c->lines[i] = (struct code_line){ place_offset(before, b->labels.at[i]), i };
	for (uint32_t s = 0; s < u->n_subs; s++)
		c->lines[u->subs[s]].offset =
		    s ? place_offset(before, b->labels.at[c->sub_offset[s]]) : 0;
	c->n_lines = u->n_ops;
}

static void tables_fill(const struct builder *b, const uint32_t *before, struct code *c)
{
	for (size_t i = 0; i < b->faults.n; i++) {
		const struct place_fault *f = &b->faults.at[i];

		c->faults[i] = (struct code_fault){ place_offset(before, f->at),
						    place_offset(before, f->resume), f->reg };
	}
	for (size_t i = 0; i < b->fixups.n; i++) {
		const struct place_fixup *f = &b->fixups.at[i];

		c->fixups[i] =
		    (struct code_fixup){ place_offset(before, f->at), f->kind, f->address };
	}
	c->n_faults = b->faults.n;
	c->n_fixups = b->fixups.n;
}

/* Labels in c->entry, c->tail_entry and c->sub_offset become byte offsets. */
static void labels_resolve(const struct builder *b, const uint32_t *before, struct code *c)
{
	c->entry = place_offset(before, b->labels.at[c->entry]);
	c->tail_entry = place_offset(before, b->labels.at[c->tail_entry]);
	for (uint32_t i = 0; i < c->n_subs; i++)
		c->sub_offset[i] = place_offset(before, b->labels.at[c->sub_offset[i]]);
}

int relax(struct builder *b, struct code *c)
{
	uint32_t *before = mem_zalloc(b->branches.n + 1, sizeof(*before));

	if (!before)
		builder_fail(b, -ENOMEM, "out of memory");
	if (!b->err && !labels_check(b)) {
		layout(b, before);
		c->size = b->bytes.n + before[b->branches.n];
		c->bytes = mem_zalloc(c->size, 1);
		c->lines = mem_zalloc(b->unit->n_ops, sizeof(*c->lines));
		c->faults = mem_zalloc(b->faults.n, sizeof(*c->faults));
		c->fixups = mem_zalloc(b->fixups.n, sizeof(*c->fixups));
		if (!c->bytes || !c->lines || !c->faults || !c->fixups)
			builder_fail(b, -ENOMEM, "out of memory");
	}
	if (!b->err) {
		bytes_merge(b, before, c->bytes);
		lines_fill(b, before, c);
		tables_fill(b, before, c);
		labels_resolve(b, before, c);
	}
	mem_free(before);
	return b->err;
}
