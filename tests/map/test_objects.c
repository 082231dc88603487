/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps whose elements are objects, and what no other test comes to: locks in values, freezing,
 * access flags, redirects, bloom filters, for_each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <urcu-bp.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "side.h"

#define D(t, k, v, n, f)                                                                           \
	(&(struct map_desc){ .type = BPF_MAP_TYPE_##t,                                             \
			     .key_size = k,                                                        \
			     .value_size = v,                                                      \
			     .max_entries = n,                                                     \
			     .flags = f })

static struct map *new_map(const struct map_desc *d)
{
	struct map *m;

	assert_int_equal(map_create(d, &m), 0);
	return m;
}

static void drop(struct map *m)
{
	obj_put(&m->obj);
}

/* An object that tells when it is freed. */
struct thing {
	struct obj obj;
	bool gone;
};

static void thing_free(struct obj *o)
{
	obj_of(o, struct thing, obj)->gone = true;
}

static void thing_init(struct thing *t, uint32_t id)
{
	obj_init(&t->obj, OBJ_PROG, thing_free);
	t->obj.id = id;
	t->gone = false;
}

static void a_prog_array_holds_programs(void **state)
{
	static const struct callee callee[2];
	struct map *m = new_map(D(PROG_ARRAY, 4, 4, 3, 0));
	struct thing t[2];
	uint32_t key = 1, id = 0, bad = 3;

	thing_init(&t[0], 17);
	thing_init(&t[1], 18);
	assert_int_equal(map_lookup(m, &key, &id, 0), -ENOENT);
	assert_int_equal(map_update_obj(m, &bad, &t[0].obj, callee, 0), -E2BIG);
	assert_int_equal(map_update_obj(m, &key, &t[0].obj, callee, BPF_NOEXIST), -EINVAL);
	assert_int_equal(map_update_obj(m, &key, &t[0].obj, callee, 0), 0);
	assert_ptr_equal(m->tail.slot[1], &callee[0]);
	assert_int_equal(map_lookup(m, &key, &id, 0), 0);
	assert_int_equal(id, 17);
	obj_put(&t[0].obj); /* only the map has it now */
	urcu_bp_read_lock();
	assert_int_equal(map_update_obj(m, &key, &t[1].obj, callee + 1, 0), 0);
	assert_ptr_equal(m->tail.slot[1], &callee[1]);
	assert_false(t[0].gone); /* a running program may use it */
	urcu_bp_read_unlock();
	urcu_bp_barrier();
	assert_true(t[0].gone);
	assert_int_equal(map_erase(m, &bad), -E2BIG);
	assert_int_equal(map_erase(m, &key), 0);
	assert_int_equal(map_erase(m, &key), -ENOENT);
	assert_null(m->tail.slot[1]);
	urcu_bp_barrier();
	assert_int_equal(t[1].obj.refs, 1);
	drop(m);
}

static long pages_taken(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* Pages that a few elements may take; a sanitizer's own memory comes on top. Looking at each of
 * 2^24 elements would take 32,768 and more. */
#if defined(__SANITIZE_ADDRESS__)
enum { FEW_PAGES = 20000 };
#else
enum { FEW_PAGES = 2000 };
#endif

/* Giving up a large array does not look at what was never used, which may be gigabytes. */
static void unused_elements_cost_nothing(void **state)
{
	static const struct callee callee;
	struct map *m = new_map(D(PROG_ARRAY, 4, 4, 1 << 24, 0));
	uint32_t keys[] = { 0, 7, 70000 };
	long pages = pages_taken();
	struct thing t;

	thing_init(&t, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(map_update_obj(m, &keys[i], &t.obj, &callee, 0), 0);
	assert_int_equal(map_erase(m, &keys[1]), 0);
	map_drop_refs(m);
	for (int i = 0; i < 3; i++)
		assert_null(m->tail.slot[keys[i]]);
	urcu_bp_barrier();
	assert_int_equal(t.obj.refs, 1);
	assert_int_equal(map_update_obj(m, &keys[2], &t.obj, &callee, 0), 0);
	drop(m);
	assert_int_equal(t.obj.refs, 1);
	assert_in_range(pages_taken() - pages, 0, FEW_PAGES);
}

/* After fork() both sides can replace elements, and give references back. */
static void a_child_replaces_programs_too(void **state)
{
	static const struct callee callee;
	struct map *m = new_map(D(PROG_ARRAY, 4, 4, 3, 0));
	struct thing t[2];
	uint32_t key = 0;
	pid_t child;
	int status;

	thing_init(&t[0], 1);
	thing_init(&t[1], 2);
	assert_int_equal(map_update_obj(m, &key, &t[0].obj, &callee, 0), 0);
	assert_int_equal(map_update_obj(m, &key, &t[1].obj, &callee, 0), 0);
	child = fork();
	assert_int_equal(map_update_obj(m, &key, &t[0].obj, &callee, 0), 0);
	obj_put(&t[1].obj);
	urcu_bp_barrier();
	if (!child)
		_exit(!t[1].gone);
	assert_true(t[1].gone);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	drop(m);
}

/* The fd is a client's: he cannot cut the memory off. */
static void the_region_keeps_its_size(void **state)
{
	struct map *m = new_map(D(ARRAY, 4, 8, 100, BPF_F_MMAPABLE));

	assert_int_equal(ftruncate(m->fd, 0), -1);
	drop(m);
}

static void maps_of_maps(uint32_t type)
{
	struct map *in[3];
	struct map_desc d = { .type = type, .key_size = 4, .value_size = 4, .max_entries = 2 };
	struct map *m;
	uint32_t key = 1, id, third = 9;

	in[0] = new_map(D(HASH, 4, 8, 10, 0));
	in[1] = new_map(D(HASH, 4, 8, 99, 0)); /* other max_entries are allowed */
	in[2] = new_map(D(HASH, 4, 16, 10, 0));
	in[0]->obj.id = 5;
	in[1]->obj.id = 6;
	d.inner = &in[0]->desc;
	m = new_map(&d);
	assert_null(m->ops->lookup(m, &key));
	assert_int_equal(map_update_obj(m, &key, &in[2]->obj, in[2], 0), -EINVAL);
	assert_int_equal(map_update_obj(m, &key, &in[0]->obj, in[0], 0), 0);
	assert_ptr_equal(m->ops->lookup(m, &key), in[0]);
	assert_int_equal(map_update_obj(m, &key, &in[1]->obj, in[1], 0), 0);
	assert_ptr_equal(m->ops->lookup(m, &key), in[1]);
	assert_int_equal(map_lookup(m, &key, &id, 0), 0);
	assert_int_equal(id, 6);
	assert_int_equal(map_lookup(m, &third, &id, 0), -ENOENT);
	urcu_bp_barrier();
	assert_int_equal(in[0]->obj.refs, 1);
	assert_int_equal(in[1]->obj.refs, 2);
	assert_int_equal(map_erase(m, &key), 0);
	assert_null(m->ops->lookup(m, &key));
	urcu_bp_barrier();
	assert_int_equal(in[1]->obj.refs, 1);
	assert_int_equal(map_update_obj(m, &key, &in[1]->obj, in[1], 0), 0);
	drop(m);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(in[i]->obj.refs, 1);
		drop(in[i]);
	}
}

static void an_array_of_maps_gives_maps(void **state)
{
	maps_of_maps(BPF_MAP_TYPE_ARRAY_OF_MAPS);
}

static void a_hash_of_maps_gives_maps(void **state)
{
	maps_of_maps(BPF_MAP_TYPE_HASH_OF_MAPS);
}

static void inner_arrays_have_one_size(void **state)
{
	struct map *small = new_map(D(ARRAY, 4, 8, 2, 0)), *big = new_map(D(ARRAY, 4, 8, 3, 0));
	struct map *any = new_map(D(ARRAY, 4, 8, 3, BPF_F_INNER_MAP));
	struct map_desc d = *D(ARRAY_OF_MAPS, 4, 4, 2, 0);
	struct map *m;
	uint32_t key = 0;

	d.inner = &small->desc;
	m = new_map(&d);
	assert_int_equal(map_update_obj(m, &key, &small->obj, small, 0), 0);
	assert_int_equal(map_update_obj(m, &key, &big->obj, big, 0), -EINVAL);
	drop(m);
	d.inner = &any->desc;
	m = new_map(&d);
	assert_int_equal(map_update_obj(m, &key, &any->obj, any, 0), 0);
	assert_int_equal(map_update_obj(m, &key, &big->obj, big, 0), -EINVAL);
	drop(m);
	urcu_bp_barrier();
	drop(small);
	drop(big);
	drop(any);
}

struct locked {
	uint32_t before, lock;
	uint64_t after;
};

static void spin_locks_stay_out_of_copies(uint32_t type)
{
	struct map_desc d = {
		.type = type, .key_size = 4, .value_size = sizeof(struct locked), .max_entries = 4
	};
	struct map *m = new_map(&d);
	struct locked v = { 1, 77, 2 }, out;
	struct locked *at;
	uint32_t key = 3;

	m->desc.spin_lock_off = offsetof(struct locked, lock);
	assert_int_equal(map_update(m, &key, &v, 0), 0);
	at = m->ops->lookup(m, &key);
	assert_int_equal(at->lock, 0);
	assert_int_equal(at->after, 2);
	v.after = 3;
	assert_int_equal(map_update(m, &key, &v, BPF_F_LOCK | BPF_EXIST), 0);
	assert_ptr_equal(m->ops->lookup(m, &key), at); /* in place */
	assert_int_equal(at->after, 3);
	at->lock = 0;
	assert_int_equal(map_lookup(m, &key, &out, BPF_F_LOCK), 0);
	assert_int_equal(at->lock, 0);
	at->lock = 1;
	assert_int_equal(map_lookup(m, &key, &out, 0), 0);
	assert_int_equal(out.lock, 0);
	assert_int_equal(out.before + out.after, 4);
	at->lock = 0;
	assert_int_equal(map_freeze(m), -524);
	drop(m);
}

static void values_with_a_spin_lock(void **state)
{
	spin_locks_stay_out_of_copies(BPF_MAP_TYPE_HASH);
	spin_locks_stay_out_of_copies(BPF_MAP_TYPE_ARRAY);
}

struct timed {
	uint32_t before;
	uint32_t pad;
	uint64_t timer[2], after;
};

static void values_with_a_timer(void **state)
{
	struct map *m = new_map(D(HASH, 4, sizeof(struct timed), 4, 0));
	struct timed v = { 1, 0, { 5, 6 }, 2 }, out, *at;
	uint32_t key = 1;

	m->desc.timer_off = offsetof(struct timed, timer);
	assert_int_equal(map_update(m, &key, &v, 0), 0);
	at = m->ops->lookup(m, &key);
	assert_int_equal(at->timer[0] | at->timer[1], 0);
	assert_int_equal(at->before + at->after, 3);
	at->timer[0] = 9;
	assert_int_equal(map_lookup(m, &key, &out, 0), 0);
	assert_int_equal(out.timer[0], 0);
	assert_int_equal(map_freeze(m), -524);
	drop(m);
}

static void frozen_maps_and_access_flags(void **state)
{
	struct map *m = new_map(D(ARRAY, 4, 8, 2, BPF_F_MMAPABLE));
	uint32_t key = 0;
	uint64_t v = 1;
	void *p;

	assert_int_equal(map_update(m, &key, &v, 0), 0);
	assert_int_equal(map_freeze(m), 0);
	assert_int_equal(map_freeze(m), -EBUSY);
	assert_int_equal(map_update(m, &key, &v, 0), -EPERM);
	assert_int_equal(m->ops->update(m, &key, &v, 0), 0); /* programs still may */
	assert_int_equal(map_mmap(m, 0, 4096, PROT_READ | PROT_WRITE, &p), -EPERM);
	assert_int_equal(map_mmap(m, 0, 4096, PROT_READ, &p), 0);
	assert_int_equal(*(uint64_t *)p, 1);
	munmap(p, 4096);
	drop(m);
	m = new_map(D(HASH, 4, 8, 2, BPF_F_WRONLY));
	assert_int_equal(map_update(m, &key, &v, 0), 0);
	assert_int_equal(map_lookup(m, &key, &v, 0), -EPERM);
	assert_int_equal(map_next_key(m, NULL, &key), -EPERM);
	assert_int_equal(map_lookup_erase(m, &key, &v, 0), -EPERM);
	drop(m);
	m = new_map(D(HASH, 4, 8, 2, BPF_F_RDONLY));
	assert_int_equal(map_update(m, &key, &v, 0), -EPERM);
	assert_int_equal(map_erase(m, &key), -EPERM);
	assert_int_equal(map_lookup(m, &key, &v, 0), -ENOENT);
	drop(m);
}

static void mapped_values_are_the_map(void **state)
{
	struct map *m = new_map(D(ARRAY, 4, 8, 1000, BPF_F_MMAPABLE));
	uint32_t key = 600;
	uint64_t v = 5, *p;

	assert_int_equal(map_mmap(m, 4096, 4096, PROT_READ | PROT_WRITE, (void **)&p), 0);
	assert_int_equal(map_update(m, &key, &v, 0), 0);
	assert_int_equal(p[600 - 512], 5);
	p[600 - 512] = 6;
	assert_int_equal(map_lookup(m, &key, &v, 0), 0);
	assert_int_equal(v, 6);
	munmap(p, 4096);
	assert_int_equal(map_mmap(m, 0, 1 << 20, PROT_READ, (void **)&p), -EINVAL);
	drop(m);
}

static void redirects_name_an_action(void **state)
{
	struct map *m = new_map(D(DEVMAP, 4, 4, 2, 0)), *cpu = new_map(D(CPUMAP, 4, 4, 1, 0));
	struct map *sock = new_map(D(XSKMAP, 4, 4, 2, 0));
	uint32_t key = 1, ifindex = 7, zero = 0, fd = 0;

	assert_int_equal(m->ops->redirect(m, 1, 2), 2); /* empty: the flags' action */
	assert_int_equal(m->ops->redirect(m, 5, 1), 1);
	assert_int_equal(map_update(m, &key, &ifindex, 0), 0);
	assert_int_equal(m->ops->redirect(m, 1, 2), 4);
	assert_int_equal(*(uint32_t *)m->ops->lookup(m, &key), 7);
	assert_int_equal(m->ops->redirect(m, 1, 64), 0); /* no such flag */
	assert_int_equal(m->ops->redirect(m, 0, BPF_F_BROADCAST), 4);
	assert_int_equal(cpu->ops->redirect(cpu, 0, BPF_F_BROADCAST), 0);
	assert_int_equal(map_update(cpu, &zero, &ifindex, 0), 0);
	assert_int_equal(cpu->ops->redirect(cpu, 0, 0), 4);
	assert_int_equal(map_update(sock, &key, &(int){ -1 }, 0), -EBADF);
	assert_int_equal(map_update(sock, &key, &fd, 1u << 4), -EINVAL);
	assert_int_equal(map_lookup(sock, &key, &fd, 0), -EOPNOTSUPP);
	drop(m);
	drop(cpu);
	drop(sock);
}

static void a_bloom_filter_forgets_nothing(void **state)
{
	struct map *m = new_map(D(BLOOM_FILTER, 0, 8, 1000, 0));
	int wrong = 0;

	for (uint64_t v = 0; v < 1000; v++)
		assert_int_equal(map_update(m, NULL, &v, 0), 0);
	for (uint64_t v = 0; v < 1000; v++)
		assert_int_equal(map_lookup(m, NULL, &v, 0), 0);
	for (uint64_t v = 1000; v < 11000; v++)
		wrong += !map_lookup(m, NULL, &v, 0);
	assert_true(wrong < 1000);
	assert_int_equal(map_update(m, NULL, &(uint64_t){ 1 }, BPF_NOEXIST), -EINVAL);
	assert_int_equal(map_erase(m, NULL), -EOPNOTSUPP);
	assert_int_equal(map_next_key(m, NULL, &wrong), -EOPNOTSUPP);
	drop(m);
}

struct seen {
	uint64_t n, sum, stop;
};

static uint64_t count(BPF_PARAMS(uint64_t map, uint64_t key, uint64_t value, uint64_t ctx,
				 uint64_t r5))
{
	struct seen *s = (struct seen *)(uintptr_t)ctx;

	s->n++;
	s->sum += *(uint64_t *)(uintptr_t)value;
	return s->n == s->stop;
}

static void for_each_sees_every_element(void **state)
{
	static const uint32_t types[] = { BPF_MAP_TYPE_ARRAY, BPF_MAP_TYPE_HASH,
					  BPF_MAP_TYPE_LRU_HASH, BPF_MAP_TYPE_PERCPU_HASH,
					  BPF_MAP_TYPE_PERCPU_ARRAY };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		struct map_desc d = {
			.type = types[i], .key_size = 4, .value_size = 8, .max_entries = 100
		};
		struct map *m = new_map(&d);
		struct seen s = { 0 }, part = { .stop = 7 };

		for (uint32_t key = 0; key < 100; key++)
			assert_int_equal(m->ops->update(m, &key, &(uint64_t){ key }, 0), 0);
		assert_int_equal(m->ops->for_each(m, (uintptr_t)count, (uintptr_t)&s), 100);
		assert_int_equal(s.n, 100);
		assert_int_equal(s.sum, 4950);
		assert_int_equal(m->ops->for_each(m, (uintptr_t)count, (uintptr_t)&part), 7);
		drop(m);
	}
}

/* Each slot has its own value; a program's update of a new element leaves zeros in the others. */
static void per_cpu_values_are_apart(void **state)
{
	struct map *m = new_map(D(PERCPU_HASH, 4, 4, 10, 0));
	uint32_t key = 1, value = 5;
	uint64_t all[PERCPU_SLOTS_MAX];

	memset(all, 0xff, sizeof(all));
	assert_int_equal(map_update(m, &key, all, 0), 0);
	assert_int_equal(map_erase(m, &key), 0);
	percpu_self = percpu_base(percpu_slots() - 1);
	assert_int_equal(m->ops->update(m, &key, &value, 0), 0);
	assert_int_equal(*(uint32_t *)m->ops->lookup(m, &key), 5);
	percpu_self = NULL;
	assert_int_equal(map_lookup(m, &key, all, 0), 0);
	for (unsigned i = 0; i < percpu_slots(); i++)
		assert_int_equal((uint32_t)all[i], i == percpu_slots() - 1 ? 5 : 0);
	assert_non_null(m->ops->lookup_percpu(m, &key, 0));
	assert_null(m->ops->lookup_percpu(m, &key, percpu_slots()));
	drop(m);
}

/* Looking through a large map with few elements does not take its whole size. */
static void sparse_maps_stay_sparse(void **state)
{
	struct map *m = new_map(D(HASH, 8, 64, 10000000, BPF_F_NO_PREALLOC));
	uint64_t key, next, n = 0, *from = NULL;
	struct seen s = { 0 };
	struct stat st;

	for (key = 0; key < 100; key++)
		assert_int_equal(m->ops->update(m, &key, (uint64_t[8]){ 1 }, 0), 0);
	for (; !map_next_key(m, from, &next); n++, from = &key)
		key = next;
	assert_int_equal(n, 100);
	assert_int_equal(m->ops->for_each(m, (uintptr_t)count, (uintptr_t)&s), 100);
	assert_int_equal(fstat(m->fd, &st), 0);
	assert_true(st.st_blocks * 512 < 4 << 20);
	drop(m);
}

/* Nothing leaks and nothing is half done when the n-th allocation fails. */
static void creation_survives_lack_of_memory(void **state)
{
	struct map_desc inner = *D(ARRAY, 4, 8, 1, 0);

	for (uint32_t type = 1; type <= BPF_MAP_TYPE_BLOOM_FILTER; type++)
		for (unsigned long n = 1; n < 6; n++) {
			struct map_desc d = { .type = type,
					      .key_size = 4,
					      .value_size = 4,
					      .max_entries = 4096,
					      .inner = &inner };
			struct map *m;
			const struct map_type *t = map_type_find(type);

			if (!t)
				continue;
			d.key_size = t->no_key ? 0 : type == BPF_MAP_TYPE_LPM_TRIE ? 8 : 4;
			d.value_size = type == BPF_MAP_TYPE_RINGBUF ? 0 : 4;
			d.flags = type == BPF_MAP_TYPE_LPM_TRIE ? BPF_F_NO_PREALLOC : 0;
			mem_fail_at(n, 1);
			if (!map_create(&d, &m))
				drop(m);
			mem_fail_at(0, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prog_array_holds_programs),
		cmocka_unit_test(unused_elements_cost_nothing),
		cmocka_unit_test(a_child_replaces_programs_too),
		cmocka_unit_test(the_region_keeps_its_size),
		cmocka_unit_test(an_array_of_maps_gives_maps),
		cmocka_unit_test(a_hash_of_maps_gives_maps),
		cmocka_unit_test(inner_arrays_have_one_size),
		cmocka_unit_test(values_with_a_spin_lock),
		cmocka_unit_test(values_with_a_timer),
		cmocka_unit_test(frozen_maps_and_access_flags),
		cmocka_unit_test(mapped_values_are_the_map),
		cmocka_unit_test(redirects_name_an_action),
		cmocka_unit_test(a_bloom_filter_forgets_nothing),
		cmocka_unit_test(for_each_sees_every_element),
		cmocka_unit_test(per_cpu_values_are_apart),
		cmocka_unit_test(sparse_maps_stay_sparse),
		cmocka_unit_test(creation_survives_lack_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
