/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies between a map's shared memory and the caller's. Elements begin on 8 bytes and are padded
 * to 8. Programs and other threads may access them at the same time; words of 8 bytes are
 * never torn.
 */
#ifndef SKEP_MAP_VALUE_H
#define SKEP_MAP_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/percpu.h"
#include "map/map.h"

enum { WORDS_MAX = 256 }; /* beyond this memcpy's speed counts for more than whole words */

static inline void words_load(void *dst, const void *src, size_t n)
{
	const uint8_t *from = src;
	uint8_t *to = dst;
	uint64_t w;

	if (n > WORDS_MAX) {
		memcpy(dst, src, n);
		return;
	}
	for (; n >= 8; n -= 8, from += 8, to += 8) {
		w = __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);
		memcpy(to, &w, 8);
	}
	for (; n; n--)
		*to++ = __atomic_load_n(from++, __ATOMIC_RELAXED);
}

static inline void words_store(void *dst, const void *src, size_t n)
{
	const uint8_t *from = src;
	uint8_t *to = dst;
	uint64_t w;

	if (n > WORDS_MAX) {
		memcpy(dst, src, n);
		return;
	}
	for (; n >= 8; n -= 8, from += 8, to += 8) {
		memcpy(&w, from, 8);
		__atomic_store_n((uint64_t *)to, w, __ATOMIC_RELAXED);
	}
	for (; n; n--)
		__atomic_store_n(to++, *from++, __ATOMIC_RELAXED);
}

static inline size_t round8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static inline bool value_has_lock(const struct map *m)
{
	return m->desc.spin_lock_off != UINT32_MAX;
}

/* Whether values have fields that are not copied. */
static inline bool value_special(const struct map *m)
{
	return (m->desc.spin_lock_off & m->desc.timer_off & m->desc.work_off) != UINT32_MAX;
}

/* An element's value becomes src, but for its special fields. With BPF_F_LOCK its spin lock is
 * held meanwhile. */
void value_write(const struct map *m, void *value, const void *src, uint64_t flags);

/* The same for an element that nobody can see yet: its special fields become zero. */
void value_init(const struct map *m, void *value, const void *src);

/* dst becomes the value with zeros for special fields. */
void value_read(const struct map *m, void *dst, void *value, uint64_t flags);

/* From and to all slots' copies at offset off, as user space sees them. `all` false: only the
 * running slot's copy takes src, the others become zero. */
void value_read_percpu(const struct map *m, void *dst, uint32_t off);
void value_write_percpu(const struct map *m, uint32_t off, const void *src);
void value_init_percpu(const struct map *m, uint32_t off, const void *src, bool all);

/* The slot to work on: the running one, or slot 0 outside of a program run. */
static inline unsigned value_slot(void)
{
	return percpu_self ? ((const struct percpu_head *)percpu_self)->cpu : 0;
}

/* That slot's copy. */
static inline void *value_here(uint32_t off)
{
	return percpu_self ? percpu_self + off : percpu_at(0, off);
}

#endif
