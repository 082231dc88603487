/* SPDX-License-Identifier: BSD-2-Clause */
/* CGROUP_ARRAY and STACK_TRACE: what user space sees of them, beside the kernel where it lets us.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "map/cgroup_array.h"
#include "side.h"

static const struct map_desc cgroups = {
	.type = BPF_MAP_TYPE_CGROUP_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 3
};
static const struct map_desc stacks = {
	.type = BPF_MAP_TYPE_STACK_TRACE, .key_size = 4, .value_size = 16, .max_entries = 5
};

enum { ENOTSUPP_ = 524 };

/* A directory of the second cgroup hierarchy, -1: none is mounted. */
static int group_open(void)
{
	static const char *const at[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	int fd = -1;

	for (int i = 0; i < 2 && fd < 0; i++) {
		char file[64];

		strcpy(file, at[i]);
		strcat(file, "/cgroup.controllers");
		if (!access(file, F_OK))
			fd = open(at[i], O_RDONLY | O_DIRECTORY);
	}
	return fd;
}

static void groups_on(const struct side *s)
{
	uint32_t key = 1, bad = 3, none = 2, next;
	int group = group_open(), file = open("/", O_RDONLY), closed = -1;
	void *m;

	assert_int_equal(s->create(&cgroups, &m), 0);
	assert_int_equal(s->update(m, &key, &closed, 0), -EBADF);
	assert_int_equal(s->update(m, &key, &file, 0), -EBADF);
	assert_int_equal(s->update(m, &bad, &file, 0), -E2BIG);
	assert_int_equal(s->update(m, &key, &file, BPF_NOEXIST), -EINVAL);
	assert_int_equal(s->erase(m, &bad), -E2BIG);
	assert_int_equal(s->erase(m, &key), -ENOENT);
	if (group >= 0) {
		assert_int_equal(s->update(m, &key, &group, 0), 0);
		assert_int_equal(s->lookup(m, &key, &next, 0), -ENOTSUPP_);
		assert_int_equal(s->erase(m, &key), 0);
		assert_int_equal(s->erase(m, &key), -ENOENT);
	} else {
		print_message("# SKIP no cgroup2 is mounted: arrays stay empty\n");
	}
	assert_int_equal(s->lookup(m, &none, &next, 0), -ENOTSUPP_);
	assert_int_equal(s->next_key(m, &key, &next), 0);
	assert_int_equal(next, 2);
	assert_int_equal(s->next_key(m, &none, &next), -ENOENT);
	s->destroy(m);
	close(group);
	close(file);
}

static void stacks_on(const struct side *s)
{
	uint64_t value[2] = { 0 };
	uint32_t inside = 7, outside = 8, next; /* of 5 entries, rounded up */
	void *m;

	assert_int_equal(s->create(&stacks, &m), 0);
	assert_int_equal(s->lookup(m, &inside, value, 0), -ENOENT);
	assert_int_equal(s->lookup(m, &outside, value, 0), -ENOENT);
	assert_int_equal(s->update(m, &inside, value, 0), -EINVAL);
	assert_int_equal(s->erase(m, &inside), -ENOENT);
	assert_int_equal(s->erase(m, &outside), -E2BIG);
	assert_int_equal(s->next_key(m, NULL, &next), -ENOENT);
	assert_int_equal(s->next_key(m, &inside, &next), -ENOENT);
	s->destroy(m);
}

static void skep_has_them(void **state)
{
	groups_on(&side_skep);
	stacks_on(&side_skep);
}

static void the_kernel_says_the_same(void **state)
{
	if (!side_kernel_there()) {
		print_message("# SKIP bpf(2) is not permitted here\n");
		skip();
	}
	groups_on(&side_kernel);
	stacks_on(&side_kernel);
}

/* What programs see is the directory's inode, the number of its cgroup. */
static void elements_are_numbers(void **state)
{
	int group = group_open();
	uint32_t key = 1;
	struct stat st;
	struct map *m;

	if (group < 0)
		skip();
	assert_int_equal(fstat(group, &st), 0);
	assert_int_equal(map_create(&cgroups, &m), 0);
	assert_int_equal(cgroup_array_at(m, 1), 0);
	assert_int_equal(map_update(m, &key, &group, 0), 0);
	assert_int_equal(cgroup_array_at(m, 1), st.st_ino);
	assert_int_equal(cgroup_array_at(m, 3), 0);
	obj_put(&m->obj);
	close(group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skep_has_them),
		cmocka_unit_test(the_kernel_says_the_same),
		cmocka_unit_test(elements_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
