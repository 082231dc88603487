/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers on maps, and the pointers and locks that lie in values. */
#include "base/percpu.h"
#include "helper/impl.h"
#include "map/lock.h"
#include "map/map.h"

static struct map *map_at(uint64_t r)
{
	return ptr_of(r);
}

HELPER_FN(map_lookup_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	return m->ops->lookup ? (uintptr_t)m->ops->lookup(m, ptr_of(r2)) : 0;
}

HELPER_FN(map_update_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	if (!m->ops->update)
		return helper_err(-EOPNOTSUPP);
	return helper_err(m->ops->update(m, ptr_of(r2), ptr_of(r3), r4));
}

HELPER_FN(map_delete_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	return helper_err(m->ops->erase ? m->ops->erase(m, ptr_of(r2)) : -EOPNOTSUPP);
}

HELPER_FN(map_push_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	return helper_err(m->ops->push ? m->ops->push(m, ptr_of(r2), r3) : -EOPNOTSUPP);
}

HELPER_FN(map_pop_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	return helper_err(m->ops->pop ? m->ops->pop(m, ptr_of(r2)) : -EOPNOTSUPP);
}

HELPER_FN(map_peek_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	return helper_err(m->ops->peek ? m->ops->peek(m, ptr_of(r2)) : -EOPNOTSUPP);
}

HELPER_FN(map_lookup_percpu_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	if (!m->ops->lookup_percpu || (uint32_t)r3 >= percpu_slots())
		return 0;
	return (uintptr_t)m->ops->lookup_percpu(m, ptr_of(r2), (uint32_t)r3);
}

HELPER_FN(for_each_map_elem, r1, r2, r3, r4, r5)
{
	struct map *m = map_at(r1);

	if (r4)
		return helper_err(-EINVAL);
	return m->ops->for_each ? (uint64_t)m->ops->for_each(m, r2, r3) : helper_err(-EINVAL);
}

/* A call through the table: the same as a slot that is empty. (The call is an operation of its
 * own, OP_TAILCALL.) */
HELPER_FN(tail_call, r1, r2, r3, r4, r5)
{
	return helper_err(-ENOENT);
}

HELPER_FN(spin_lock, r1, r2, r3, r4, r5)
{
	lock_take(ptr_of(r1));
	return 0;
}

HELPER_FN(spin_unlock, r1, r2, r3, r4, r5)
{
	lock_drop(ptr_of(r1));
	return 0;
}

HELPER_FN(kptr_xchg, r1, r2, r3, r4, r5)
{
	return __atomic_exchange_n((uint64_t *)ptr_of(r1), r2, __ATOMIC_SEQ_CST);
}

/* A per-CPU pointer is an offset into each slot's area. */
HELPER_FN(per_cpu_ptr, r1, r2, r3, r4, r5)
{
	if ((uint32_t)r2 >= percpu_slots())
		return 0;
	return (uintptr_t)percpu_at((unsigned)r2, (uint32_t)r1);
}

HELPER_FN(this_cpu_ptr, r1, r2, r3, r4, r5)
{
	return (uintptr_t)percpu_this((uint32_t)r1);
}
