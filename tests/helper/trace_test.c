// SPDX-License-Identifier: BSD-2-Clause
/* Helpers of programs without a packet: copies from anywhere, the current task, records. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/table.h"
#include "map/map.h"

/* bpf_NAME for programs of the type. */
static int64_t call(uint32_t type, const char *name, uint64_t r1, uint64_t r2, uint64_t r3,
		    uint64_t r4, uint64_t r5)
{
	helper_fn fn = helper_env_of(type)->helper[helper_by_name(name)->id];

	assert_non_null(fn);
	return (int64_t)helper_call(fn, r1, r2, r3, r4, r5);
}

#define KPROBE(name, ...) call(BPF_PROG_TYPE_KPROBE, name, __VA_ARGS__)

static uint64_t at(const void *p)
{
	return (uintptr_t)p;
}

static void copies_may_fail(void **state)
{
	static const char *const names[] = { "probe_read", "probe_read_kernel", "probe_read_user",
					     "copy_from_user" };
	char from[16] = "0123456789abcde", to[16];
	char *hole = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(hole, MAP_FAILED);
	munmap(hole + 4096, 4096);
	memset(hole + 4088, 'x', 8);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(KPROBE(names[i], at(to), 16, at(from), 0, 0), 0);
		assert_memory_equal(to, from, 16);
		assert_int_equal(KPROBE(names[i], at(to), 0, 1, 0, 0), 0);
		assert_int_equal(KPROBE(names[i], at(to), 16, 0, 0, 0), -EFAULT);
		for (int k = 0; k < 16; k++)
			assert_int_equal(to[k], 0);
		to[0] = 1;
		assert_int_equal(KPROBE(names[i], at(to), 16, at(hole + 4088), 0, 0), -EFAULT);
		assert_int_equal(to[0], 0);
		assert_int_equal(KPROBE(names[i], at(to), 16, 1ull << 63, 0, 0), -EFAULT);
	}
	munmap(hole, 4096);
}

static void strings_end(void **state)
{
	static const char *const names[] = { "probe_read_str", "probe_read_kernel_str",
					     "probe_read_user_str" };
	char to[16];

	for (int i = 0; i < 3; i++) {
		assert_int_equal(KPROBE(names[i], at(to), 16, at("hello"), 0, 0), 6);
		assert_string_equal(to, "hello");
		assert_int_equal(KPROBE(names[i], at(to), 4, at("hello"), 0, 0), 4);
		assert_string_equal(to, "hel");
		assert_int_equal(KPROBE(names[i], at(to), 16, 8, 0, 0), -EFAULT);
		assert_int_equal(to[0], 0);
	}
}

static void the_task_is_this_one(void **state)
{
	char name[20];

	memset(name, 'x', sizeof(name));
	prctl(PR_SET_NAME, "fifteen letters");
	assert_int_equal(KPROBE("get_current_comm", at(name), 20, 0, 0, 0), 0);
	assert_string_equal(name, "fifteen letters");
	assert_int_equal(name[19], 0);
	assert_int_equal(KPROBE("get_current_comm", at(name), 4, 0, 0, 0), 0);
	assert_string_equal(name, "fif");
	assert_int_equal(KPROBE("get_current_uid_gid", 0, 0, 0, 0, 0),
			 (int64_t)((uint64_t)getgid() << 32 | getuid()));
}

static volatile sig_atomic_t seen;

static void on_signal(int sig)
{
	seen++;
}

static void signals_arrive(void **state)
{
	signal(SIGUSR1, on_signal);
	assert_int_equal(KPROBE("send_signal_thread", SIGUSR1, 0, 0, 0, 0), 0);
	assert_int_equal(seen, 1);
	assert_int_equal(KPROBE("send_signal", SIGUSR1, 0, 0, 0, 0), 0);
	assert_int_equal(seen, 2);
	assert_int_equal(KPROBE("send_signal", 65, 0, 0, 0, 0), -EINVAL);
}

/* No part of a context that is no packet is taken for the packet's length. */
static void records_have_no_packet(void **state)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACEPOINT,
					  BPF_PROG_TYPE_SOCK_OPS, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
					  BPF_PROG_TYPE_RAW_TRACEPOINT };
	struct map_desc d = { .type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
			      .key_size = 4,
			      .value_size = 4,
			      .max_entries = 1 };
	struct map *m;
	char byte = 0;

	assert_int_equal(map_create(&d, &m), 0);
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		assert_int_equal(
		    call(types[i], "perf_event_output", at(&byte), at(m), 0, at(&byte), 1),
		    -ENOENT);
		assert_int_equal(
		    call(types[i], "perf_event_output", at(&byte), at(m), 1, at(&byte), 1), -E2BIG);
		assert_int_equal(
		    call(types[i], "perf_event_output", at(&byte), at(m), 4ull << 32, at(&byte), 1),
		    -EINVAL);
	}
	obj_put(&m->obj);
}

static void there_is_no_stack(void **state)
{
	uint64_t stack[4] = { 1, 1, 1, 1 };

	assert_int_equal(KPROBE("get_stack", 0, at(stack), sizeof(stack), 0, 0), -EFAULT);
	assert_int_equal(stack[3], 0);
	assert_int_equal(KPROBE("get_stack", 0, at(stack), 20, 0, 0), -EINVAL);
	assert_int_equal(KPROBE("get_stack", 0, at(stack), 32, 1 << 20, 0), -EINVAL);
	assert_int_equal(KPROBE("get_stackid", 0, 0, 1 << 20, 0, 0), -EINVAL);
	assert_int_equal(KPROBE("get_stackid", 0, 0, BPF_F_USER_STACK, 0, 0), -EFAULT);
	assert_int_equal(KPROBE("get_attach_cookie", 0, 0, 0, 0, 0), 0);
	assert_int_equal(KPROBE("get_func_ip", 0, 0, 0, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_may_fail),	  cmocka_unit_test(strings_end),
		cmocka_unit_test(the_task_is_this_one),	  cmocka_unit_test(signals_arrive),
		cmocka_unit_test(records_have_no_packet), cmocka_unit_test(there_is_no_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
