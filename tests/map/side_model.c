/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model: a list of elements in order of insertion and the rules of each kind of map, written
 * as plainly as possible. Values are what user space sees, per-CPU ones too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/percpu.h"
#include "side.h"

enum { ELEMENTS_MAX = 256 };

struct element {
	uint8_t key[KEY_MAX], value[VALUE_MAX];
};

struct model {
	struct map_desc d;
	size_t value_size;
	uint32_t n;
	struct element at[ELEMENTS_MAX];
};

static bool is_array(const struct model *m)
{
	return m->d.type == BPF_MAP_TYPE_ARRAY || m->d.type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool is_list(const struct model *m)
{
	return m->d.type == BPF_MAP_TYPE_QUEUE || m->d.type == BPF_MAP_TYPE_STACK;
}

static bool is_lpm(const struct model *m)
{
	return m->d.type == BPF_MAP_TYPE_LPM_TRIE;
}

static int create(const struct map_desc *d, void **map)
{
	struct model *m = calloc(1, sizeof(*m));

	m->d = *d;
	m->value_size = d->value_size;
	if (map_type_find(d->type)->percpu)
		m->value_size = (d->value_size + 7) / 8 * 8 * percpu_slots();
	for (uint32_t i = 0; is_array(m) && i < d->max_entries; i++, m->n++)
		memcpy(m->at[i].key, &i, 4);
	*map = m;
	return 0;
}

static void destroy(void *map)
{
	free(map);
}

static uint32_t u32_at(const void *p)
{
	uint32_t x;

	memcpy(&x, p, 4);
	return x;
}

static int bit(const uint8_t *data, uint32_t i)
{
	return data[i / 8] >> (7 - i % 8) & 1;
}

static bool prefix_same(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
	for (uint32_t i = 0; i < bits; i++)
		if (bit(a, i) != bit(b, i))
			return false;
	return true;
}

static bool key_same(const struct model *m, const uint8_t *a, const uint8_t *b)
{
	if (is_lpm(m))
		return u32_at(a) == u32_at(b) && prefix_same(a + 4, b + 4, u32_at(a));
	return !memcmp(a, b, m->d.key_size);
}

static struct element *find(struct model *m, const void *key)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (key_same(m, m->at[i].key, key))
			return &m->at[i];
	return NULL;
}

static struct element *find_longest(struct model *m, const uint8_t *key)
{
	struct element *best = NULL;

	for (uint32_t i = 0; i < m->n; i++) {
		struct element *e = &m->at[i];
		uint32_t len = u32_at(e->key);

		if (len <= u32_at(key) && prefix_same(e->key + 4, key + 4, len) &&
		    (!best || len > u32_at(best->key)))
			best = e;
	}
	return best;
}

static void remove_at(struct model *m, struct element *e)
{
	memmove(e, e + 1, (size_t)(m->at + m->n - (e + 1)) * sizeof(*e));
	m->n--;
}

static struct element *list_end(struct model *m)
{
	if (!m->n)
		return NULL;
	return m->d.type == BPF_MAP_TYPE_QUEUE ? m->at : m->at + m->n - 1;
}

static bool lpm_too_long(const struct model *m, const void *key)
{
	return is_lpm(m) && u32_at(key) > (m->d.key_size - 4) * 8;
}

static int lookup(void *map, const void *key, void *value, uint64_t flags)
{
	struct model *m = map;
	struct element *e;

	if (flags)
		return -EINVAL; /* nothing here has a lock */
	if (lpm_too_long(m, key))
		return -ENOENT;
	e = is_list(m) ? list_end(m) : is_lpm(m) ? find_longest(m, key) : find(m, key);
	if (!e)
		return -ENOENT;
	memcpy(value, e->value, m->value_size);
	return 0;
}

static int list_push(struct model *m, const void *value, uint64_t flags)
{
	if (flags != BPF_ANY && flags != BPF_EXIST)
		return -EINVAL;
	if (m->n == m->d.max_entries) {
		if (flags != BPF_EXIST)
			return -E2BIG;
		remove_at(m, m->at);
	}
	memcpy(m->at[m->n++].value, value, m->value_size);
	return 0;
}

static int update(void *map, const void *key, const void *value, uint64_t flags)
{
	struct model *m = map;
	struct element *e;

	if (flags & BPF_F_LOCK)
		return -EINVAL;
	if (is_list(m))
		return list_push(m, value, flags);
	if (flags > BPF_EXIST || lpm_too_long(m, key))
		return -EINVAL;
	e = find(m, key);
	if (!e && is_array(m))
		return -E2BIG;
	if (e && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!e && flags == BPF_EXIST)
		return -ENOENT;
	if (!e && m->n == m->d.max_entries)
		return is_lpm(m) ? -ENOSPC : -E2BIG;
	if (!e)
		e = &m->at[m->n++];
	memcpy(e->key, key, m->d.key_size); /* bits behind a prefix are kept too */
	memcpy(e->value, value, m->value_size);
	return 0;
}

static int erase(void *map, const void *key)
{
	struct model *m = map;
	struct element *e;

	if (is_list(m) || is_array(m) || lpm_too_long(m, key))
		return -EINVAL;
	e = find(m, key);
	if (!e)
		return -ENOENT;
	remove_at(m, e);
	return 0;
}

static int take(void *map, const void *key, void *value, uint64_t flags)
{
	struct model *m = map;
	struct element *e = is_list(m) ? list_end(m) : find(m, key);

	if (flags)
		return -EINVAL;
	if (is_array(m) || is_lpm(m))
		return -524;
	if (!e)
		return -ENOENT;
	memcpy(value, e->value, m->value_size);
	remove_at(m, e);
	return 0;
}

/* Order of a trie: what lies under a prefix comes before it, bit 0 before bit 1. */
static int lpm_order(const uint8_t *a, const uint8_t *b)
{
	uint32_t la = u32_at(a), lb = u32_at(b), n = la < lb ? la : lb;

	for (uint32_t i = 0; i < n; i++)
		if (bit(a + 4, i) != bit(b + 4, i))
			return bit(a + 4, i) - bit(b + 4, i);
	return lb > la ? 1 : lb < la ? -1 : 0;
}

static int lpm_next(struct model *m, const uint8_t *key, void *next)
{
	struct element *best = NULL;

	if (key && (lpm_too_long(m, key) || !find(m, key)))
		key = NULL;
	for (uint32_t i = 0; i < m->n; i++) {
		struct element *e = &m->at[i];

		if ((!key || lpm_order(key, e->key) < 0) &&
		    (!best || lpm_order(e->key, best->key) < 0))
			best = e;
	}
	if (!best)
		return -ENOENT;
	memcpy(next, best->key, m->d.key_size);
	return 0;
}

static int next_key(void *map, const void *key, void *next)
{
	struct model *m = map;
	struct element *e = key && !is_list(m) ? find(m, key) : NULL;

	if (is_list(m))
		return -EINVAL;
	if (is_lpm(m))
		return lpm_next(m, key, next);
	e = e ? e + 1 : m->at;
	if (e == m->at + m->n)
		return -ENOENT;
	memcpy(next, e->key, m->d.key_size);
	return 0;
}

const struct side side_model = {
	.name = "model",
	.create = create,
	.destroy = destroy,
	.lookup = lookup,
	.update = update,
	.erase = erase,
	.take = take,
	.next_key = next_key,
};
