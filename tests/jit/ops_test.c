/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single ops, native against interpreted: every operation with every pair of registers, both
 * widths, immediates and values at their edges. A program sets r0-r9, does the one op, and hands
 * all registers out; nothing but what the op says may have changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/report.h"
#include "interp/interp.h"
#include "jit/jit.h"

enum { REGS = 10, DATA = 64 };

static struct {
	uint64_t regs[REGS + 1]; /* r0-r9, then 8 bytes of memory that the op may change */
} seen;
static uint64_t memory[DATA];
static unsigned long compared;

static uint64_t hand_out(BPF_PARAMS(uint64_t at, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	memcpy(seen.regs, (const void *)(uintptr_t)at, sizeof(uint64_t) * REGS);
	seen.regs[REGS] = memory[DATA / 2];
	return 0;
}

static const helper_fn helpers[] = { NULL, hand_out };
static const struct env env = { helpers, 2, NULL };

static const uint64_t values[] = {
	0,	    1,		2,	    UINT64_MAX,		INT64_MAX,   1ull << 63,
	0x80000000, 0x7fffffff, UINT32_MAX, 0xffffffff80000000, 0x100000000, 0x123456789abcdef0,
	7,	    63,		32,	    0xfffffffffffffff9,
};
enum { VALUES = sizeof(values) / sizeof(*values) };

/* r0-r9 of program k: neighbours get different values, every pair of values is met. */
static uint64_t initial(unsigned reg, unsigned k)
{
	return values[(reg * 5 + k + (k / VALUES) * reg) % VALUES];
}

struct program {
	struct op ops[64];
	uint32_t n;
};

static void push(struct program *p, struct op op)
{
	p->ops[p->n++] = op;
}

static void begin(struct program *p, unsigned k)
{
	p->n = 0;
	for (uint8_t r = 0; r < REGS; r++)
		push(p, (struct op){ OP_LDIMM, 0, r, 0, 0, (int64_t)initial(r, k) });
}

static void end(struct program *p)
{
	for (uint8_t r = 0; r < REGS; r++)
		push(p, (struct op){ OP_ST, OP_REG | op_mode_size(8), 10, r, r * 8 - 80, 0 });
	push(p, (struct op){ OP_MOV, OP_REG, 1, 10, 0, 0 });
	push(p, (struct op){ OP_ADD, 0, 1, 0, 0, -80 });
	push(p, (struct op){ OP_CALL, 0, 0, 0, 0, 1 });
	push(p, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
}

static struct unit *unit_of(const struct program *p)
{
	struct unit *u = mem_zalloc(1, sizeof(*u));

	u->ops = mem_dup(p->ops, p->n * sizeof(*p->ops));
	u->n_ops = p->n;
	u->env = &env;
	assert_int_equal(unit_index(u, NULL), 0);
	return u;
}

static void memory_reset(unsigned k)
{
	for (unsigned i = 0; i < DATA; i++)
		memory[i] = values[(i + k) % VALUES];
}

static void native(const struct unit *u, const struct jit_opts *opts)
{
	struct report r = { 0 };
	struct code *code;
	struct image *image;

	if (jit_compile(target_find(NULL), u, opts, &r, &code) || image_new(code, &r, &image))
		fail_msg("%s", r.text);
	helper_call(image->entry, 0, 0, 0, 0, 0);
	image_free(image);
	report_free(&r);
}

static void show(const struct program *p, const struct unit *u, uint64_t want[REGS + 1])
{
	char text[100];

	for (uint32_t i = REGS; i < p->n; i++)
		if (op_print(u, i, PRINT_LLVM, text, sizeof(text)), p->ops[i].code != OP_ST)
			print_message("%s\n", text);
	for (unsigned r = 0; r <= REGS; r++)
		print_message("r%u: interpreted %llx, native %llx%s\n", r, (long long)want[r],
			      (long long)seen.regs[r], want[r] == seen.regs[r] ? "" : "  <--");
}

static const struct jit_opts variants[] = { { .cpu = NULL }, { .cpu = "baseline" } };

static void compare(struct program *p, unsigned k)
{
	uint64_t want[REGS + 1], r0;
	struct unit *u;

	end(p);
	u = unit_of(p);
	memory_reset(k);
	assert_int_equal(interp_run(u, (uint64_t[5]){ 0 }, NULL, &r0), 0);
	memcpy(want, seen.regs, sizeof(want));
	for (unsigned v = 0; v < 2; v++) {
		memory_reset(k);
		memset(&seen, 0x55, sizeof(seen));
		native(u, &variants[v]);
		compared++;
		if (memcmp(want, seen.regs, sizeof(want))) {
			show(p, u, want);
			fail_msg("native code differs");
		}
	}
	unit_free(u);
}

static void one(struct op op, unsigned k)
{
	struct program p;

	begin(&p, k);
	push(&p, op);
	compare(&p, k);
}

static const uint8_t alu[] = {
	OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_SDIV, OP_MOD,   OP_SMOD,  OP_OR,
	OP_AND, OP_XOR, OP_LSH, OP_RSH, OP_ARSH, OP_UHMUL, OP_SHMUL, OP_MOV
};

static void alu_registers(void **state)
{
	unsigned k = 0;

	for (unsigned o = 0; o < sizeof(alu); o++)
		for (unsigned w = 0; w < 2; w++)
			for (uint8_t dst = 0; dst < REGS; dst++)
				for (uint8_t src = 0; src < REGS; src++)
					for (unsigned i = 0; i < 6; i++)
						one((struct op){ alu[o], OP_REG | (w ? OP_W32 : 0),
								 dst, src, 0, 0 },
						    k++);
}

/* Every pair of values, in two registers that are nothing special and in rax, rdx, rcx. */
static void alu_values(void **state)
{
	static const uint8_t pairs[][2] = { { 6, 7 }, { 0, 3 }, { 3, 0 },
					    { 4, 3 }, { 7, 4 }, { 3, 3 } };

	for (unsigned o = 0; o < sizeof(alu); o++)
		for (unsigned w = 0; w < 2; w++)
			for (unsigned i = 0; i < VALUES * VALUES; i++) {
				const uint8_t *pair = pairs[i % 6];
				struct program p;

				begin(&p, i);
				p.ops[pair[0]].imm = (int64_t)values[i / VALUES];
				p.ops[pair[1]].imm = (int64_t)values[i % VALUES];
				push(&p, (struct op){ alu[o], OP_REG | (w ? OP_W32 : 0), pair[0],
						      pair[1], 0, 0 });
				compare(&p, i);
			}
}

static const int32_t imms[] = { 0,	   1,	-1,    2,	   3,	       5,
				9,	   8,	127,   128,	   -128,       -129,
				255,	   256, 65535, 65536,	   0x10000000, INT32_MAX,
				INT32_MIN, 31,	32,    33,	   63,	       7,
				10,	   24,	1000,  1000000000, -7,	       -2 };

static void alu_immediates(void **state)
{
	unsigned k = 0;

	for (unsigned o = 0; o < sizeof(alu); o++)
		for (unsigned w = 0; w < 2; w++)
			for (uint8_t dst = 0; dst < REGS; dst++)
				for (unsigned i = 0; i < sizeof(imms) / sizeof(*imms); i++)
					one((struct op){ alu[o], w ? OP_W32 : 0, dst, 0, 0,
							 imms[i] },
					    k++);
}

static void unary(void **state)
{
	static const struct op ops[] = {
		{ OP_NEG, 0, 0, 0, 0, 0 },    { OP_NEG, OP_W32, 0, 0, 0, 0 },
		{ OP_TOLE, 0, 0, 0, 0, 16 },  { OP_TOLE, 0, 0, 0, 0, 32 },
		{ OP_TOLE, 0, 0, 0, 0, 64 },  { OP_TOBE, 0, 0, 0, 0, 16 },
		{ OP_TOBE, 0, 0, 0, 0, 32 },  { OP_TOBE, 0, 0, 0, 0, 64 },
		{ OP_BSWAP, 0, 0, 0, 0, 16 }, { OP_BSWAP, 0, 0, 0, 0, 32 },
		{ OP_BSWAP, 0, 0, 0, 0, 64 },
	};

	for (unsigned o = 0; o < sizeof(ops) / sizeof(*ops); o++)
		for (unsigned k = 0; k < 160; k++) {
			struct op op = ops[o];

			op.dst = k % REGS;
			one(op, k);
		}
}

static void sign_extensions(void **state)
{
	for (unsigned size = 1; size <= 4; size *= 2)
		for (unsigned w = 0; w < 2; w++)
			for (uint8_t dst = 0; dst < REGS; dst++)
				for (uint8_t src = 0; src < REGS; src++)
					for (unsigned k = 0; k < (size == 4 && w ? 0 : 6); k++)
						one((struct op){ OP_MOV,
								 OP_REG | OP_SX |
								     op_mode_size(size) |
								     (w ? OP_W32 : 0),
								 dst, src, 0, 0 },
						    k * 3);
}

/* The op with its base register pointing into memory, `off` away from the middle. */
static void one_memory(struct op op, uint8_t base, unsigned k)
{
	struct program p;

	begin(&p, k);
	p.ops[base].imm = (int64_t)(uintptr_t)&memory[DATA / 2] - op.off;
	push(&p, op);
	compare(&p, k);
}

static void loads(void **state)
{
	static const int32_t offs[] = { 0, 1, 127, 128, -128, -129, 32767, -32768 };
	unsigned k = 0;

	for (unsigned size = 1; size <= 8; size *= 2)
		for (unsigned sx = 0; sx < (size == 8 ? 1 : 2); sx++)
			for (uint8_t dst = 0; dst < REGS; dst++)
				for (uint8_t src = 0; src < REGS; src++)
					for (unsigned i = 0; i < 8; i++) {
						uint8_t mode =
						    op_mode_size(size) | (sx ? OP_SX : 0);

						one_memory((struct op){ OP_LD, mode, dst, src,
									offs[i], 0 },
							   src, k++);
						if (!sx)
							one_memory((struct op){ OP_LDACQ, mode, dst,
										src, offs[i], 0 },
								   src, k);
					}
}

static void stores(void **state)
{
	static const int32_t offs[] = { 0, -1, 127, 128, -128, -129, 32767, -32768 };
	unsigned k = 0;

	for (unsigned size = 1; size <= 8; size *= 2)
		for (uint8_t dst = 0; dst < REGS; dst++)
			for (uint8_t src = 0; src < REGS; src++)
				for (unsigned i = 0; i < 8; i++) {
					uint8_t mode = op_mode_size(size);

					if (dst == src)
						continue;
					one_memory((struct op){ OP_ST, mode | OP_REG, dst, src,
								offs[i], 0 },
						   dst, k++);
					one_memory(
					    (struct op){ OP_STREL, mode, dst, src, offs[i], 0 },
					    dst, k);
					one_memory((struct op){ OP_ST, mode, dst, 0, offs[i],
								imms[k % 30] },
						   dst, k);
				}
}

static void atomics(void **state)
{
	static const uint8_t codes[] = { OP_AADD, OP_AOR, OP_AAND, OP_AXOR, OP_XCHG, OP_CMPXCHG };
	unsigned k = 0;

	for (unsigned o = 0; o < sizeof(codes); o++)
		for (unsigned fetch = codes[o] >= OP_XCHG; fetch < 2; fetch++)
			for (unsigned size = 4; size <= 8; size *= 2)
				for (uint8_t dst = 0; dst < REGS; dst++)
					for (uint8_t src = 0; src < REGS; src++)
						for (unsigned i = 0; i < 4; i++)
							one_memory(
							    (struct op){ codes[o],
									 op_mode_size(size) |
									     (fetch ? OP_FETCH : 0),
									 dst, src, i * 8, 0 },
							    dst, k++);
}

/* An exchange that succeeds: r0 is what memory holds, with and without something above it. */
static void compare_exchange(void **state)
{
	for (unsigned k = 0; k < 200; k++) {
		uint8_t dst = 1 + k % 9, src = 1 + k / 9 % 9, size = k & 1 ? 4 : 8;
		struct program p;

		begin(&p, k);
		memory_reset(k);
		p.ops[0].imm = (int64_t)memory[DATA / 2];
		if (size == 4)
			p.ops[0].imm ^= (int64_t)(k & 2) << 40;
		p.ops[dst].imm = (int64_t)(uintptr_t)&memory[DATA / 2];
		push(&p, (struct op){ OP_CMPXCHG, OP_FETCH | op_mode_size(size), dst, src, 0, 0 });
		compare(&p, k);
	}
}

/* A jump over a change of r0, with a register and with an immediate. */
static void one_jump(struct op op, unsigned k)
{
	struct program p;

	begin(&p, k);
	op.off = REGS + 2;
	push(&p, op);
	push(&p, (struct op){ OP_LDIMM, 0, 0, 0, 0, 0x5a5a5a5a });
	compare(&p, k);
}

static void jumps(void **state)
{
	unsigned k = 0;

	for (uint8_t code = OP_JEQ; code <= OP_JSLE; code++)
		for (unsigned w = 0; w < 2; w++)
			for (uint8_t dst = 0; dst < REGS; dst++) {
				for (uint8_t src = 0; src < REGS; src++)
					for (unsigned i = 0; i < 3; i++)
						one_jump((struct op){ code,
								      OP_REG | (w ? OP_W32 : 0),
								      dst, src, 0, 0 },
							 k++);
				for (unsigned i = 0; i < 30; i++)
					one_jump(
					    (struct op){ code, w ? OP_W32 : 0, dst, 0, 0, imms[i] },
					    k++);
			}
}

/* Each value against each immediate and its neighbours, so that every comparison is near its
 * edge. */
static void jump_edges(void **state)
{
	for (uint8_t code = OP_JEQ; code <= OP_JSLE; code++)
		for (unsigned w = 0; w < 2; w++)
			for (unsigned i = 0; i < 30; i++)
				for (int64_t d = -1; d <= 1; d++) {
					struct program p;

					begin(&p, i);
					p.ops[6].imm = imms[i] + d;
					push(&p, (struct op){ code, w ? OP_W32 : 0, 6, 0, REGS + 2,
							      imms[i] });
					push(&p, (struct op){ OP_LDIMM, 0, 0, 0, 0, 1 });
					compare(&p, i);
				}
}

/* A copy and an op on it, which may become one instruction; then also with a jump that leads
 * between the two, which must not. */
static void one_pair(struct op mov, struct op op, bool split, unsigned k)
{
	struct program p;

	begin(&p, k);
	if (split)
		push(&p, (struct op){ OP_JGT, 0, mov.src, 0, REGS + 2, 100 });
	push(&p, mov);
	push(&p, op);
	compare(&p, k);
}

static void pairs(void **state)
{
	unsigned k = 0;

	for (unsigned o = 0; o < sizeof(alu); o++)
		for (unsigned w = 0; w < 4; w++)
			for (unsigned i = 0; i < 250; i++, k++) {
				uint8_t a = (k * 7 + i) % REGS, b = (k / 3) % REGS, c = i % REGS;
				uint8_t mov = OP_REG | (w & 1 ? OP_W32 : 0),
					width = w & 2 ? OP_W32 : 0;

				one_pair((struct op){ OP_MOV, mov, a, b, 0, 0 },
					 (struct op){ alu[o], OP_REG | width, a, c, 0, 0 },
					 i % 8 == 7, k);
				one_pair((struct op){ OP_MOV, mov, a, b, 0, 0 },
					 (struct op){ alu[o], width, a, 0, 0, imms[i % 30] },
					 i % 8 == 7, k);
			}
}

static void swapped_loads(void **state)
{
	static const uint8_t codes[] = { OP_TOBE, OP_BSWAP, OP_TOLE };

	for (unsigned k = 0; k < 1800; k++) {
		uint8_t size = 1 << k % 4, dst = k / 4 % REGS, src = k / 40 % REGS;
		uint8_t sx = k % 7 == 0 && size < 8 ? OP_SX : 0;
		struct program p;

		begin(&p, k);
		p.ops[src].imm = (int64_t)(uintptr_t)&memory[DATA / 2] - 24;
		push(&p, (struct op){ OP_LD, op_mode_size(size) | sx, dst, src, 24, 0 });
		push(&p, (struct op){ codes[k % 3], 0, dst, 0, 0, 16 << k / 12 % 3 });
		compare(&p, k);
	}
}

static void constants(void **state)
{
	for (unsigned i = 0; i < 64; i++)
		for (int64_t d = -2; d <= 2; d++)
			one((struct op){ OP_LDIMM, 0, i % REGS, 0, 0,
					 (int64_t)((1ull << i) + (uint64_t)d) },
			    i);
	for (unsigned i = 0; i < VALUES; i++)
		one((struct op){ OP_LDIMM, 0, i % REGS, 0, 0, (int64_t)values[i] }, i);
}

static int count(void **state)
{
	print_message("# %lu native runs compared\n", compared);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alu_registers),
		cmocka_unit_test(alu_values),
		cmocka_unit_test(alu_immediates),
		cmocka_unit_test(unary),
		cmocka_unit_test(sign_extensions),
		cmocka_unit_test(loads),
		cmocka_unit_test(stores),
		cmocka_unit_test(atomics),
		cmocka_unit_test(compare_exchange),
		cmocka_unit_test(jumps),
		cmocka_unit_test(jump_edges),
		cmocka_unit_test(constants),
		cmocka_unit_test(pairs),
		cmocka_unit_test(swapped_loads),
	};

	if (!target_find(NULL)) {
		printf("1..0 # SKIP no back end for this machine\n");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, count);
}
