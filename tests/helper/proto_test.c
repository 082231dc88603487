// SPDX-License-Identifier: BSD-2-Clause
/* The prototypes' table: complete, consistent, and against the running kernel. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper/table.h"
#include "isa/helper.h"

static void every_id_has_a_row(void **state)
{
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		assert_non_null(h);
		assert_int_equal(h->id, id);
		assert_ptr_equal(helper_by_name(h->name), h);
	}
	assert_null(helper_find(0));
	assert_null(helper_find(HELPER_ID_MAX + 1));
	assert_null(helper_by_name("bpf_nothing"));
	assert_int_equal(helper_by_name("bpf_loop")->id, 181);
}

/* Names of the installed <linux/bpf.h>, in order of their numbers. Older headers separate the rows
 * of the mapper by commas, newer ones do not: many strings, or one. */
static void names_are_those_of_the_header(void **state)
{
#define ROW(name, ...) #name " "
	static const char *const header[] = { __BPF_FUNC_MAPPER(ROW) };
	char text[16384] = "", *save, *name;
	uint32_t id = 0;

	for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++)
		strncat(text, header[i], sizeof(text) - strlen(text) - 1);
	assert_string_equal(strtok_r(text, " ", &save), "unspec");
	while ((name = strtok_r(NULL, " ", &save)) && id < HELPER_ID_MAX)
		assert_string_equal(helper_find(++id)->name, name);
	assert_true(id >= 208);
}

static bool is_size(uint32_t arg)
{
	return ARG_KIND(arg) == ARG_SIZE || ARG_KIND(arg) == ARG_SIZE_OR_ZERO;
}

/* Memory without a fixed size is followed by its size, and a size follows memory. */
static void sizes_follow_memory(void **state)
{
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);

		for (unsigned i = 0; i < 5; i++) {
			bool open = ARG_KIND(h->arg[i]) == ARG_MEM && !(h->arg[i] & ARGF_FIXED);

			assert_int_equal(open, i < 4 && is_size(h->arg[i + 1]));
		}
	}
}

static void flags_and_arguments_agree(void **state)
{
	for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
		const struct helper *h = helper_find(id);
		bool releases = false;

		for (unsigned i = 0; i < 5; i++)
			releases |= (h->arg[i] & ARGF_RELEASE) != 0;
		assert_int_equal(releases, (h->flags & HELPER_RELEASES) != 0);
		assert_int_equal(h->status != HELPER_NONE, helper_env.helper[id] != NULL);
		assert_int_equal(h->status != HELPER_NONE, helper_env_xdp.helper[id] != NULL);
	}
}

static void variants_differ_by_type(void **state)
{
	struct helper h;

	assert_true(helper_proto(46, BPF_PROG_TYPE_SCHED_CLS, &h));
	assert_int_equal(h.arg[0], ARG_CTX);
	assert_true(helper_proto(46, BPF_PROG_TYPE_TRACING, &h));
	assert_int_equal(h.arg[0], ARG_SOCK_ANY_OR_NULL);
	assert_false(helper_proto(46, BPF_PROG_TYPE_XDP, &h));
}

/* 1: the kernel lets programs of this type call it, 0: not, -1: cannot say. */
static int kernel_allows(uint32_t id, uint32_t type)
{
	static char log[1 << 16];
	struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = (int32_t)id },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;
	long fd;

	memset(&a, 0, sizeof(a));
	a.prog_type = type;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = 3;
	a.license = (uintptr_t)"GPL";
	a.log_buf = (uintptr_t)log;
	a.log_size = sizeof(log);
	a.log_level = 1;
	log[0] = 0;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	if (fd >= 0)
		close((int)fd);
	if (fd < 0 && !log[0])
		return -1;
	return fd >= 0 || (!strstr(log, "program of this type cannot use helper") &&
			   !strstr(log, "unknown func"));
}

/* What we allow the kernel allows too. (A newer kernel may allow more.) */
static void the_kernel_allows_what_we_allow(void **state)
{
	static const uint32_t types[] = {
		BPF_PROG_TYPE_SOCKET_FILTER, BPF_PROG_TYPE_SCHED_CLS,  BPF_PROG_TYPE_SCHED_ACT,
		BPF_PROG_TYPE_XDP,	     BPF_PROG_TYPE_CGROUP_SKB, BPF_PROG_TYPE_LWT_IN,
		BPF_PROG_TYPE_LWT_OUT,	     BPF_PROG_TYPE_LWT_XMIT,   BPF_PROG_TYPE_LWT_SEG6LOCAL,
	};
	unsigned asked = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (uint32_t id = 1; id <= HELPER_ID_MAX; id++) {
			int k = kernel_allows(id, types[i]);

			if (k < 0)
				continue;
			asked++;
			if (k == 0 && helper_allowed(id, types[i]))
				fail_msg("type %u may not call %s", types[i],
					 helper_find(id)->name);
		}
	}
	if (!asked)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_id_has_a_row),
		cmocka_unit_test(names_are_those_of_the_header),
		cmocka_unit_test(sizes_follow_memory),
		cmocka_unit_test(flags_and_arguments_agree),
		cmocka_unit_test(variants_differ_by_type),
		cmocka_unit_test(the_kernel_allows_what_we_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
