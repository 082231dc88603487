/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects as file descriptors: what closes, copies and inherits them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "skep/skep.h"

static int map_create(uint32_t type, uint32_t flags)
{
	union bpf_attr a = { .map_type = type,
			     .key_size = 4,
			     .value_size = type == BPF_MAP_TYPE_PROG_ARRAY ? 4 : 8,
			     .max_entries = 512,
			     .map_flags = flags };
	int fd = skep_bpf(BPF_MAP_CREATE, &a, sizeof(a));

	assert_true(fd >= 0);
	return fd;
}

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	union bpf_attr a = { .info = { .bpf_fd = (uint32_t)fd,
				       .info_len = sizeof(info),
				       .info = (uintptr_t)&info } };

	assert_int_equal(skep_bpf(BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a)), 0);
	return info.id;
}

static int by_id(int cmd, uint32_t id)
{
	union bpf_attr a = { .map_id = id };

	return skep_bpf(cmd, &a, sizeof(a));
}

/* Is there still such a map? Leaves nothing open. */
static bool map_lives(uint32_t id)
{
	int fd = by_id(BPF_MAP_GET_FD_BY_ID, id);

	if (fd >= 0)
		close(fd);
	else
		assert_int_equal(errno, ENOENT);
	return fd >= 0;
}

/* Programs leave an array after a grace period, on another thread. */
static bool map_ends(uint32_t id)
{
	for (unsigned i = 0; i < 500 && map_lives(id); i++)
		usleep(10000);
	return !map_lives(id);
}

static int elem(int cmd, int fd, uint32_t key, uint64_t *value)
{
	union bpf_attr a = { .map_fd = (uint32_t)fd };

	a.key = (uintptr_t)&key;
	a.value = (uintptr_t)value;
	return skep_bpf(cmd, &a, sizeof(a));
}

static int prog_load(const struct bpf_insn *insns, unsigned n)
{
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = n };
	int fd;

	a.insns = (uintptr_t)insns;
	a.license = (uintptr_t)"GPL";
	fd = skep_bpf(BPF_PROG_LOAD, &a, sizeof(a));
	assert_true(fd >= 0);
	return fd;
}

/* A program that mentions the map. */
static int prog_with_map(int map)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW,
		  .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return prog_load(insns, 4);
}

static void close_ends_a_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0);
	uint32_t id = map_id(fd);

	assert_true(map_lives(id));
	close(fd);
	assert_false(map_lives(id));
}

static void a_number_used_again_is_not_the_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0), other;
	uint64_t value = 1;

	close(fd);
	other = dup2(0, fd);
	assert_int_equal(other, fd);
	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, fd, 1, &value), -1);
	assert_int_equal(errno, EINVAL);
	close(fd);
	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, fd, 1, &value), -1);
	assert_int_equal(errno, EBADF);
}

static void duplicates_are_the_same_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0),
	    copies[3] = { dup(fd), fcntl(fd, F_DUPFD_CLOEXEC, 100), dup3(fd, 200, O_CLOEXEC) };
	uint32_t id = map_id(fd);
	uint64_t value = 42, got = 0;

	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, fd, 1, &value), 0);
	close(fd);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(elem(BPF_MAP_LOOKUP_ELEM, copies[i], 1, &got), 0);
		assert_int_equal(got, 42);
		assert_int_equal(map_id(copies[i]), id);
		assert_true(map_lives(id));
		close(copies[i]);
	}
	assert_false(map_lives(id));
}

/* What libbpf >= 1.4 does: a placeholder first, the map on its number later. */
static void a_placeholder_becomes_the_map(void **state)
{
	int placeholder = memfd_create("libbpf-placeholder-fd", MFD_CLOEXEC);
	int fd = map_create(BPF_MAP_TYPE_HASH, 0);
	uint64_t value = 7;

	assert_int_equal(dup3(fd, placeholder, O_CLOEXEC), placeholder);
	close(fd);
	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, placeholder, 1, &value), 0);
	close(placeholder);
}

static void a_program_holds_its_map(void **state)
{
	int map = map_create(BPF_MAP_TYPE_HASH, 0), prog = prog_with_map(map);
	uint32_t id = map_id(map);

	close(map);
	assert_true(map_lives(id));
	close(prog);
	assert_false(map_lives(id));
}

static void a_program_array_and_its_programs_end_together(void **state)
{
	int array = map_create(BPF_MAP_TYPE_PROG_ARRAY, 0), prog = prog_with_map(array);
	uint32_t id = map_id(array), key = 0;
	union bpf_attr a = { .map_fd = (uint32_t)array };

	a.key = (uintptr_t)&key;
	a.value = (uintptr_t)&prog;
	assert_int_equal(skep_bpf(BPF_MAP_UPDATE_ELEM, &a, sizeof(a)), 0);
	close(array);
	assert_true(map_lives(id));
	/* The array lost its program with its last descriptor, but the program still uses it. */
	array = by_id(BPF_MAP_GET_FD_BY_ID, id);
	a.map_fd = (uint32_t)array;
	assert_int_equal(skep_bpf(BPF_MAP_UPDATE_ELEM, &a, sizeof(a)), 0);
	close(prog);
	assert_true(map_lives(id));
	close(array);
	assert_true(map_ends(id));
}

static void a_mapping_holds_the_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_ARRAY, BPF_F_MMAPABLE);
	uint32_t id = map_id(fd);
	uint64_t *mem = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), got = 0;

	assert_ptr_not_equal(mem, MAP_FAILED);
	close(fd);
	mem[2] = 99;
	fd = by_id(BPF_MAP_GET_FD_BY_ID, id);
	assert_true(fd >= 0);
	assert_int_equal(elem(BPF_MAP_LOOKUP_ELEM, fd, 2, &got), 0);
	assert_int_equal(got, 99);
	close(fd);
	munmap(mem, 4096);
	assert_false(map_lives(id));
}

static void a_child_keeps_the_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0), go[2], status;
	uint32_t id = map_id(fd);
	uint64_t value = 5, got = 0;
	pid_t child;
	char c;

	assert_int_equal(pipe(go), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		_exit(elem(BPF_MAP_UPDATE_ELEM, fd, 3, &value) || read(go[0], &c, 1) < 0 ||
		      elem(BPF_MAP_LOOKUP_ELEM, fd, 3, &got) || got != 5);
	}
	close(go[0]);
	while (elem(BPF_MAP_LOOKUP_ELEM, fd, 3, &got))
		usleep(1000);
	assert_int_equal(got, 5);
	close(fd);
	assert_true(map_lives(id));
	close(go[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_false(map_lives(id));
}

static void a_message_carries_the_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0), pair[2], got = -1;
	uint32_t id = map_id(fd);
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_int_equal(sendmsg(pair[0], &msg, 0), 1);
	close(fd);
	assert_true(map_lives(id));
	assert_int_equal(recvmsg(pair[1], &msg, 0), 1);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(got));
	assert_int_equal(map_id(got), id);
	close(got);
	close(pair[0]);
	close(pair[1]);
	assert_false(map_lives(id));
}

static void access_modes_hold(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0);
	union bpf_attr a = { .map_id = map_id(fd) };
	uint64_t value = 1;
	int ro, wo;

	a.open_flags = BPF_F_RDONLY;
	ro = skep_bpf(BPF_MAP_GET_FD_BY_ID, &a, sizeof(a));
	a.open_flags = BPF_F_WRONLY;
	wo = skep_bpf(BPF_MAP_GET_FD_BY_ID, &a, sizeof(a));
	assert_true(ro >= 0 && wo >= 0);
	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, ro, 1, &value), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(elem(BPF_MAP_UPDATE_ELEM, wo, 1, &value), 0);
	assert_int_equal(elem(BPF_MAP_LOOKUP_ELEM, wo, 1, &value), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(elem(BPF_MAP_LOOKUP_ELEM, ro, 1, &value), 0);
	close(fd);
	close(ro);
	assert_true(map_lives(a.map_id));
	close(wo);
	assert_false(map_lives(a.map_id));
}

static void a_pin_holds_the_map(void **state)
{
	int fd = map_create(BPF_MAP_TYPE_HASH, 0);
	uint32_t id = map_id(fd);
	union bpf_attr a = { .bpf_fd = (uint32_t)fd };

	a.pathname = (uintptr_t)"/sys/fs/bpf/skep_test";
	assert_int_equal(skep_bpf(BPF_OBJ_PIN, &a, sizeof(a)), 0);
	assert_int_equal(skep_bpf(BPF_OBJ_PIN, &a, sizeof(a)), -1);
	assert_int_equal(errno, EEXIST);
	close(fd);
	a.bpf_fd = 0;
	fd = skep_bpf(BPF_OBJ_GET, &a, sizeof(a));
	assert_true(fd >= 0);
	assert_int_equal(map_id(fd), id);
	close(fd);
	assert_true(map_lives(id));
}

static void ids_go_up(void **state)
{
	int fds[3];
	uint32_t last = 0;

	for (unsigned i = 0; i < 3; i++) {
		uint32_t id;

		fds[i] = map_create(BPF_MAP_TYPE_HASH, 0);
		id = map_id(fds[i]);
		assert_true(id > last);
		last = id;
	}
	for (unsigned i = 0; i + 1 < 3; i++) {
		union bpf_attr a = { .start_id = map_id(fds[i]) };

		assert_int_equal(skep_bpf(BPF_MAP_GET_NEXT_ID, &a, sizeof(a)), 0);
		assert_int_equal(a.next_id, map_id(fds[i + 1]));
	}
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
}

static void thousands_come_and_go(void **state)
{
	uint32_t first = 0, last = 0;

	for (unsigned i = 0; i < 3000; i++) {
		int fd = map_create(BPF_MAP_TYPE_HASH, 0);

		last = map_id(fd);
		first = first ? first : last;
		close(fd);
	}
	assert_false(map_lives(first));
	assert_false(map_lives(last));
}

static void *make_and_close(void *arg)
{
	uint64_t value = 3, got = 0;

	for (unsigned i = 0; i < 300; i++) {
		int map = map_create(BPF_MAP_TYPE_HASH, 0), prog = prog_with_map(map);

		if (elem(BPF_MAP_UPDATE_ELEM, map, 1, &value) ||
		    elem(BPF_MAP_LOOKUP_ELEM, map, 1, &got) || got != 3)
			return "wrong";
		close(map);
		close(prog);
	}
	return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
	pthread_t t[4];
	void *bad;

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, make_and_close, state), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(t[i], &bad), 0);
		assert_null(bad);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(close_ends_a_map),
		cmocka_unit_test(a_number_used_again_is_not_the_map),
		cmocka_unit_test(duplicates_are_the_same_map),
		cmocka_unit_test(a_placeholder_becomes_the_map),
		cmocka_unit_test(a_program_holds_its_map),
		cmocka_unit_test(a_program_array_and_its_programs_end_together),
		cmocka_unit_test(a_mapping_holds_the_map),
		cmocka_unit_test(a_child_keeps_the_map),
		cmocka_unit_test(a_message_carries_the_map),
		cmocka_unit_test(access_modes_hold),
		cmocka_unit_test(a_pin_holds_the_map),
		cmocka_unit_test(ids_go_up),
		cmocka_unit_test(thousands_come_and_go),
		cmocka_unit_test(threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests_name("fd", tests, NULL, NULL);
}
