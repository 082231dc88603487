/* SPDX-License-Identifier: BSD-2-Clause */
/* What a map's values hold for helpers only (locks, timers), and strings that are constant. */
#include "verify/ver.h"

#include <inttypes.h>
#include <string.h>

#include "isa/format.h"

static const struct {
	const char *name;
	uint32_t size;
} fields[VERIFY_SPECIALS] = { [SPECIAL_LOCK] = { "bpf_spin_lock", 4 },
			      [SPECIAL_TIMER] = { "bpf_timer", 16 },
			      [SPECIAL_WORK] = { "bpf_wq", 16 } };

/* Offset of the field in m's values, UINT32_MAX: there is none. */
uint32_t map_field(const struct ver *v, const struct map_desc *m, enum special which)
{
	uint32_t at[VERIFY_SPECIALS];

	if (!v->in->map_special)
		return UINT32_MAX;
	v->in->map_special(m, at);
	return at[which];
}

bool map_has(const struct ver *v, const struct map_desc *m, enum special which)
{
	return map_field(v, m, which) != UINT32_MAX;
}

/* Locks and timers in a value are for their helpers only. */
int special_check(struct ver *v, unsigned addr, int32_t off, uint32_t size)
{
	const struct reg *r = reg(v, addr);

	for (enum special i = 0; i < VERIFY_SPECIALS; i++) {
		uint32_t at = map_field(v, r->map, i);

		if (at == UINT32_MAX || off + r->s.d.smin >= (int64_t)at + fields[i].size ||
		    off + (int64_t)r->s.d.umax + size <= at)
			continue;
		return fail(v, -EACCES, "%s cannot be accessed directly by load/store",
			    fields[i].name);
	}
	return 0;
}

/* -- which maps a program may use */

static bool is_tracing(uint32_t type)
{
	static const uint64_t types = HELPER_ON(KPROBE) | HELPER_ON(TRACEPOINT) |
				      HELPER_ON(PERF_EVENT) | HELPER_ON(RAW_TRACEPOINT) |
				      HELPER_ON(RAW_TRACEPOINT_WRITABLE);

	return type < 64 && types >> type & 1;
}

static bool map_sleeps(uint32_t type)
{
	static const uint8_t types[] = {
		BPF_MAP_TYPE_HASH,
		BPF_MAP_TYPE_LRU_HASH,
		BPF_MAP_TYPE_ARRAY,
		BPF_MAP_TYPE_PERCPU_HASH,
		BPF_MAP_TYPE_PERCPU_ARRAY,
		BPF_MAP_TYPE_LRU_PERCPU_HASH,
		BPF_MAP_TYPE_ARRAY_OF_MAPS,
		BPF_MAP_TYPE_HASH_OF_MAPS,
		BPF_MAP_TYPE_RINGBUF,
		BPF_MAP_TYPE_INODE_STORAGE,
		BPF_MAP_TYPE_SK_STORAGE,
		BPF_MAP_TYPE_TASK_STORAGE,
		BPF_MAP_TYPE_QUEUE,
		BPF_MAP_TYPE_STACK,
		BPF_MAP_TYPE_USER_RINGBUF,
		MAP_TYPE_CGRP_STORAGE,
		MAP_TYPE_ARENA,
	};

	return memchr(types, (int)type, sizeof(types)) != NULL;
}

static int map_check(struct ver *v, const struct map_desc *m)
{
	uint32_t type = v->in->prog_type;

	if (map_has(v, m, SPECIAL_LOCK) && type == BPF_PROG_TYPE_SOCKET_FILTER)
		return fail(v, -EINVAL, "socket filter progs cannot use bpf_spin_lock yet");
	for (enum special i = 0; i < VERIFY_SPECIALS && is_tracing(type); i++) {
		if (map_has(v, m, i))
			return fail(v, -EINVAL, "tracing progs cannot use %s yet", fields[i].name);
	}
	if (v->in->sleepable && !map_sleeps(m->type))
		return fail(v, -EINVAL,
			    "Sleepable programs can only use array, hash, ringbuf and local "
			    "storage maps");
	return 0;
}

int maps_check(struct ver *v)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < v->u->n_refs; i++) {
		if (v->u->refs[i].kind == REF_MAP)
			err = map_check(v, v->u->refs[i].map);
	}
	return err;
}

/* -- arguments */

/* Register n points to exactly this field of its map's values. */
static int field_check(struct ver *v, unsigned n, enum special which)
{
	const struct reg *r = reg(v, n);
	const char *name = fields[which].name;
	uint32_t at = map_field(v, r->map, which);
	int64_t off = r->off + (int64_t)r->s.d.val;

	if (!scalar_is_one(&r->s))
		return fail(v, -EINVAL,
			    "R%u doesn't have constant offset. %s has to be at the constant offset",
			    n, name);
	if (!r->map->btf_id)
		return fail(v, -EINVAL, "map '%s' has to have BTF in order to use %s", r->map->name,
			    name);
	if (at == UINT32_MAX)
		return fail(v, -EINVAL, "map '%s' has no valid %s", r->map->name, name);
	if (off != at)
		return fail(v, -EINVAL,
			    "off %" PRId64 " doesn't point to 'struct %s' that is at %u", off, name,
			    at);
	return 0;
}

/* One lock at a time. An element is its map and the look-up that gave it (id), so two look-ups of
 * one key count as two. */
int lock_arg(struct ver *v, unsigned n, bool take)
{
	const struct reg *r = reg(v, n);
	struct state *s = v->cur;
	int err = field_check(v, n, SPECIAL_LOCK);

	if (err)
		return err;
	if (take && s->lock)
		return fail(v, -EINVAL, "Locking two bpf_spin_locks are not allowed");
	if (!take && !s->lock)
		return fail(v, -EINVAL, "bpf_spin_unlock without taking a lock");
	if (!take && (s->lock != r->map || s->lock_id != r->id))
		return fail(v, -EINVAL, "bpf_spin_unlock of different lock");
	s->lock = take ? r->map : NULL;
	s->lock_id = take ? r->id : 0;
	return 0;
}

int timer_arg(struct ver *v, struct call *c, unsigned n)
{
	int err = field_check(v, n, SPECIAL_TIMER);

	c->timer = n;
	c->map_reg = *reg(v, n);
	c->map = &c->map_reg;
	return err;
}

/* The map of a timer is the one that it lies in; inner maps are told apart by their look-up. */
int timer_map_check(struct ver *v, const struct call *c, unsigned n)
{
	const struct reg *t = &c->map_reg, *m = reg(v, n);

	if (t->map == m->map && t->uid == m->uid)
		return 0;
	return fail(v, -EINVAL,
		    "timer pointer in R%u map_uid=%u doesn't match map pointer in R%u map_uid=%u",
		    c->timer, t->uid, n, m->uid);
}

/* The bytes of a map that neither programs nor user space can change, NULL when it is not one. */
const uint8_t *map_constant(const struct ver *v, const struct map_desc *m)
{
	if (!m->frozen || !(m->flags & MAP_RDONLY_PROG))
		return NULL;
	for (uint32_t i = 0; i < v->u->n_refs; i++) {
		const struct ref *r = &v->u->refs[i];

		if (r->kind == REF_MAP && r->map == m && r->value)
			return (const uint8_t *)(uintptr_t)r->value;
	}
	return NULL;
}

/* A string that ends inside of a constant map. */
int string_arg(struct ver *v, unsigned n)
{
	const struct reg *r = reg(v, n);
	const struct map_desc *m = r->map;
	int64_t off = r->off + (int64_t)r->s.d.val;
	const uint8_t *bytes = map_constant(v, m);
	int err;

	if (!m->frozen || !(m->flags & MAP_RDONLY_PROG))
		return fail(v, -EACCES, "R%u does not point to a readonly map'", n);
	if (!scalar_is_one(&r->s))
		return fail(v, -EACCES, "R%u is not a constant address'", n);
	if (!bytes)
		return fail(v, -EACCES, "no direct value access support for this map type");
	err = map_access(v, n, r->off, m->value_size - (uint32_t)r->off, false, false);
	if (err)
		return err;
	if (!memchr(bytes + off, 0, m->value_size - (size_t)off))
		return fail(v, -EINVAL, "string is not zero-terminated");
	return 0;
}

/* bpf_snprintf: r3 is a format for r5 / 8 numbers. */
int snprintf_check(struct ver *v)
{
	const struct reg *fmt = reg(v, 3), *size = reg(v, 5);
	const char *text = (const char *)map_constant(v, fmt->map) + fmt->off + fmt->s.d.val;

	if (size->s.d.val % 8)
		return -EINVAL;
	if (!format_ok(text, (unsigned)(size->s.d.val / 8)))
		return fail(v, -EINVAL, "Invalid format string");
	return 0;
}
