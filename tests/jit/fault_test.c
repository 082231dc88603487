/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault handler stands in front of the application's and takes only what is its own. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "jit/jit.h"
#include "run/fault.h"

static sigjmp_buf back;
static volatile sig_atomic_t seen;
static volatile uint8_t *bad_address;

/* The application's, installed before skep's. */
static void on_signal(int sig, siginfo_t *info, void *context)
{
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	seen = info->si_code > 0 ? 1 : 2;
	seen += sigismember(&mask, SIGUSR1) ? 10 : 0;
	seen += sigismember(&mask, sig) ? 100 : 0;
	if (info->si_code > 0)
		siglongjmp(back, 1);
}

static struct image *probe(void)
{
	const struct op ops[] = { { OP_LD, OP_PROBE | op_mode_size(8), 0, 1, 0, 0 },
				  { OP_ADD, 0, 0, 0, 0, 3 },
				  { OP_EXIT, 0, 0, 0, 0, 0 } };
	struct unit *u = mem_zalloc(1, sizeof(*u));
	struct image *i;
	struct code *c;

	u->ops = mem_dup(ops, sizeof(ops));
	u->n_ops = 3;
	assert_int_equal(unit_index(u, NULL), 0);
	assert_int_equal(jit_compile(target_find(NULL), u, NULL, NULL, &c), 0);
	assert_int_equal(image_new(c, NULL, &i), 0);
	unit_free(u);
	return i;
}

static void ours(void)
{
	struct image *i = probe();
	uint64_t value = 4;

	seen = 0;
	assert_int_equal(helper_call(i->entry, (uintptr_t)&value, 0, 0, 0, 0), 7);
	assert_int_equal(helper_call(i->entry, 16, 0, 0, 0, 0), 3);
	assert_int_equal(helper_call(i->entry, (uintptr_t)bad_address, 0, 0, 0, 0), 3);
	assert_int_equal(helper_call(i->entry, 0x8000000000000000, 0, 0, 0, 0), 3);
	assert_int_equal(seen, 0);
	image_free(i);
}

/* A fault elsewhere, with the handler's mask as the kernel would have set it. */
static void theirs(void)
{
	seen = 0;
	if (!sigsetjmp(back, 1))
		(void)*bad_address;
	assert_int_equal(seen, 111);
	seen = 0;
	raise(SIGSEGV);
	assert_int_equal(seen, 112);
}

/* With nothing behind ours a fault ends the process as it does without us. */
static int status_of_child(bool fault, void (*action)(int))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGBUS, action);
		signal(SIGSEGV, action);
		fault_init();
		if (fault)
			(void)*bad_address;
		raise(SIGBUS);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void nobodys(void **state)
{
	int status = status_of_child(false, SIG_DFL);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
	for (int ignored = 0; ignored < 2; ignored++) {
		status = status_of_child(true, ignored ? SIG_IGN : SIG_DFL);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	}
	status = status_of_child(false, SIG_IGN);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

/* In one test, as cmocka has handlers of its own for each. */
static void ours_and_theirs(void **state)
{
	struct sigaction a = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigemptyset(&a.sa_mask);
	sigaddset(&a.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &a, NULL);
	assert_int_equal(fault_init(), 0);
	ours();
	theirs();
	ours();
}

static int set_up(void **state)
{
	bad_address = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return bad_address == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobodys),
		cmocka_unit_test(ours_and_theirs),
	};

	if (!target_find(NULL)) {
		printf("1..0 # SKIP no back end for this machine\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, NULL);
}
