/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-CPU memory (base/percpu.h): ranges never overlap, come back zeroed and grow together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/percpu.h"

enum { BLOCKS = 200, ROUNDS = 4000 };

struct block {
	uint32_t off, size;
};

static uint64_t seed = 88172645463325252;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

static bool is_all(const uint8_t *p, size_t n, uint8_t byte)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != byte)
			return false;
	return true;
}

static void block_take(struct block *b, uint8_t mark)
{
	uint32_t align = 8u << rnd(6);

	b->size = 1 + rnd(rnd(20) ? 3000 : 200000);
	b->off = percpu_alloc(b->size, align);
	assert_int_not_equal(b->off, 0);
	assert_int_equal(b->off % align, 0);
	for (unsigned s = 0; s < percpu_slots(); s++) {
		assert_true(is_all(percpu_at(s, b->off), b->size, 0));
		memset(percpu_at(s, b->off), mark, b->size);
	}
}

static void block_give(struct block *b, uint8_t mark)
{
	for (unsigned s = 0; s < percpu_slots(); s++)
		assert_true(is_all(percpu_at(s, b->off), b->size, mark));
	percpu_free(b->off, b->size);
	b->off = 0;
}

static void blocks_stay_apart_and_come_back_clean(void **state)
{
	struct block b[BLOCKS] = { 0 };
	uint32_t all;

	assert_int_equal(percpu_init(), 0);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t j = rnd(BLOCKS);

		if (b[j].off)
			block_give(&b[j], (uint8_t)(j + 1));
		else
			block_take(&b[j], (uint8_t)(j + 1));
	}
	for (uint32_t j = 0; j < BLOCKS; j++)
		if (b[j].off)
			block_give(&b[j], (uint8_t)(j + 1));
	all = percpu_alloc(PERCPU_STRIDE - 64, 8);
	assert_int_equal(all, 64); /* one range again */
	percpu_free(all, PERCPU_STRIDE - 64);
	assert_int_equal(percpu_alloc(PERCPU_STRIDE, 8), 0);
}

/* A child's blocks are not its parent's, and it gives back nothing that it inherited. */
static void processes_do_not_collide(void **state)
{
	uint32_t before = percpu_alloc(64, 8), mine;
	pid_t child = fork();
	int status;

	if (!child) {
		uint32_t off = percpu_alloc(64, 8);

		memset(percpu_at(0, off), 1, 64);
		percpu_free(before, 64);
		_exit(off && off != before ? 0 : 1);
	}
	memset(percpu_at(0, before), 2, 64);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(is_all(percpu_at(0, before), 64, 2));
	mine = percpu_alloc(64, 8);
	assert_true(is_all(percpu_at(0, mine), 64, 0));
	percpu_free(mine, 64);
	percpu_free(before, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_stay_apart_and_come_back_clean),
		cmocka_unit_test(processes_do_not_collide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
