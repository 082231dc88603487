/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Approximately least recently used: two lists of elements, active and inactive, and a reference
 * bit in each cell that look-ups set. New elements go to the head of the inactive list; the victim
 * comes from its tail, unless it was referenced: then it moves to the active list. When the
 * inactive list is the shorter one, elements from the active list's tail that were not referenced
 * refill it.
 *
 * Lock order: bucket, then list. lru_evict has it the other way round and only tries buckets.
 */
#include "map/hash.h"

enum { INACTIVE, ACTIVE, LISTS, ROTATE = 16, TRIES = 4096 };

struct node {
	uint32_t next, prev; /* cell numbers + 1; 0: the list's end */
	uint32_t list;
};

struct list {
	uint32_t head, tail, n;
};

struct lru {
	uint32_t lock;
	struct list list[LISTS];
	struct node node[];
};

size_t lru_size(uint32_t n_cells)
{
	return sizeof(struct lru) + n_cells * sizeof(struct node);
}

void lru_init(struct lru *l)
{
	memset(l, 0, sizeof(*l));
}

static void list_push(struct lru *l, uint32_t which, uint32_t id)
{
	struct list *list = &l->list[which];

	l->node[id] = (struct node){ .next = list->head, .list = which };
	if (list->head)
		l->node[list->head - 1].prev = id + 1;
	else
		list->tail = id + 1;
	list->head = id + 1;
	list->n++;
}

static void list_remove(struct lru *l, uint32_t id)
{
	struct node n = l->node[id];
	struct list *list = &l->list[n.list];

	*(n.prev ? &l->node[n.prev - 1].next : &list->head) = n.next;
	*(n.next ? &l->node[n.next - 1].prev : &list->tail) = n.prev;
	list->n--;
}

static void list_move(struct lru *l, uint32_t which, uint32_t id)
{
	list_remove(l, id);
	list_push(l, which, id);
}

void lru_add(const struct hash *h, uint32_t id, uint32_t old)
{
	lock_take(&h->lru->lock);
	if (old != NONE)
		list_remove(h->lru, old);
	list_push(h->lru, INACTIVE, id);
	lock_drop(&h->lru->lock);
}

void lru_del(const struct hash *h, uint32_t id)
{
	lock_take(&h->lru->lock);
	list_remove(h->lru, id);
	lock_drop(&h->lru->lock);
}

static bool ref_clear(const struct hash *h, uint32_t id)
{
	return __atomic_exchange_n(&cell_at(h, id)->ref, 0, __ATOMIC_RELAXED);
}

static void active_rotate(const struct hash *h)
{
	struct lru *l = h->lru;

	for (int i = 0; i < ROTATE && l->list[ACTIVE].n > l->list[INACTIVE].n; i++) {
		uint32_t id = l->list[ACTIVE].tail - 1;

		list_move(l, ref_clear(h, id) ? ACTIVE : INACTIVE, id);
	}
}

/* Takes the element out if its bucket is free just now. */
static bool victim_take(const struct hash *h, uint32_t id)
{
	uint32_t home = hash_home(h, cell_at(h, id)->key);
	struct cell *first = cell_at(h, home);

	if (!lock_try(&first->lock))
		return false;
	list_remove(h->lru, id);
	hash_unlink(h, home, id);
	lock_drop(&first->lock);
	return true;
}

int lru_evict(const struct hash *h)
{
	struct lru *l = h->lru;
	bool done = false;

	lock_take(&l->lock);
	for (int i = 0; i < TRIES && !done; i++) {
		uint32_t id;

		active_rotate(h);
		id = l->list[l->list[INACTIVE].n ? INACTIVE : ACTIVE].tail;
		if (!id)
			break;
		id--;
		if (i < TRIES / 2 && ref_clear(h, id))
			list_move(l, ACTIVE, id);
		else if (victim_take(h, id))
			done = true;
		else
			list_move(l, INACTIVE, id);
	}
	lock_drop(&l->lock);
	return done ? 0 : -ENOMEM;
}
