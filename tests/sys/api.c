/* SPDX-License-Identifier: BSD-2-Clause */
/* An embedder: nothing but <skep/skep.h>, linked with the shared library and with the archive. */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "skep/skep.h"

static int load(const struct bpf_insn *insns, unsigned n)
{
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = n;
	attr.license = (uintptr_t)"GPL";
	return skep_bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static void a_program_runs(void **state)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 1, .off = 4 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = 40 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	uint32_t ctx[64] = { 0, 2 };
	int fd = load(insns, 3);
	struct skep_prog *p = skep_prog_get(fd);

	assert_true(fd >= 0);
	assert_non_null(p);
	close(fd);
	assert_int_equal(skep_prog_run(p, ctx), 42);
	skep_prog_put(p);
}

static void a_program_says_whether_it_was_verified(void **state)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = load(insns, 2);

	struct skep_load_opts opts = { .size = sizeof(opts), .unverified = 1 };
	struct {
		struct skep_load_opts opts;
		uint64_t later;
	} newer = { { .size = sizeof(newer) }, 1 };
	union bpf_attr attr = { 0 };

	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t)"GPL";
	assert_int_equal(skep_prog_verified(fd), 1);
	close(fd);
	fd = skep_prog_load(&attr, sizeof(attr), &opts);
	assert_int_equal(skep_prog_verified(fd), 0);
	close(fd);
	assert_int_equal(skep_prog_load(&attr, sizeof(attr), &newer.opts), -1);
	assert_int_equal(errno, E2BIG);
	fd = skep_prog_load(&attr, sizeof(attr), NULL);
	assert_int_equal(skep_prog_verified(fd), 1);
	close(fd);
	assert_int_equal(skep_prog_verified(fd), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(skep_prog_verified(0), -1);
	assert_int_equal(errno, EINVAL);
}

static void a_mappable_array_is_mapped(void **state)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
				.key_size = 4,
				.value_size = 8,
				.max_entries = 16,
				.map_flags = BPF_F_MMAPABLE };
	int fd = skep_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
	uint32_t key = 3;
	uint64_t value = 7, *by_api, *by_libc;

	assert_true(fd >= 0);
	by_api = skep_map_mmap(fd, 0, 4096, PROT_READ | PROT_WRITE);
	by_libc = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_non_null(by_api);
	assert_ptr_not_equal(by_libc, MAP_FAILED);
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)fd;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	assert_int_equal(skep_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)), 0);
	assert_int_equal(by_api[3], 7);
	assert_int_equal(by_libc[3], 7);
	munmap(by_api, 4096);
	munmap(by_libc, 4096);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_runs),
		cmocka_unit_test(a_program_says_whether_it_was_verified),
		cmocka_unit_test(a_mappable_array_is_mapped),
	};

	return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
