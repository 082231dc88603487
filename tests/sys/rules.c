/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribute rules and errno, call by call, against the running kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sides.h"

static uint64_t bad_ptr(void)
{
	return 8;
}

static uint64_t addr(const void *p)
{
	return (uintptr_t)p;
}

static const uint32_t key0, key9 = 9;
static uint64_t value[512];

/* ---- MAP_CREATE ---- */
static struct attr_map_create hash_attr(void)
{
	return (struct attr_map_create){
		.map_type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 8, .max_entries = 4
	};
}

#define CREATE(id, ...)                                                                            \
	static void create_##id(union attr *a, const struct side *s)                               \
	{                                                                                          \
		struct attr_map_create *c = &a->map_create;                                        \
                                                                                                   \
		*c = hash_attr();                                                                  \
		__VA_ARGS__;                                                                       \
	}
CREATE(ok, (void)c)
CREATE(type_0, c->map_type = 0)
CREATE(type_999, c->map_type = 999)
CREATE(key_0, c->key_size = 0)
CREATE(value_0, c->value_size = 0)
CREATE(entries_0, c->max_entries = 0)
CREATE(huge_key, c->key_size = 1 << 24)
CREATE(huge_value, c->value_size = 1u << 31)
CREATE(flags, c->map_flags = 1u << 30)
CREATE(rdonly, c->map_flags = BPF_F_RDONLY)
CREATE(rdonly_wronly, c->map_flags = BPF_F_RDONLY | BPF_F_WRONLY)
CREATE(mmapable, c->map_flags = BPF_F_MMAPABLE)
CREATE(name, memcpy(c->map_name, "a.b_C9", 7))
CREATE(name_space, memcpy(c->map_name, "a b", 4))
CREATE(name_long, memset(c->map_name, 'x', 16))
CREATE(extra, c->map_extra = 1)
CREATE(ifindex, c->map_ifindex = 100000)
CREATE(numa, c->map_flags = BPF_F_NUMA_NODE; c->numa_node = 0)
CREATE(numa_bad, c->map_flags = BPF_F_NUMA_NODE; c->numa_node = 100000)
CREATE(numa_unused, c->numa_node = 100000)
CREATE(key_type_only, c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = 1)
CREATE(btf, c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = 1; c->btf_value_type_id = 1)
CREATE(btf_ok, c->value_size = 4; c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = 1;
       c->btf_value_type_id = 2)
CREATE(btf_no_key, c->value_size = 4; c->btf_fd = (uint32_t)s->btf; c->btf_value_type_id = 2)
CREATE(btf_key_9, c->value_size = 4; c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = 9;
       c->btf_value_type_id = 2)
CREATE(btf_fd_bad, c->btf_fd = 12345; c->btf_key_type_id = 1; c->btf_value_type_id = 1)
CREATE(btf_fd_map, c->btf_fd = (uint32_t)s->hash; c->btf_key_type_id = 1; c->btf_value_type_id = 1)
CREATE(btf_fd_unused, c->btf_fd = 12345)
CREATE(vmlinux, c->btf_vmlinux_value_type_id = 1)
CREATE(token, c->map_token_fd = 3; c->map_flags = 1 << 16)
CREATE(inner_unused, c->inner_map_fd = 12345)
CREATE(outer, c->map_type = BPF_MAP_TYPE_HASH_OF_MAPS; c->value_size = 4;
       c->inner_map_fd = (uint32_t)s->array)
CREATE(outer_bad, c->map_type = BPF_MAP_TYPE_HASH_OF_MAPS; c->value_size = 4;
       c->inner_map_fd = 12345)
CREATE(outer_prog, c->map_type = BPF_MAP_TYPE_HASH_OF_MAPS; c->value_size = 4;
       c->inner_map_fd = (uint32_t)s->prog)
CREATE(outer_outer, c->map_type = BPF_MAP_TYPE_HASH_OF_MAPS; c->value_size = 4;
       c->inner_map_fd = (uint32_t)s->outer)
CREATE(outer_prog_array, c->map_type = BPF_MAP_TYPE_HASH_OF_MAPS; c->value_size = 4;
       c->inner_map_fd = (uint32_t)s->prog_array)
CREATE(array_btf, c->map_type = BPF_MAP_TYPE_ARRAY; c->value_size = 4; c->btf_fd = (uint32_t)s->btf;
       c->btf_key_type_id = 1; c->btf_value_type_id = 2)
CREATE(array_struct_key, c->map_type = BPF_MAP_TYPE_ARRAY; c->value_size = 4;
       c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = 2; c->btf_value_type_id = 2)
CREATE(array_no_key, c->map_type = BPF_MAP_TYPE_ARRAY; c->value_size = 4; c->max_entries = 1;
       c->btf_fd = (uint32_t)s->btf; c->btf_value_type_id = 2)
CREATE(queue_btf, c->map_type = BPF_MAP_TYPE_QUEUE; c->key_size = 0; c->value_size = 4;
       c->btf_fd = (uint32_t)s->btf; c->btf_value_type_id = 2)
#define TYPED(id, type, key, size, btf_key, btf_value)                                             \
	CREATE(id, c->map_type = BPF_MAP_TYPE_##type; c->key_size = (key); c->value_size = (size); \
	       c->btf_fd = (uint32_t)s->btf; c->btf_key_type_id = (btf_key);                       \
	       c->btf_value_type_id = btf_value)
TYPED(lock, HASH, 4, 8, 1, 4)
TYPED(lock_second, HASH, 4, 8, 1, 10)
TYPED(lock_array, ARRAY, 4, 8, 1, 4)
TYPED(lock_lru, LRU_HASH, 4, 8, 1, 4)
TYPED(lock_percpu, PERCPU_ARRAY, 4, 8, 1, 4)
TYPED(lock_queue, QUEUE, 0, 8, 0, 4)
TYPED(lock_twice, HASH, 4, 16, 1, 7)
TYPED(lock_nested, HASH, 4, 8, 1, 8)
TYPED(lock_key, HASH, 8, 8, 4, 4)
TYPED(timer, HASH, 4, 16, 1, 6)
TYPED(timer_lru, LRU_HASH, 4, 16, 1, 6)
TYPED(timer_percpu, PERCPU_HASH, 4, 16, 1, 6)
TYPED(timer_misaligned, HASH, 4, 20, 1, 11)
TYPED(int_array_value, HASH, 4, 8, 1, 9)
TYPED(int_array_key, HASH, 8, 8, 9, 9)
TYPED(void_value, HASH, 4, 8, 1, 0)
TYPED(percpu_array, PERCPU_ARRAY, 4, 4, 1, 1)
TYPED(percpu_struct_key, PERCPU_ARRAY, 4, 4, 2, 1)
TYPED(prog_array, PROG_ARRAY, 4, 4, 1, 1)
TYPED(perf, PERF_EVENT_ARRAY, 4, 4, 1, 1)
TYPED(stack, STACK, 0, 4, 0, 1)
TYPED(bloom, BLOOM_FILTER, 0, 4, 0, 1)
TYPED(devmap, DEVMAP, 4, 4, 1, 1)
TYPED(cpumap, CPUMAP, 4, 4, 1, 1)
TYPED(lpm_int, LPM_TRIE, 4, 4, 1, 1; c->map_flags = BPF_F_NO_PREALLOC)
TYPED(lpm_struct, LPM_TRIE, 8, 4, 4, 1; c->map_flags = BPF_F_NO_PREALLOC)
TYPED(outer_typed, HASH_OF_MAPS, 4, 4, 1, 1; c->inner_map_fd = (uint32_t)s->hash)
CREATE(bloom_extra, c->map_type = BPF_MAP_TYPE_BLOOM_FILTER; c->key_size = 0; c->map_extra = 3)
CREATE(ring, c->map_type = BPF_MAP_TYPE_RINGBUF; c->key_size = c->value_size = 0;
       c->max_entries = 4096)
CREATE(ring_btf, c->map_type = BPF_MAP_TYPE_RINGBUF; c->key_size = c->value_size = 0;
       c->max_entries = 4096; c->btf_fd = (uint32_t)s->btf; c->btf_value_type_id = 2)
CREATE(tail, a->bytes[120] = 1)

/* ---- elements ---- */
#define ELEM(id, map, k, v, f)                                                                     \
	static void elem_##id(union attr *a, const struct side *s)                                 \
	{                                                                                          \
		a->elem = (struct attr_elem){                                                      \
			.map_fd = (uint32_t)(map), .key = (k), .value = (v), .flags = (f)          \
		};                                                                                 \
	}
ELEM(hash, s->hash, addr(&key0), addr(value), 0)
ELEM(hash_9, s->hash, addr(&key9), addr(value), 0)
ELEM(bad_fd, 12345, addr(&key0), addr(value), 0)
ELEM(fd_0, 0, addr(&key0), addr(value), 0)
ELEM(prog_fd, s->prog, addr(&key0), addr(value), 0)
ELEM(flags_lock, s->hash, addr(&key0), addr(value), BPF_F_LOCK)
ELEM(flags_8, s->hash, addr(&key0), addr(value), 8)
ELEM(flags_exist, s->hash, addr(&key9), addr(value), BPF_EXIST)
ELEM(flags_noexist, s->array, addr(&key0), addr(value), BPF_NOEXIST)
ELEM(key_bad, s->hash, bad_ptr(), addr(value), 0)
ELEM(key_null, s->hash, 0, addr(value), 0)
ELEM(value_bad, s->hash, addr(&key0), bad_ptr(), 0)
ELEM(value_bad_9, s->hash, addr(&key9), bad_ptr(), 0)
ELEM(array_9, s->array, addr(&key9), addr(value), 0)
ELEM(ro, s->ro_array, addr(&key0), addr(value), 0)
ELEM(queue, s->queue, 0, addr(value), 0)
ELEM(queue_key, s->queue, addr(&key0), addr(value), 0)
ELEM(outer, s->outer, addr(&key0), addr(&sides[s - sides].array), 0)
ELEM(outer_hash, s->outer, addr(&key0), addr(&sides[s - sides].hash), 0)
ELEM(outer_prog, s->outer, addr(&key0), addr(&sides[s - sides].prog), 0)
ELEM(progs, s->prog_array, addr(&key0), addr(&sides[s - sides].prog), 0)
ELEM(progs_map, s->prog_array, addr(&key0), addr(&sides[s - sides].hash), 0)
ELEM(progs_exist, s->prog_array, addr(&key0), addr(&sides[s - sides].prog), BPF_EXIST)
ELEM(ring, s->ring, addr(&key0), addr(value), 0)
ELEM(percpu, s->percpu, addr(&key0), addr(value), 0)
static void elem_delete_value(union attr *a, const struct side *s)
{
	elem_hash(a, s);
}
static void elem_delete(union attr *a, const struct side *s)
{
	a->elem = (struct attr_elem){ .map_fd = (uint32_t)s->hash, .key = addr(&key9) };
}
static void elem_delete_array(union attr *a, const struct side *s)
{
	a->elem = (struct attr_elem){ .map_fd = (uint32_t)s->array, .key = addr(&key0) };
}
static void elem_freeze(union attr *a, const struct side *s)
{
	a->elem.map_fd = (uint32_t)s->percpu;
}
static void elem_tail(union attr *a, const struct side *s)
{
	elem_hash(a, s);
	a->bytes[sizeof(struct attr_elem)] = 1;
}

/* ---- the others ---- */
#define OTHER(id, ...)                                                                             \
	static void id(union attr *a, const struct side *s)                                        \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}
OTHER(nothing, (void)a)
OTHER(info_ok, a->info.bpf_fd = (uint32_t)s->prog; a->info.info_len = 8; a->info.info = addr(value))
OTHER(info_bad_fd, a->info.bpf_fd = 12345; a->info.info_len = 8; a->info.info = addr(value))
OTHER(info_stdin, a->info.bpf_fd = 0; a->info.info_len = 8; a->info.info = addr(value))
OTHER(info_ptr, a->info.bpf_fd = (uint32_t)s->prog; a->info.info_len = 8; a->info.info = bad_ptr())
OTHER(info_map_ptr, a->info.bpf_fd = (uint32_t)s->hash; a->info.info_len = 80; a->info.info = 0)
OTHER(info_tail, value[100] = 1; a->info.bpf_fd = (uint32_t)s->prog; a->info.info_len = 1024;
      a->info.info = addr(value))
OTHER(info_zero_tail, value[100] = 0; a->info.bpf_fd = (uint32_t)s->hash; a->info.info_len = 1024;
      a->info.info = addr(value))
OTHER(info_zero_len, a->info.bpf_fd = (uint32_t)s->hash; a->info.info = addr(value))
OTHER(info_btf, memset(value, 0, sizeof(value)); a->info.bpf_fd = (uint32_t)s->btf;
      a->info.info_len = 32; a->info.info = addr(value))
OTHER(id_max, a->id.id = 0x7fffffff)
OTHER(id_far, a->id.id = 0x7ffffffe)
OTHER(id_tail, a->id.open_flags = 1)
OTHER(pin_flags, a->obj.bpf_fd = (uint32_t)s->hash; a->obj.file_flags = 1)
OTHER(pin_path_fd, a->obj.bpf_fd = (uint32_t)s->hash; a->obj.path_fd = 1;
      a->obj.pathname = addr("/"))
OTHER(pin_fd, a->obj.bpf_fd = 12345; a->obj.pathname = addr("/sys/fs/bpf/x"))
OTHER(pin_stdin, a->obj.bpf_fd = 0; a->obj.pathname = addr("/sys/fs/bpf/x"))
OTHER(pin_btf, a->obj.bpf_fd = (uint32_t)s->btf; a->obj.pathname = addr("/sys/fs/bpf/x"))
OTHER(get_flags, a->obj.file_flags = 1; a->obj.pathname = addr("/sys/fs/bpf/none"))
OTHER(get_fd, a->obj.bpf_fd = 3; a->obj.pathname = addr("/sys/fs/bpf/none"))
OTHER(get_none, a->obj.pathname = addr("/sys/fs/bpf/none"))
OTHER(stats_9, a->enable_stats.type = 9)
OTHER(stats_0, a->enable_stats.type = 0)
OTHER(bind_ok, a->bind_map.prog_fd = (uint32_t)s->prog; a->bind_map.map_fd = (uint32_t)s->hash)
OTHER(bind_flags, a->bind_map.prog_fd = (uint32_t)s->prog; a->bind_map.map_fd = (uint32_t)s->hash;
      a->bind_map.flags = 1)
OTHER(bind_prog, a->bind_map.prog_fd = (uint32_t)s->hash; a->bind_map.map_fd = (uint32_t)s->hash)
OTHER(bind_map, a->bind_map.prog_fd = (uint32_t)s->prog; a->bind_map.map_fd = 12345)
OTHER(link_no_prog, a->link_create.prog_fd = 12345)
OTHER(link_perf, a->link_create.prog_fd = (uint32_t)s->prog; a->link_create.target_fd = ~0u;
      a->link_create.attach_type = BPF_PERF_EVENT)
OTHER(link_type, a->link_create.prog_fd = (uint32_t)s->prog; a->link_create.attach_type = 9999)
OTHER(link_fd, a->link.fd = 12345)
OTHER(link_map, a->link.fd = (uint32_t)s->hash)
OTHER(iter_flags, a->link.flags = 1)
OTHER(attach_type, a->attach.attach_type = 9999)
OTHER(query_type, a->query.attach_type = 9999)
OTHER(task_flags, a->task_fd_query.flags = 1)
OTHER(task_pid, a->task_fd_query.pid = 0x7ffffff0)
OTHER(task_fd, a->task_fd_query.pid = (uint32_t)getpid(); a->task_fd_query.fd = 12345)
OTHER(task_stdin, a->task_fd_query.pid = (uint32_t)getpid(); a->task_fd_query.fd = 0)
OTHER(test_fd, a->test.prog_fd = 12345)
OTHER(test_ctx, a->test.prog_fd = (uint32_t)s->prog; a->test.ctx_size_in = 8)
OTHER(test_ctx_out, a->test.prog_fd = (uint32_t)s->prog; a->test.ctx_out = addr(value))
OTHER(test_no_data, a->test.prog_fd = (uint32_t)s->prog)
OTHER(test_flags, a->test.prog_fd = (uint32_t)s->prog; a->test.flags = 1 << 20)
OTHER(raw_tp_fd, a->raw_tracepoint.prog_fd = 12345)
OTHER(raw_tp_prog, a->raw_tracepoint.prog_fd = (uint32_t)s->prog)
OTHER(btf_empty, (void)a)
OTHER(btf_ptr, a->btf_load.btf = bad_ptr(); a->btf_load.size = 64)
OTHER(btf_huge, a->btf_load.btf = addr(value); a->btf_load.size = 17 << 20)
OTHER(btf_zeros, memset(value, 0, sizeof(value)); a->btf_load.btf = addr(value);
      a->btf_load.size = 64)
OTHER(btf_flags, a->btf_load.flags = 1)
OTHER(btf_log, a->btf_load.log_level = 1; a->btf_load.log_size = 5)

#define C(id)	   { "MAP_CREATE " #id, BPF_MAP_CREATE, create_##id, 0 }
#define E(cmd, id) { #cmd " " #id, BPF_MAP_##cmd, elem_##id, 0 }
#define O(cmd, id) { #cmd " " #id, BPF_##cmd, id, 0 }
static const struct row rows[] = {
	C(ok),
	C(type_0),
	C(type_999),
	C(key_0),
	C(value_0),
	C(entries_0),
	C(huge_key),
	C(huge_value),
	C(flags),
	C(rdonly),
	C(rdonly_wronly),
	C(mmapable),
	C(name),
	C(name_space),
	C(name_long),
	C(extra),
	C(lock),
	C(lock_second),
	C(lock_array),
	C(lock_lru),
	C(lock_percpu),
	C(lock_queue),
	C(lock_twice),
	C(lock_nested),
	C(lock_key),
	C(timer),
	C(timer_lru),
	C(timer_percpu),
	C(timer_misaligned),
	C(int_array_value),
	C(int_array_key),
	C(void_value),
	C(percpu_array),
	C(percpu_struct_key),
	C(prog_array),
	C(perf),
	C(stack),
	C(bloom),
	C(devmap),
	C(cpumap),
	C(lpm_int),
	C(lpm_struct),
	C(outer_typed),
	C(ifindex),
	C(numa),
	C(numa_bad),
	C(numa_unused),
	C(key_type_only),
	C(btf),
	C(btf_ok),
	C(btf_no_key),
	C(btf_key_9),
	C(btf_fd_bad),
	C(btf_fd_map),
	C(btf_fd_unused),
	C(vmlinux),
	C(token),
	C(inner_unused),
	C(outer),
	C(outer_bad),
	C(outer_prog),
	C(outer_outer),
	C(outer_prog_array),
	C(array_btf),
	C(array_struct_key),
	C(array_no_key),
	C(queue_btf),
	C(bloom_extra),
	C(ring),
	C(ring_btf),
	C(tail),
	{ "MAP_CREATE short", BPF_MAP_CREATE, create_ok, 20 },
	{ "MAP_CREATE shorter", BPF_MAP_CREATE, create_ok, 12 },
	{ "MAP_CREATE long", BPF_MAP_CREATE, create_ok, 4096 },
	{ "MAP_CREATE too long", BPF_MAP_CREATE, create_ok, 4097 },
	{ "MAP_CREATE empty", BPF_MAP_CREATE, create_ok, 1 },
	{ "no such command", 9999, create_ok, 0 },
	{ "negative command", -1, create_ok, 0 },
	E(UPDATE_ELEM, hash),
	E(LOOKUP_ELEM, hash),
	E(LOOKUP_ELEM, hash_9),
	E(LOOKUP_ELEM, bad_fd),
	E(LOOKUP_ELEM, fd_0),
	E(LOOKUP_ELEM, prog_fd),
	E(LOOKUP_ELEM, flags_lock),
	E(LOOKUP_ELEM, flags_8),
	E(LOOKUP_ELEM, key_bad),
	E(LOOKUP_ELEM, key_null),
	E(LOOKUP_ELEM, value_bad),
	E(LOOKUP_ELEM, value_bad_9),
	E(LOOKUP_ELEM, array_9),
	E(LOOKUP_ELEM, ro),
	E(LOOKUP_ELEM, queue),
	E(LOOKUP_ELEM, queue_key),
	E(LOOKUP_ELEM, outer),
	E(LOOKUP_ELEM, progs),
	E(LOOKUP_ELEM, ring),
	E(LOOKUP_ELEM, tail),
	E(LOOKUP_ELEM, percpu),
	E(UPDATE_ELEM, hash_9),
	E(UPDATE_ELEM, bad_fd),
	E(UPDATE_ELEM, prog_fd),
	E(UPDATE_ELEM, flags_lock),
	E(UPDATE_ELEM, flags_8),
	E(UPDATE_ELEM, flags_exist),
	E(UPDATE_ELEM, flags_noexist),
	E(UPDATE_ELEM, key_bad),
	E(UPDATE_ELEM, value_bad),
	E(UPDATE_ELEM, array_9),
	E(UPDATE_ELEM, ro),
	E(UPDATE_ELEM, queue),
	E(UPDATE_ELEM, queue_key),
	E(UPDATE_ELEM, outer),
	E(UPDATE_ELEM, outer_hash),
	E(UPDATE_ELEM, outer_prog),
	E(UPDATE_ELEM, progs),
	E(UPDATE_ELEM, progs_map),
	E(UPDATE_ELEM, progs_exist),
	E(UPDATE_ELEM, ring),
	E(UPDATE_ELEM, percpu),
	E(UPDATE_ELEM, tail),
	E(DELETE_ELEM, delete_value),
	E(DELETE_ELEM, delete),
	E(DELETE_ELEM, delete_array),
	{ "DELETE_ELEM again", BPF_MAP_DELETE_ELEM, elem_delete, 0 },
	{ "GET_NEXT_KEY", BPF_MAP_GET_NEXT_KEY, elem_hash, 0 },
	{ "GET_NEXT_KEY first", BPF_MAP_GET_NEXT_KEY, elem_key_null, 0 },
	{ "GET_NEXT_KEY array", BPF_MAP_GET_NEXT_KEY, elem_array_9, 0 },
	{ "GET_NEXT_KEY bad", BPF_MAP_GET_NEXT_KEY, elem_value_bad, 0 },
	{ "GET_NEXT_KEY queue", BPF_MAP_GET_NEXT_KEY, elem_queue, 0 },
	{ "GET_NEXT_KEY ring", BPF_MAP_GET_NEXT_KEY, elem_ring, 0 },
	E(LOOKUP_AND_DELETE_ELEM, queue),
	E(LOOKUP_AND_DELETE_ELEM, queue_key),
	E(LOOKUP_AND_DELETE_ELEM, array_9),
	E(LOOKUP_AND_DELETE_ELEM, hash),
	E(LOOKUP_AND_DELETE_ELEM, hash_9),
	E(LOOKUP_AND_DELETE_ELEM, flags_8),
	{ "FREEZE", BPF_MAP_FREEZE, elem_freeze, 0 },
	{ "FREEZE again", BPF_MAP_FREEZE, elem_freeze, 0 },
	{ "FREEZE key", BPF_MAP_FREEZE, elem_hash, 0 },
	{ "UPDATE_ELEM frozen", BPF_MAP_UPDATE_ELEM, elem_percpu, 0 },
	O(OBJ_GET_INFO_BY_FD, info_ok),
	O(OBJ_GET_INFO_BY_FD, info_bad_fd),
	O(OBJ_GET_INFO_BY_FD, info_stdin),
	O(OBJ_GET_INFO_BY_FD, info_ptr),
	O(OBJ_GET_INFO_BY_FD, info_map_ptr),
	O(OBJ_GET_INFO_BY_FD, info_tail),
	O(OBJ_GET_INFO_BY_FD, info_zero_tail),
	O(OBJ_GET_INFO_BY_FD, info_zero_len),
	O(OBJ_GET_INFO_BY_FD, info_btf),
	O(PROG_GET_NEXT_ID, id_max),
	O(PROG_GET_NEXT_ID, id_far),
	O(PROG_GET_NEXT_ID, id_tail),
	O(PROG_GET_NEXT_ID, nothing),
	O(MAP_GET_NEXT_ID, nothing),
	O(BTF_GET_NEXT_ID, nothing),
	O(BTF_GET_NEXT_ID, id_far),
	O(LINK_GET_NEXT_ID, id_far),
	O(PROG_GET_FD_BY_ID, id_far),
	O(PROG_GET_FD_BY_ID, id_max),
	O(PROG_GET_FD_BY_ID, nothing),
	O(MAP_GET_FD_BY_ID, id_far),
	O(MAP_GET_FD_BY_ID, nothing),
	O(BTF_GET_FD_BY_ID, id_far),
	O(LINK_GET_FD_BY_ID, id_far),
	O(OBJ_PIN, pin_flags),
	O(OBJ_PIN, pin_path_fd),
	O(OBJ_PIN, pin_fd),
	O(OBJ_PIN, pin_stdin),
	O(OBJ_PIN, pin_btf),
	O(OBJ_GET, get_flags),
	O(OBJ_GET, get_fd),
	O(OBJ_GET, get_none),
	O(ENABLE_STATS, stats_9),
	O(ENABLE_STATS, stats_0),
	O(PROG_BIND_MAP, bind_ok),
	O(PROG_BIND_MAP, bind_flags),
	O(PROG_BIND_MAP, bind_prog),
	O(PROG_BIND_MAP, bind_map),
	O(LINK_CREATE, link_no_prog),
	O(LINK_CREATE, link_perf),
	O(LINK_CREATE, link_type),
	O(LINK_DETACH, link_fd),
	O(LINK_DETACH, link_map),
	O(LINK_UPDATE, link_fd),
	O(ITER_CREATE, link_fd),
	O(ITER_CREATE, iter_flags),
	O(PROG_ATTACH, attach_type),
	O(PROG_DETACH, attach_type),
	O(PROG_QUERY, query_type),
	O(TASK_FD_QUERY, task_flags),
	O(TASK_FD_QUERY, task_pid),
	O(TASK_FD_QUERY, task_fd),
	O(TASK_FD_QUERY, task_stdin),
	O(PROG_TEST_RUN, test_fd),
	O(PROG_TEST_RUN, test_ctx),
	O(PROG_TEST_RUN, test_ctx_out),
	O(PROG_TEST_RUN, test_no_data),
	O(PROG_TEST_RUN, test_flags),
	O(RAW_TRACEPOINT_OPEN, raw_tp_fd),
	O(RAW_TRACEPOINT_OPEN, raw_tp_prog),
	O(BTF_LOAD, btf_empty),
	O(BTF_LOAD, btf_ptr),
	O(BTF_LOAD, btf_huge),
	O(BTF_LOAD, btf_zeros),
	O(BTF_LOAD, btf_flags),
	O(BTF_LOAD, btf_log),
	{ "attributes of a page and more", BPF_MAP_CREATE, create_ok, 8192 },
};

/* What a map of maps owns is found from mapped memory only, which a leak check does not search. */
static void outer_close(void)
{
	union bpf_attr a = { 0 };

	close(sides[SKEP].outer);
	side_bpf(SKEP, BPF_MAP_GET_NEXT_ID, &a, sizeof(a));
}

int main(void)
{
	unsigned tests = 0, failed;

	if (!side_open(KERNEL)) {
		printf("1..0 # SKIP bpf(2) cannot be used here: %s\n", strerror(errno));
		return 0;
	}
	if (!side_open(SKEP)) {
		printf("1..1\nnot ok 1 - skep's own objects: %s\n", strerror(errno));
		return 1;
	}
	failed = rows_run(rows, sizeof(rows) / sizeof(rows[0]), &tests);
	failed += rows_run(prog_rows, n_prog_rows, &tests);
	printf("1..%u\n", tests);
	outer_close();
	return failed != 0;
}
