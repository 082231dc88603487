/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/room.h"

#include <stdbool.h>
#include <string.h>

/* `with` (n_new of them) instead of n_old free ones from the i-th on. */
static void replace(struct rooms *r, size_t i, size_t n_old, const struct room *with, size_t n_new)
{
	struct room *at = r->free.at + i;

	memmove(at + n_new, at + n_old, (r->free.n - i - n_old) * sizeof(*at));
	memcpy(at, with, n_new * sizeof(*at));
	r->free.n += n_new - n_old;
}

/* Entries that there can be once all that is taken and `more` were given back, none joining: one
 * before each part, one for each, one behind. */
static int reserve(struct rooms *r, size_t more)
{
	size_t need = r->free.n + r->taken + 2 * more;

	return vec_reserve(&r->free, need - r->free.n);
}

static bool take_from(struct rooms *r, size_t i, size_t size, size_t align, size_t *off)
{
	struct room whole = r->free.at[i], rest[2];
	size_t start = (whole.off + align - 1) & ~(align - 1), end = whole.off + whole.size, n = 0;

	if (start + size > end)
		return false;
	if (start > whole.off)
		rest[n++] = (struct room){ whole.off, start - whole.off };
	if (end > start + size)
		rest[n++] = (struct room){ start + size, end - (start + size) };
	replace(r, i, 1, rest, n);
	r->taken++;
	*off = start;
	return true;
}

int room_take(struct rooms *r, size_t size, size_t align, size_t *off)
{
	if (reserve(r, 1))
		return -ENOMEM;
	for (size_t i = 0; i < r->free.n; i++)
		if (take_from(r, i, size, align, off))
			return 0;
	return -ENOMEM;
}

/* In one piece with its free neighbours. */
static void insert(struct rooms *r, size_t off, size_t size)
{
	const struct room *at = r->free.at;
	struct room all = { off, size };
	size_t i = 0, n = r->free.n, old = 0;

	while (i < n && at[i].off < off)
		i++;
	if (i < n && at[i].off == off + size) {
		all.size += at[i].size;
		old++;
	}
	if (i && at[i - 1].off + at[i - 1].size == off) {
		i--;
		all = (struct room){ at[i].off, at[i].size + all.size };
		old++;
	}
	replace(r, i, old, &all, 1);
}

void room_give(struct rooms *r, size_t off, size_t size)
{
	r->taken--;
	insert(r, off, size);
}

int room_add(struct rooms *r, size_t off, size_t size)
{
	if (reserve(r, 1))
		return -ENOMEM;
	insert(r, off, size);
	return 0;
}

void room_free(struct rooms *r)
{
	vec_free(&r->free);
	r->taken = 0;
}
