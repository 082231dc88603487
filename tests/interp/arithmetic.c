/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What single ops of the reference interpreter compute, by table: the corners of RFC 9669.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interp/interp.h"

#define MIN64 0x8000000000000000ull
#define MIN32 0x80000000ull
#define ONES  UINT64_MAX
#define HIGH  0xdeadbeef00000000ull /* must not count in 32 bits */

/* r1 op r2 == want. For a compare, want is whether it jumps. */
struct row {
	uint8_t code;
	uint8_t mode;
	uint64_t r1, r2, want;
};

static const struct row rows[] = {
	{ OP_ADD, 0, ONES, 1, 0 },
	{ OP_ADD, OP_W32, 0xffffffff, 1, 0 },
	{ OP_ADD, OP_W32, HIGH | 1, HIGH | 2, 3 },
	{ OP_SUB, 0, 0, 1, ONES },
	{ OP_SUB, OP_W32, 0, 1, 0xffffffff },
	{ OP_MUL, 0, 0x100000001, 0x100000001, 0x200000001 },
	{ OP_MUL, OP_W32, 0x10001, 0x10001, 0x20001 },
	{ OP_UHMUL, 0, ONES, ONES, ONES - 1 },
	{ OP_UHMUL, OP_W32, HIGH | 0xffffffff, 0xffffffff, 0xfffffffe },
	{ OP_SHMUL, 0, ONES, ONES, 0 },
	{ OP_SHMUL, 0, ONES, 2, ONES },
	{ OP_SHMUL, 0, MIN64, MIN64, 0x4000000000000000 },
	{ OP_SHMUL, OP_W32, 0xffffffff, 2, 0xffffffff },
	{ OP_DIV, 0, 7, 0, 0 },
	{ OP_DIV, 0, MIN64, ONES, 0 },
	{ OP_DIV, OP_W32, HIGH | 7, HIGH, 0 },
	{ OP_DIV, OP_W32, HIGH | 7, HIGH | 2, 3 },
	{ OP_SDIV, 0, MIN64, ONES, MIN64 },
	{ OP_SDIV, 0, MIN64, 0, 0 },
	{ OP_SDIV, 0, (uint64_t)-7, 2, (uint64_t)-3 },
	{ OP_SDIV, OP_W32, MIN32, 0xffffffff, MIN32 },
	{ OP_SDIV, OP_W32, 0xfffffff9, 2, 0xfffffffd },
	{ OP_MOD, 0, 7, 0, 7 },
	{ OP_MOD, 0, 7, 4, 3 },
	{ OP_MOD, OP_W32, HIGH | 7, HIGH, 7 },
	{ OP_SMOD, 0, MIN64, ONES, 0 },
	{ OP_SMOD, 0, (uint64_t)-7, 2, ONES },
	{ OP_SMOD, 0, 7, (uint64_t)-2, 1 },
	{ OP_SMOD, 0, (uint64_t)-7, 0, (uint64_t)-7 },
	{ OP_SMOD, OP_W32, MIN32, 0xffffffff, 0 },
	{ OP_SMOD, OP_W32, HIGH | 0xfffffff9, HIGH, 0xfffffff9 },
	{ OP_OR, OP_W32, HIGH | 1, HIGH | 2, 3 },
	{ OP_AND, OP_W32, ONES, ONES, 0xffffffff },
	{ OP_XOR, OP_W32, HIGH, 0xffffffff, 0xffffffff },
	{ OP_LSH, 0, 1, 64, 1 },
	{ OP_LSH, 0, 1, 63, MIN64 },
	{ OP_LSH, 0, 1, ONES, MIN64 },
	{ OP_LSH, OP_W32, 1, 32, 1 },
	{ OP_LSH, OP_W32, 3, 31, MIN32 },
	{ OP_RSH, 0, MIN64, 127, 1 },
	{ OP_RSH, OP_W32, HIGH | MIN32, 31, 1 },
	{ OP_ARSH, 0, MIN64, 63, ONES },
	{ OP_ARSH, OP_W32, HIGH | MIN32, 63, 0xffffffff },
	{ OP_ARSH, OP_W32, 0x40000000, 30, 1 },
	{ OP_MOV, 0, 1, MIN64, MIN64 },
	{ OP_MOV, OP_W32, 1, ONES, 0xffffffff },
	{ OP_MOV, OP_SX | 0 << OP_SIZE_SHIFT, 0, 0x180, (uint64_t)-128 },
	{ OP_MOV, OP_SX | 1 << OP_SIZE_SHIFT, 0, 0x7fff, 0x7fff },
	{ OP_MOV, OP_SX | 2 << OP_SIZE_SHIFT, 0, 0x80000000, 0xffffffff80000000 },
	{ OP_MOV, OP_SX | OP_W32 | 0 << OP_SIZE_SHIFT, 0, 0x180, 0xffffff80 },
	{ OP_MOV, OP_SX | OP_W32 | 1 << OP_SIZE_SHIFT, 0, 0x18000, 0xffff8000 },
	{ OP_JEQ, 0, HIGH, 0, 0 },
	{ OP_JEQ, OP_W32, HIGH, 0, 1 },
	{ OP_JNE, OP_W32, HIGH, 0, 0 },
	{ OP_JGT, 0, ONES, 1, 1 },
	{ OP_JGT, 0, 1, 1, 0 },
	{ OP_JGT, OP_W32, HIGH | 1, 1, 0 },
	{ OP_JGE, 0, 1, 1, 1 },
	{ OP_JGE, OP_W32, 0, HIGH | 1, 0 },
	{ OP_JLT, 0, 1, ONES, 1 },
	{ OP_JLE, 0, ONES, ONES, 1 },
	{ OP_JLE, OP_W32, 2, HIGH | 1, 0 },
	{ OP_JSET, 0, MIN64, MIN64, 1 },
	{ OP_JSET, OP_W32, HIGH, ONES, 0 },
	{ OP_JSGT, 0, ONES, 1, 0 },
	{ OP_JSGT, 0, 1, ONES, 1 },
	{ OP_JSGT, OP_W32, 1, 0xffffffff, 1 },
	{ OP_JSGE, 0, MIN64, MIN64, 1 },
	{ OP_JSGE, OP_W32, MIN32, 0x7fffffff, 0 },
	{ OP_JSLT, 0, MIN64, 0, 1 },
	{ OP_JSLT, OP_W32, MIN32, 0, 1 },
	{ OP_JSLT, 0, MIN32, 0, 0 },
	{ OP_JSLE, 0, 0, ONES, 0 },
	{ OP_JSLE, OP_W32, 0xffffffff, 0, 1 },
};

/* imm, and the byte order of the host. */
static const struct row ends[] = {
	{ OP_BSWAP, 0, 0x1122334455667788, 16, 0x8877 },
	{ OP_BSWAP, 0, 0x1122334455667788, 32, 0x88776655 },
	{ OP_BSWAP, 0, 0x1122334455667788, 64, 0x8877665544332211 },
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	{ OP_TOBE, 0, 0x1122334455667788, 16, 0x8877 },
	{ OP_TOBE, 0, 0x1122334455667788, 32, 0x88776655 },
	{ OP_TOBE, 0, 0x1122334455667788, 64, 0x8877665544332211 },
	{ OP_TOLE, 0, 0x1122334455667788, 16, 0x7788 },
	{ OP_TOLE, 0, 0x1122334455667788, 32, 0x55667788 },
	{ OP_TOLE, 0, 0x1122334455667788, 64, 0x1122334455667788 },
#endif
};

static uint64_t run(struct op *ops, uint32_t n, uint64_t r1, uint64_t r2)
{
	uint32_t subs[1] = { 0 };
	const struct unit u = { .ops = ops, .n_ops = n, .subs = subs, .n_subs = 1 };
	const uint64_t args[5] = { r1, r2 };
	uint64_t r0 = 0;

	assert_int_equal(interp_run(&u, args, NULL, &r0), 0);
	return r0;
}

/* r1 = r1 op r2|imm; r0 = r1 */
static uint64_t run_alu(const struct row *row, struct op op)
{
	struct op ops[] = {
		op,
		{ .code = OP_MOV, .mode = OP_REG, .dst = 0, .src = 1 },
		{ .code = OP_EXIT },
	};

	return run(ops, 3, row->r1, row->r2);
}

/* r0 = 1; if r1 op r2|imm goto exit; r0 = 0 */
static uint64_t run_jump(const struct row *row, struct op op)
{
	struct op ops[] = {
		{ .code = OP_MOV, .imm = 1 }, op, { .code = OP_MOV }, { .code = OP_EXIT }
	};

	ops[1].off = 3;
	return run(ops, 4, row->r1, row->r2);
}

static uint64_t run_row(const struct row *row, struct op op)
{
	return op_row(&op)->form == FORM_JCOND ? run_jump(row, op) : run_alu(row, op);
}

static void registers(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op op = {
			.code = rows[i].code, .mode = rows[i].mode | OP_REG, .dst = 1, .src = 2
		};

		if (run_row(&rows[i], op) != rows[i].want)
			fail_msg("row %zu: %llx, not %llx", i,
				 (unsigned long long)run_row(&rows[i], op),
				 (unsigned long long)rows[i].want);
	}
}

/* Where the second operand is an immediate's value. */
static void immediates(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op op = { .code = rows[i].code,
				       .mode = rows[i].mode,
				       .dst = 1,
				       .imm = (int32_t)rows[i].r2 };

		if ((uint64_t)op.imm == rows[i].r2 && !(op.mode & OP_SX))
			assert_int_equal(run_row(&rows[i], op), rows[i].want);
	}
}

static void byte_orders(void **state)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const struct op op = { .code = ends[i].code, .dst = 1, .imm = (int64_t)ends[i].r2 };

		assert_int_equal(run_alu(&ends[i], op), ends[i].want);
	}
}

static void negation(void **state)
{
	const struct row row = { .r1 = HIGH | MIN32 };

	assert_int_equal(run_alu(&row, (struct op){ .code = OP_NEG, .dst = 1 }),
			 0 - (HIGH | MIN32));
	assert_int_equal(run_alu(&row, (struct op){ .code = OP_NEG, .mode = OP_W32, .dst = 1 }),
			 MIN32);
}

static void casts(void **state)
{
	const struct row row = { .r2 = ONES };

	assert_int_equal(
	    run_alu(&row, (struct op){ .code = OP_CAST, .dst = 1, .src = 2, .imm = 1 }),
	    0xffffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers),   cmocka_unit_test(immediates),
		cmocka_unit_test(byte_orders), cmocka_unit_test(negation),
		cmocka_unit_test(casts),
	};

	return cmocka_run_group_tests_name("interp-arithmetic", tests, NULL, NULL);
}
