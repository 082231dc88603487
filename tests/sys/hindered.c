/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds where a sandbox refuses system calls, or an emulator answers 0 and does nothing. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/percpu.h"
#include "base/reach.h"

#define REFUSE(call, err)                                                                          \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),                                           \
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (err))

/* From here on process_vm_readv and writev are forbidden, and madvise is a hint that is not taken.
 * An emulator that has no seccomp is such a place by itself. */
static void hinder(void)
{
	static struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(SYS_process_vm_readv, EPERM),
		REFUSE(SYS_process_vm_writev, EPERM),
		REFUSE(SYS_madvise, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	static const struct sock_fprog all = { sizeof(rules) / sizeof(rules[0]), rules };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		printf("# nothing is forbidden: no seccomp here\n");
}

/* Two pages, of which the second cannot be touched. */
static uint8_t *edge(void)
{
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + 4096, 4096, PROT_NONE), 0);
	return p;
}

static void bad_addresses_are_errors(void **state)
{
	uint8_t *p = edge(), here[16] = "0123456789abcde";

	assert_int_equal(reach_write((uintptr_t)(p + 4080), here, 16), 0);
	memset(here, 0, sizeof(here));
	assert_int_equal(reach_read(here, (uintptr_t)(p + 4080), 16), 0);
	assert_string_equal((char *)here, "0123456789abcde");
	assert_int_equal(reach_read(here, (uintptr_t)(p + 4081), 16), -EFAULT);
	assert_int_equal(reach_write((uintptr_t)(p + 4096), here, 1), -EFAULT);
	assert_int_equal(reach_write(0, here, 1), -EFAULT);
	assert_int_equal(reach_read(here, 0xffff800000000000, 8), -EFAULT);
	assert_int_equal(reach_read(here, UINT64_MAX - 3, 8), -EFAULT);
	assert_int_equal(reach_read(here, 0, 0), 0);
	munmap(p, 8192);
}

static void many_pages_are_copied(void **state)
{
	static uint8_t from[100001], to[sizeof(from)];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 >> 3);
	assert_int_equal(reach_read(to, (uintptr_t)from, sizeof(from)), 0);
	assert_memory_equal(to, from, sizeof(from));
}

static void percpu_memory_is_zeroed_again(void **state)
{
	enum { SIZE = 1 << 18 };
	static const uint8_t zero[SIZE];
	uint32_t off = percpu_alloc(SIZE, 8);

	assert_int_not_equal(off, 0);
	memset(percpu_at(0, off), 0xff, SIZE);
	percpu_free(off, SIZE);
	assert_int_equal(percpu_alloc(SIZE, 8), off);
	assert_memory_equal(percpu_at(0, off), zero, SIZE);
	percpu_free(off, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_addresses_are_errors),
		cmocka_unit_test(many_pages_are_copied),
		cmocka_unit_test(percpu_memory_is_zeroed_again),
	};

	hinder();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
