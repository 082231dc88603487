/* SPDX-License-Identifier: BSD-2-Clause */
#include "jit/builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void builder_free(struct builder *b)
{
	vec_free(&b->bytes);
	vec_free(&b->branches);
	vec_free(&b->labels);
	mem_free(b->is_target);
	vec_free(&b->faults);
	vec_free(&b->fixups);
}

void builder_fail(struct builder *b, int err, const char *fmt, ...)
{
	va_list ap;

	if (b->err)
		return;
	b->err = err;
	va_start(ap, fmt);
	vsnprintf(b->message, sizeof(b->message), fmt, ap);
	va_end(ap);
}

static void builder_no_memory(struct builder *b)
{
	builder_fail(b, -ENOMEM, "out of memory");
}

void builder_grow(struct builder *b, size_t n)
{
	if (b->bytes.n + n > INT32_MAX)
		builder_fail(b, -E2BIG, "image too large");
	else if (vec_reserve(&b->bytes, n))
		builder_no_memory(b);
}

void builder_expect(struct builder *b, uint32_t n)
{
	b->is_target = mem_zalloc(n, 1);
	if (!b->is_target || vec_reserve(&b->bytes, (size_t)n * 5 + 64) ||
	    vec_reserve(&b->labels, (size_t)n + 16) || vec_reserve(&b->branches, n / 6))
		builder_no_memory(b);
}

uint32_t builder_labels(struct builder *b, uint32_t n)
{
	uint32_t first = (uint32_t)b->labels.n;

	if (vec_reserve(&b->labels, n)) {
		builder_no_memory(b);
		return 0;
	}
	memset(b->labels.at + first, 0xff, n * sizeof(*b->labels.at));
	b->labels.n += n;
	return first;
}

void builder_bind(struct builder *b, uint32_t label)
{
	if (!b->err)
		b->labels.at[label] = builder_here(b);
}

void builder_branch(struct builder *b, struct branch br)
{
	br.raw = (uint32_t)b->bytes.n;
	br.size = 0;
	if (vec_push(&b->branches, br))
		builder_no_memory(b);
}

void builder_fixup(struct builder *b, struct place at, uint8_t kind, uint64_t address)
{
	struct place_fixup f = { at, kind, address };

	if (vec_push(&b->fixups, f))
		builder_no_memory(b);
}

void builder_fault(struct builder *b, struct place at, struct place resume, uint8_t reg)
{
	struct place_fault f = { at, resume, reg };

	if (vec_push(&b->faults, f))
		builder_no_memory(b);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

bool builder_near(const struct builder *b, uint64_t address, uint64_t reach)
{
	if (b->dump)
		return !b->opts->base || distance(address, b->opts->base) < reach;
	return distance(address, b->near_lo) < reach && distance(address, b->near_hi) < reach;
}
