/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/value.h"

#include "base/percpu.h"
#include "map/lock.h"

static uint32_t *lock_of(const struct map *m, void *value)
{
	return (uint32_t *)((uint8_t *)value + m->spin_lock_off);
}

/* The bytes before and behind the spin lock. */
static void store_around(const struct map *m, uint8_t *value, const uint8_t *src)
{
	uint32_t off = m->spin_lock_off, n = m->desc.value_size;

	for (uint32_t i = 0; i < n; i++)
		if (i < off || i >= off + 4)
			__atomic_store_n(value + i, src[i], __ATOMIC_RELAXED);
}

void value_write(const struct map *m, void *value, const void *src, uint64_t flags)
{
	if (!value_has_lock(m)) {
		words_store(value, src, m->desc.value_size);
		return;
	}
	if (flags & BPF_F_LOCK)
		lock_take(lock_of(m, value));
	store_around(m, value, src);
	if (flags & BPF_F_LOCK)
		lock_drop(lock_of(m, value));
}

void value_init(const struct map *m, void *value, const void *src)
{
	if (!value_has_lock(m)) {
		words_store(value, src, m->desc.value_size);
		return;
	}
	store_around(m, value, src);
	__atomic_store_n(lock_of(m, value), 0, __ATOMIC_RELAXED);
}

void value_read(const struct map *m, void *dst, void *value, uint64_t flags)
{
	bool lock = value_has_lock(m) && flags & BPF_F_LOCK;

	if (lock)
		lock_take(lock_of(m, value));
	words_load(dst, value, m->desc.value_size);
	if (lock)
		lock_drop(lock_of(m, value));
	if (value_has_lock(m))
		memset((uint8_t *)dst + m->spin_lock_off, 0, 4);
}

unsigned value_slot(void)
{
	return percpu_self ? ((const struct percpu_head *)percpu_self)->cpu : 0;
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
