/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where images lie: executable memory and who shares it, and what happens when memory is short or
 * a program cannot be compiled.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/percpu.h"
#include "base/report.h"
#include "base/vec.h"
#include "jit/jit.h"
#include "native.h"

/* First byte of the trap that fills unused room. */
#if defined(__aarch64__)
enum { TRAP = 0x00 };
static const uint8_t landing_pad[] = { 0xdf, 0x24, 0x03, 0xd5 }; /* bti jc */
#else
enum { TRAP = 0xcc };
static const uint8_t landing_pad[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
#endif

/* --- executable memory ----------------------------------------------------------------------- */

/* Whether the mapping at p has these rights, and whether any in the process is writable and
 * executable. */
static bool mapping_is(const void *p, const char *rights, bool *any_wx)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512], got[8];
	uintptr_t lo, hi;
	bool found = false;

	*any_wx = false;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &lo, &hi, got) != 3)
			continue;
		*any_wx |= got[1] == 'w' && got[2] == 'x';
		if ((uintptr_t)p >= lo && (uintptr_t)p < hi)
			found = !strncmp(got, rights, strlen(rights));
	}
	fclose(f);
	return found;
}

static void never_writable_and_executable(void **state)
{
	struct unit *u = unit_from("r0 = 1\nexit\n");
	struct image *i = image_of(u, NULL);
	uintptr_t page = (uintptr_t)i->bytes & ~(uintptr_t)4095;
	bool any;

	assert_true(mapping_is(i->bytes, "r-xs", &any));
	assert_false(any);
	assert_int_equal(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), -1);
	assert_int_equal(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(i->bytes[i->size], TRAP);
	image_free(i);
	unit_free(u);
}

/* Freed room is traps, and is used again. */
static void room_is_reused(void **state)
{
	struct unit *u = unit_from("r0 = 1\nexit\n"), *large = large_unit(100000);
	struct image *a[100], *b;
	const uint8_t *first;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 100; i++)
			a[i] = image_of(i % 10 == 9 ? large : u, NULL);
		first = a[0]->bytes;
		for (unsigned i = 0; i < 100; i++) {
			unsigned k = i * 37 % 100;

			if (k % 10 != 9)
				assert_int_equal(helper_call(a[k]->entry, 0, 0, 0, 0, 0), 1);
			image_free(a[k]);
		}
		assert_int_equal(*first, TRAP);
		b = image_of(u, NULL);
		assert_ptr_equal(b->bytes, first);
		image_free(b);
	}
	unit_free(u);
	unit_free(large);
}

/* Threads load, run and unload at once, programs that fault among them. */
static void *load_and_run(void *arg)
{
	struct unit *u = arg;
	uint64_t wrong = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct image *a = image_of(u, NULL), *b = image_of(u, NULL);

		wrong += helper_call(a->entry, 8, 0, 0, 0, 0) != 3;
		image_free(a);
		wrong += helper_call(b->entry, 8, 0, 0, 0, 0) != 3;
		image_free(b);
	}
	return (void *)(uintptr_t)wrong;
}

static void threads(void **state)
{
	struct op ops[] = { { OP_LD, OP_PROBE | op_mode_size(8), 0, 1, 0, 0 },
			    { OP_ADD, 0, 0, 0, 0, 3 },
			    { OP_EXIT, 0, 0, 0, 0, 0 } };
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;
	pthread_t t[4];
	ops_t v = { 0 };
	struct unit *u;
	void *wrong;

	for (unsigned i = 0; i < 3; i++)
		push(&v, ops[i]);
	u = unit_of(&v);
	sigaction(SIGSEGV, &a, &old);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, load_and_run, u), 0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(t[i], &wrong);
		assert_null(wrong);
	}
	sigaction(SIGSEGV, &old, NULL);
	unit_free(u);
}

/* A child's programs never change its parent's. */
static void fork_keeps_apart(void **state)
{
	struct unit *u = unit_from("r0 = 1\nexit\n"), *w = unit_from("r0 = 2\nexit\n");
	struct image *mine = image_of(u, NULL), *theirs;
	int status;
	pid_t pid = fork();

	if (!pid) {
		theirs = image_of(w, NULL);
		status = helper_call(theirs->entry, 0, 0, 0, 0, 0) == 2 &&
			 helper_call(mine->entry, 0, 0, 0, 0, 0) == 1;
		image_free(theirs);
		image_free(mine);
		_exit(status);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 1);
	theirs = image_of(w, NULL);
	assert_int_equal(helper_call(mine->entry, 0, 0, 0, 0, 0), 1);
	assert_int_equal(helper_call(theirs->entry, 0, 0, 0, 0, 0), 2);
	image_free(mine);
	image_free(theirs);
	unit_free(u);
	unit_free(w);
}

/* What a parent gives back stays whole in a child that still has it. */
static void parent_leaves_child_its_code(void **state)
{
	struct unit *u = unit_from("r0 = 1\nexit\n"), *w = unit_from("r0 = 2\nexit\n");
	struct image *mine = image_of(u, NULL), *next;
	int go[2], status;
	pid_t pid;
	char c = 0;

	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		status = read(go[0], &c, 1) == 1;
		_exit(status && helper_call(mine->entry, 0, 0, 0, 0, 0) == 1 ? 1 : 0);
	}
	image_free(mine);
	next = image_of(w, NULL);
	assert_int_equal(helper_call(next->entry, 0, 0, 0, 0, 0), 2);
	assert_int_equal(write(go[1], &c, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	image_free(next);
	close(go[0]);
	close(go[1]);
	unit_free(u);
	unit_free(w);
}

/* An application that closes all descriptors, and opens a file of its own at that number. */
static void lost_descriptor(void **state)
{
	struct unit *u = unit_from("r0 = 1\nexit\n");
	struct image *a = image_of(u, NULL), *b;
	int fds[64], n = 0;

	for (int fd = 3; fd < 64; fd++)
		close(fd);
	while (n < 64 && (fds[n] = memfd_create("application", MFD_CLOEXEC)) >= 0 && fds[n] < 64)
		n++;
	b = image_of(u, NULL);
	assert_int_equal(
	    helper_call(a->entry, 0, 0, 0, 0, 0) + helper_call(b->entry, 0, 0, 0, 0, 0), 2);
	for (int i = 0; i < n; i++) {
		assert_int_equal(lseek(fds[i], 0, SEEK_END), 0);
		close(fds[i]);
	}
	image_free(a);
	image_free(b);
	unit_free(u);
}

/* --- failures -------------------------------------------------------------------------------- */

static void every_allocation_fails(void **state)
{
	struct unit *u =
	    unit_from("r6 = r1\nif r6 == 0 goto +2\nr1 = r6\ncall 1\nr2 = map[id:0] ll\n"
		      "r0 = 0\ncall f\nexit\nf:\n*(u64 *)(r10 - 8) = r1\nexit\n");
	static const struct map_desc desc;
	struct ref ref = { .kind = REF_MAP, .map = &desc, .addr = (uintptr_t)&desc };
	unsigned long n = 1;
	int err = -ENOMEM;

	u->refs = mem_dup(&ref, sizeof(ref));
	u->n_refs = 1;
	for (; err; n++) {
		struct report r = { 0 };
		struct code *code = NULL;
		struct image *image = NULL;

		mem_fail_at(n, 0);
		err = jit_compile(target_find(NULL), u, NULL, &r, &code);
		if (!err) {
			err = image_new(code, &r, &image);
			if (err)
				code_free(code);
		}
		mem_fail_at(0, 0);
		assert_true(!err || err == -ENOMEM);
		image_free(image);
		report_free(&r);
	}
	print_message("# %lu allocations failed in turn\n", n - 2);
	unit_free(u);
}

static void refusals(void **state)
{
	struct unit *u = unit_from("call 99\nexit\n");
	struct report r = { 0 };
	struct code *code;
	struct image *image;

	assert_int_equal(jit_compile(target_find(NULL), u, NULL, &r, &code), -EOPNOTSUPP);
	assert_non_null(strstr(r.text, "helper 99"));
	report_free(&r);
	assert_int_equal(
	    jit_compile(target_find(NULL), u, &(struct jit_opts){ .blind = true }, &r, &code),
	    -EOPNOTSUPP);
	report_free(&r);
	assert_int_equal(
	    jit_compile(target_find(NULL), u, &(struct jit_opts){ .cpu = "6502" }, &r, &code),
	    -EINVAL);
	report_free(&r);
	assert_int_equal(
	    jit_compile(target_find(NULL), u, &(struct jit_opts){ .base = 1 << 30 }, &r, &code), 0);
	assert_int_equal(image_new(code, &r, &image), -ENOEXEC);
	code_free(code);
	report_free(&r);
	unit_free(u);
}

static void landing_pads(void **state)
{
	struct unit *u = unit_from("r1 = f ll\nr2 = 2\nr3 = 5\ncall 3\nexit\nf:\nr0 = r2\nexit\n");
	struct image *i = image_of(u, &(struct jit_opts){ .landing_pads = true });

	assert_memory_equal(i->bytes + i->code->entry, landing_pad, 4);
	assert_memory_equal(i->tail_entry, landing_pad, 4);
	assert_memory_equal(i->bytes + i->code->sub_offset[1], landing_pad, 4);
	assert_int_equal(helper_call(i->entry, 0, 0, 0, 0, 0), 10);
	image_free(i);
	unit_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_writable_and_executable),
		cmocka_unit_test(room_is_reused),
		cmocka_unit_test(threads),
		cmocka_unit_test(fork_keeps_apart),
		cmocka_unit_test(parent_leaves_child_its_code),
		cmocka_unit_test(lost_descriptor),
		cmocka_unit_test(every_allocation_fails),
		cmocka_unit_test(refusals),
		cmocka_unit_test(landing_pads),
	};

	if (!target_find(NULL)) {
		printf("1..0 # SKIP no back end for this machine\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
