/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/value.h"

#include "map/lock.h"

static uint32_t *lock_of(const struct map *m, void *value)
{
	return (uint32_t *)((uint8_t *)value + m->desc.spin_lock_off);
}

enum { LOCK_SIZE = 4, TIMER_SIZE = 16, WORK_SIZE = 16 };

static bool in_field(uint32_t i, uint32_t off, uint32_t size)
{
	return i >= off && i - off < size;
}

static bool is_special(const struct map *m, uint32_t i)
{
	return in_field(i, m->desc.spin_lock_off, LOCK_SIZE) ||
	       in_field(i, m->desc.timer_off, TIMER_SIZE) ||
	       in_field(i, m->desc.work_off, WORK_SIZE);
}

/* All bytes but those of special fields. */
static void store_around(const struct map *m, uint8_t *value, const uint8_t *src)
{
	for (uint32_t i = 0; i < m->desc.value_size; i++)
		if (!is_special(m, i))
			__atomic_store_n(value + i, src[i], __ATOMIC_RELAXED);
}

void value_write(const struct map *m, void *value, const void *src, uint64_t flags)
{
	bool lock = value_has_lock(m) && flags & BPF_F_LOCK;

	if (!value_special(m)) {
		words_store(value, src, m->desc.value_size);
		return;
	}
	if (lock)
		lock_take(lock_of(m, value));
	store_around(m, value, src);
	if (lock)
		lock_drop(lock_of(m, value));
}

void value_init(const struct map *m, void *value, const void *src)
{
	uint8_t *to = value;

	words_store(value, src, m->desc.value_size);
	for (uint32_t i = 0; value_special(m) && i < m->desc.value_size; i++)
		if (is_special(m, i))
			__atomic_store_n(to + i, 0, __ATOMIC_RELAXED);
}

void value_read(const struct map *m, void *dst, void *value, uint64_t flags)
{
	bool lock = value_has_lock(m) && flags & BPF_F_LOCK;
	uint8_t *to = dst;

	if (lock)
		lock_take(lock_of(m, value));
	words_load(dst, value, m->desc.value_size);
	if (lock)
		lock_drop(lock_of(m, value));
	for (uint32_t i = 0; value_special(m) && i < m->desc.value_size; i++)
		if (is_special(m, i))
			to[i] = 0;
}

void value_read_percpu(const struct map *m, void *dst, uint32_t off)
{
	size_t n = round8(m->desc.value_size);

	for (unsigned i = 0; i < percpu_slots(); i++)
		words_load((uint8_t *)dst + i * n, percpu_at(i, off), n);
}

void value_write_percpu(const struct map *m, uint32_t off, const void *src)
{
	size_t n = round8(m->desc.value_size);

	for (unsigned i = 0; i < percpu_slots(); i++)
		words_store(percpu_at(i, off), (const uint8_t *)src + i * n, n);
}

static void zero_words(void *at, size_t n)
{
	for (size_t i = 0; i < n; i += 8)
		__atomic_store_n((uint64_t *)((uint8_t *)at + i), 0, __ATOMIC_RELAXED);
}

void value_init_percpu(const struct map *m, uint32_t off, const void *src, bool all)
{
	unsigned self = value_slot();

	if (all) {
		value_write_percpu(m, off, src);
		return;
	}
	for (unsigned i = 0; i < percpu_slots(); i++)
		if (i == self)
			words_store(percpu_at(i, off), src, m->desc.value_size);
		else
			zero_words(percpu_at(i, off), round8(m->desc.value_size));
}
