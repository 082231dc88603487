/* SPDX-License-Identifier: BSD-2-Clause */
#include "interp/access.h"

#include "base/reach.h"
#include "isa/op.h"

/* A program's access has C's natural type where it is aligned; packed types where it may not be. */
typedef uint16_t u16_any __attribute__((aligned(1), may_alias));
typedef uint32_t u32_any __attribute__((aligned(1), may_alias));
typedef uint64_t u64_any __attribute__((aligned(1), may_alias));

static void *pointer(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

uint64_t access_load(uint64_t addr, unsigned size)
{
	const void *p = pointer(addr);

	return size == 1   ? *(const uint8_t *)p
	       : size == 2 ? *(const u16_any *)p
	       : size == 4 ? *(const u32_any *)p
			   : *(const u64_any *)p;
}

void access_store(uint64_t addr, unsigned size, uint64_t v)
{
	void *p = pointer(addr);

	if (size == 1)
		*(uint8_t *)p = (uint8_t)v;
	else if (size == 2)
		*(u16_any *)p = (uint16_t)v;
	else if (size == 4)
		*(u32_any *)p = (uint32_t)v;
	else
		*(u64_any *)p = v;
}

uint64_t access_probe_load(uint64_t addr, unsigned size)
{
	uint8_t bytes[8];

	if (reach_read(bytes, addr, size))
		return 0;
	return access_load((uintptr_t)bytes, size);
}

void access_probe_store(uint64_t addr, unsigned size, uint64_t v)
{
	uint8_t bytes[8];

	access_store((uintptr_t)bytes, size, v);
	reach_write(addr, bytes, size);
}

bool access_there(uint64_t addr, unsigned size)
{
	uint8_t bytes[8];

	return !reach_read(bytes, addr, size);
}

uint64_t access_load_acquire(uint64_t addr, unsigned size)
{
	const void *p = pointer(addr);

	return size == 1   ? __atomic_load_n((const uint8_t *)p, __ATOMIC_ACQUIRE)
	       : size == 2 ? __atomic_load_n((const uint16_t *)p, __ATOMIC_ACQUIRE)
	       : size == 4 ? __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE)
			   : __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
}

void access_store_release(uint64_t addr, unsigned size, uint64_t v)
{
	void *p = pointer(addr);

	if (size == 1)
		__atomic_store_n((uint8_t *)p, (uint8_t)v, __ATOMIC_RELEASE);
	else if (size == 2)
		__atomic_store_n((uint16_t *)p, (uint16_t)v, __ATOMIC_RELEASE);
	else if (size == 4)
		__atomic_store_n((uint32_t *)p, (uint32_t)v, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
}

/* NAME64 and NAME32: one atomic operation in each width. */
#define DEFINE(name, builtin)                                                                      \
	static uint64_t name##64(void *p, uint64_t v)                                              \
	{                                                                                          \
		return builtin((uint64_t *)p, v, __ATOMIC_SEQ_CST);                                \
	}                                                                                          \
	static uint64_t name##32(void *p, uint64_t v)                                              \
	{                                                                                          \
		return builtin((uint32_t *)p, (uint32_t)v, __ATOMIC_SEQ_CST);                      \
	}

DEFINE(add, __atomic_fetch_add)
DEFINE(or, __atomic_fetch_or)
DEFINE(and, __atomic_fetch_and)
DEFINE(xor, __atomic_fetch_xor)
DEFINE(xchg, __atomic_exchange_n)

static uint64_t (*const table[OP_COUNT][2])(void *, uint64_t) = {
	[OP_AADD] = { add64, add32 }, [OP_AOR] = { or64, or32 },      [OP_AAND] = { and64, and32 },
	[OP_AXOR] = { xor64, xor32 }, [OP_XCHG] = { xchg64, xchg32 },
};

uint64_t access_atomic(uint8_t code, uint64_t addr, unsigned size, uint64_t v)
{
	return table[code][size == 4](pointer(addr), v);
}

static uint64_t cmpxchg32(uint32_t *p, uint32_t expected, uint32_t v)
{
	__atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

static uint64_t cmpxchg64(uint64_t *p, uint64_t expected, uint64_t v)
{
	__atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

uint64_t access_cmpxchg(uint64_t addr, unsigned size, uint64_t expected, uint64_t v)
{
	return size == 4 ? cmpxchg32(pointer(addr), (uint32_t)expected, (uint32_t)v)
			 : cmpxchg64(pointer(addr), expected, v);
}
