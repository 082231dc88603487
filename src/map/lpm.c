/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LPM_TRIE: a binary trie with skipped levels. A node has a prefix longer than its parent's and
 * agrees with it; intermediate nodes hold no value and have two children. The order of iteration
 * is children before their parent, 0 before 1.
 *
 * Writers hold one lock. Readers hold nothing: before and after nodes are taken out, seq counts
 * up, and a reader that sees it change looks again. A freed node is used again, so a reader checks
 * that prefixes get longer: it comes to an end in any case.
 */
#include <endian.h>

#include "map/impl.h"
#include "map/lock.h"
#include "map/types.h"
#include "map/value.h"

enum { DATA_MAX = 256, BITS_MAX = DATA_MAX * 8, UNIT = 8 };

struct node {
	uint32_t child[2]; /* where nodes lie in the region, in units of 8 bytes; 0: none */
	uint32_t len;	   /* bits of the prefix */
	uint32_t inner;	   /* 1: intermediate */
	uint8_t data[];	   /* padded to 8; then the value */
};

struct trie { /* at the region's start; nodes behind it */
	uint32_t lock, seq;
	uint32_t root;
	uint32_t free;	/* freed nodes, by child[0] */
	uint32_t fresh; /* the next one that was never used, likewise */
	uint32_t n;	/* elements */
	uint32_t pad[10];
};

static struct trie *trie_of(const struct map *m)
{
	return (struct trie *)m->mem;
}

static struct node *node_at(const struct map *m, uint32_t id)
{
	return (struct node *)(m->mem + (size_t)id * UNIT);
}

static uint32_t data_size(const struct map *m)
{
	return m->desc.key_size - 4;
}

static void *node_value(const struct map *m, struct node *n)
{
	return n->data + round8(data_size(m));
}

static const uint8_t *key_data(const void *key)
{
	return (const uint8_t *)key + 4;
}

static int lpm_check(const struct map_desc *d)
{
	if (!d->max_entries || !(d->flags & BPF_F_NO_PREALLOC))
		return -EINVAL;
	if (d->key_size < 4 + 1 || d->key_size > 4 + DATA_MAX || !d->value_size)
		return -EINVAL;
	return d->value_size > MAP_ALLOC_MAX - DATA_MAX - 64 ? -EINVAL : 0;
}

/* As many intermediate nodes as elements, and two for an update under way. */
static int lpm_create(struct map *m)
{
	uint64_t nodes = 2ull * m->desc.max_entries + 2, size;
	int err;

	m->stride =
	    (uint32_t)(sizeof(struct node) + round8(data_size(m)) + round8(m->desc.value_size));
	size = sizeof(struct trie) + nodes * m->stride;
	if (nodes > UINT32_MAX)
		return -E2BIG;
	if (size / UNIT > UINT32_MAX)
		return -ENOMEM;
	err = map_mem_new(m, size, 0);
	if (!err)
		trie_of(m)->fresh = sizeof(struct trie) / UNIT;
	return err;
}

static uint32_t load(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(uint32_t *p, uint32_t x)
{
	__atomic_store_n(p, x, __ATOMIC_RELEASE);
}

static uint32_t bit_at(const uint8_t *data, uint32_t i)
{
	return data[i / 8] >> (7 - i % 8) & 1;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

#define INLINE static inline __attribute__((always_inline))

/* A key's data with zeros behind it, as words whose highest bit comes first, and how many of its
 * bits count. */
struct prefix {
	uint32_t len;
	uint64_t word[DATA_MAX / 8];
};

INLINE void prefix_of(const struct map *m, const void *key, struct prefix *p)
{
	uint32_t n = data_size(m);

	p->len = key_index(key);
	p->word[(n - 1) / 8] = 0;
	if (n == 4)
		memcpy(p->word, key_data(key), 4);
	else if (n == 16)
		memcpy(p->word, key_data(key), 16);
	else
		memcpy(p->word, key_data(key), n);
	for (uint32_t i = 0; i < (n + 7) / 8; i++)
		p->word[i] = be64toh(p->word[i]);
}

INLINE uint32_t prefix_bit(const struct prefix *p, uint32_t i)
{
	return p->word[i / 64] >> (63 - i % 64) & 1;
}

/* Number of bits, at most `limit`, in which a node's prefix and a key's agree from the start. The
 * node may change under us. */
INLINE uint32_t equal_bits(const uint8_t *node, const uint64_t *key, uint32_t limit)
{
	for (uint32_t i = 0; i < limit; i += 64, node += 8, key++) {
		uint64_t w = __atomic_load_n((const uint64_t *)node, __ATOMIC_RELAXED);
		uint64_t diff = be64toh(w) ^ *key;

		if (diff)
			return min32(i + (uint32_t)__builtin_clzll(diff), limit);
	}
	return limit;
}

INLINE uint32_t node_match(const struct node *n, uint32_t node_len, const struct prefix *p)
{
	return equal_bits(n->data, p->word, min32(node_len, p->len));
}

/* The longest element that key begins with; 0. Links give a node's place without a multiplication,
 * and the key's bits lie in registers where one word is all: the way from a node to its child is
 * two loads. `max` is the number of a key's bits. */
INLINE uint32_t longest(const struct map *m, const void *key, uint32_t max)
{
	uint32_t id = load(&trie_of(m)->root), found = 0, above = 0;
	struct prefix p;

	prefix_of(m, key, &p);
	for (uint32_t depth = 0; id && depth <= max; depth++) {
		const struct node *n = node_at(m, id);
		uint32_t node_len = load(&n->len);

		if (node_len > max || (depth && node_len <= above))
			break;
		if (node_match(n, node_len, &p) < node_len)
			break;
		if (!load(&n->inner))
			found = id;
		if (node_len == max)
			break;
		above = node_len;
		id = load(&n->child[prefix_bit(&p, node_len)]);
	}
	return found;
}

static uint32_t longest_of(const struct map *m, const void *key)
{
	switch (data_size(m)) {
	case 4:
		return longest(m, key, 32);
	case 16:
		return longest(m, key, 128);
	default:
		return longest(m, key, data_size(m) * 8);
	}
}

static void *lpm_lookup(struct map *m, const void *key)
{
	uint32_t seq, id;

	if (key_index(key) > data_size(m) * 8)
		return NULL;
	do {
		seq = load(&trie_of(m)->seq);
		id = longest_of(m, key);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq != load(&trie_of(m)->seq));
	return id ? node_value(m, node_at(m, id)) : NULL;
}

static uint32_t node_new(const struct map *m, const uint8_t *data, uint32_t len)
{
	struct trie *t = trie_of(m);
	uint32_t id = t->free;
	struct node *n;

	if (id)
		t->free = node_at(m, id)->child[0];
	else {
		id = t->fresh;
		t->fresh += m->stride / UNIT;
	}
	n = node_at(m, id);
	store(&n->child[0], 0);
	store(&n->child[1], 0);
	words_store(n->data, data, data_size(m));
	store(&n->len, len);
	return id;
}

static void trie_changes(struct trie *t)
{
	store(&t->seq, t->seq + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* *slot, which was node `id`, becomes `with`. */
static void slot_replace(const struct map *m, uint32_t *slot, uint32_t id, uint32_t with)
{
	struct trie *t = trie_of(m);

	trie_changes(t);
	store(slot, with);
	trie_changes(t);
	store(&node_at(m, id)->child[0], t->free);
	t->free = id;
}

/* Where the walk for a key ends: the link, its node (0: none) and how many bits agree. */
struct place {
	uint32_t *slot, id, match;
	uint32_t *parent_slot, parent; /* the link above and its node, 0 at the root */
};

static struct place place_find(const struct map *m, const void *key)
{
	uint32_t len = key_index(key);
	struct place p = { .slot = &trie_of(m)->root };
	struct prefix prefix;

	prefix_of(m, key, &prefix);
	for (p.id = *p.slot; p.id; p.id = *p.slot) {
		struct node *n = node_at(m, p.id);

		p.match = node_match(n, n->len, &prefix);
		if (n->len != p.match || n->len == len)
			break;
		p.parent_slot = p.slot;
		p.parent = p.id;
		p.slot = &n->child[prefix_bit(&prefix, n->len)];
	}
	return p;
}

static bool place_exact(const struct map *m, const struct place *p, uint32_t len)
{
	return p->id && node_at(m, p->id)->len == len && p->match == len;
}

/* The new element's node above or beside the one at the place. */
static void place_split(const struct map *m, const struct place *p, const void *key, uint32_t id)
{
	struct node *old = node_at(m, p->id), *n = node_at(m, id);
	uint32_t fork;

	if (p->match == n->len) {
		store(&n->child[bit_at(old->data, p->match)], p->id);
		store(p->slot, id);
		return;
	}
	fork = node_new(m, key_data(key), p->match);
	store(&node_at(m, fork)->inner, 1);
	store(&node_at(m, fork)->child[bit_at(key_data(key), p->match)], id);
	store(&node_at(m, fork)->child[bit_at(old->data, p->match)], p->id);
	store(p->slot, fork);
}

static void place_put(const struct map *m, const struct place *p, const void *key,
		      const void *value)
{
	uint32_t len = key_index(key), id = node_new(m, key_data(key), len);
	struct node *n = node_at(m, id);

	store(&n->inner, 0);
	value_init(m, node_value(m, n), value);
	if (!p->id) {
		store(p->slot, id);
	} else if (place_exact(m, p, len)) {
		store(&n->child[0], node_at(m, p->id)->child[0]);
		store(&n->child[1], node_at(m, p->id)->child[1]);
		slot_replace(m, p->slot, p->id, id);
	} else {
		place_split(m, p, key, id);
	}
}

static int update_locked(struct map *m, const void *key, const void *value, uint64_t flags)
{
	struct trie *t = trie_of(m);
	struct place p = place_find(m, key);
	bool exists = place_exact(m, &p, key_index(key)) && !node_at(m, p.id)->inner;

	if (exists && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!exists && flags == BPF_EXIST)
		return -ENOENT;
	if (!exists && t->n == m->desc.max_entries)
		return -ENOSPC;
	t->n += !exists;
	place_put(m, &p, key, value);
	return 0;
}

static int lpm_update(struct map *m, const void *key, const void *value, uint64_t flags)
{
	int err;

	if (flags > BPF_EXIST || key_index(key) > data_size(m) * 8)
		return -EINVAL;
	err = lock_enter();
	if (err)
		return err;
	lock_take(&trie_of(m)->lock);
	err = update_locked(m, key, value, flags);
	lock_drop(&trie_of(m)->lock);
	lock_leave();
	return err;
}

/* An element with two children becomes intermediate; without children, an intermediate parent
 * goes too, and the other child takes its place. */
static void place_remove(const struct map *m, const struct place *p)
{
	struct node *n = node_at(m, p->id);
	struct node *above = p->parent ? node_at(m, p->parent) : NULL;

	if (n->child[0] && n->child[1]) {
		store(&n->inner, 1);
	} else if (above && above->inner && !n->child[0] && !n->child[1]) {
		uint32_t other = above->child[above->child[0] == p->id];

		slot_replace(m, p->parent_slot, p->parent, other);
		store(&n->child[0], trie_of(m)->free);
		trie_of(m)->free = p->id;
	} else {
		slot_replace(m, p->slot, p->id, n->child[0] ? n->child[0] : n->child[1]);
	}
}

static int lpm_erase(struct map *m, const void *key)
{
	struct trie *t = trie_of(m);
	struct place p;
	int err;

	if (key_index(key) > data_size(m) * 8)
		return -EINVAL;
	err = lock_enter();
	if (err)
		return err;
	lock_take(&t->lock);
	p = place_find(m, key);
	if (place_exact(m, &p, key_index(key)) && !node_at(m, p.id)->inner) {
		place_remove(m, &p);
		t->n--;
	} else {
		err = -ENOENT;
	}
	lock_drop(&t->lock);
	lock_leave();
	return err;
}

/* The first element of the subtree; 0. */
static uint32_t leftmost(const struct map *m, uint32_t id)
{
	uint32_t found = 0;

	while (id) {
		const struct node *n = node_at(m, id);

		if (!n->inner)
			found = id;
		id = n->child[0] || n->inner ? n->child[0] : n->child[1];
	}
	return found;
}

/* The element behind key's; the first one when there is no such key; 0 at the end. */
static uint32_t next_locked(const struct map *m, const void *key)
{
	uint32_t path[BITS_MAX + 1], n = 0, id = trie_of(m)->root;
	struct place p;

	if (!key || key_index(key) > data_size(m) * 8)
		return leftmost(m, id);
	p = place_find(m, key);
	if (!place_exact(m, &p, key_index(key)) || node_at(m, p.id)->inner)
		return leftmost(m, id);
	for (; id != p.id; id = node_at(m, id)->child[bit_at(key_data(key), node_at(m, id)->len)])
		path[n++] = id;
	for (; n; id = path[n]) {
		const struct node *above = node_at(m, path[--n]);

		if (above->child[0] == id && above->child[1])
			return leftmost(m, above->child[1]);
		if (!above->inner)
			return path[n];
	}
	return 0;
}

static int lpm_next_key(struct map *m, const void *key, void *next)
{
	struct trie *t = trie_of(m);
	uint32_t id;
	int err = lock_enter();

	if (err)
		return err;
	lock_take(&t->lock);
	id = next_locked(m, key);
	if (id) {
		memcpy(next, &node_at(m, id)->len, 4);
		memcpy((uint8_t *)next + 4, node_at(m, id)->data, data_size(m));
	}
	lock_drop(&t->lock);
	lock_leave();
	return id ? 0 : -ENOENT;
}

DIRECT(lookup, lpm_lookup_direct, lpm_lookup)
DIRECT(update, lpm_update_direct, lpm_update)
DIRECT(erase, lpm_erase_direct, lpm_erase)

const struct map_ops lpm_ops = {
	.direct = { .lookup = DIRECT_FN(lpm_lookup_direct),
		    .update = DIRECT_FN(lpm_update_direct),
		    .erase = DIRECT_FN(lpm_erase_direct) },
	.check = lpm_check,
	.create = lpm_create,
	.lookup = lpm_lookup,
	.update = lpm_update,
	.erase = lpm_erase,
	.next_key = lpm_next_key,
};
