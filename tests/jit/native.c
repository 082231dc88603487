/* SPDX-License-Identifier: BSD-2-Clause */
#include "native.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"

static uint64_t add5(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e;
}

/* Fails when the stack is not aligned as the C ABI wants it. */
static uint64_t stack_alignment(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d,
					   uint64_t e))
{
	return (uintptr_t)__builtin_frame_address(0) & 15;
}

static uint64_t call_back(BPF_PARAMS(uint64_t fn, uint64_t times, uint64_t ctx, uint64_t d,
				     uint64_t e))
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < times; i++)
		sum += callback_call(fn, i, ctx, 0, 0, 0);
	return sum;
}

static uint64_t load_abs(BPF_PARAMS(uint64_t ctx, int64_t off, uint64_t size))
{
	return off >= 0 && off + (int64_t)size <= 16 ? ctx + (uint64_t)off + size : UINT64_MAX;
}

static const helper_fn helpers[] = { NULL, add5, stack_alignment, call_back };
static const struct env env = { helpers, 4, load_abs };

void push(ops_t *v, struct op op)
{
	assert_int_equal(vec_push(v, op), 0);
}

struct unit *unit_from(const char *text)
{
	struct report r = { 0 };
	struct unit *u = NULL;

	if (unit_parse("test", text, &r, &u))
		fail_msg("%s", r.text);
	u->env = &env;
	return u;
}

struct unit *unit_of(ops_t *v)
{
	struct unit *u = mem_zalloc(1, sizeof(*u));

	u->ops = v->at;
	u->n_ops = (uint32_t)v->n;
	u->env = &env;
	assert_int_equal(unit_index(u, NULL), 0);
	return u;
}

struct image *image_of(const struct unit *u, const struct jit_opts *opts)
{
	struct report r = { 0 };
	struct code *code;
	struct image *image;

	if (jit_compile(target_find(NULL), u, opts, &r, &code) || image_new(code, &r, &image))
		fail_msg("%s", r.text);
	return image;
}

uint64_t run_text(const char *text, uint64_t a)
{
	struct unit *u = unit_from(text);
	struct image *i = image_of(u, NULL);
	uint64_t r0 = helper_call(i->entry, a, 2, 3, 4, 5);

	image_free(i);
	unit_free(u);
	return r0;
}

struct unit *large_unit(uint32_t n)
{
	ops_t v = { 0 };

	push(&v, (struct op){ OP_MOV, 0, 0, 0, 0, 0 });
	while (v.n + 1 < n) {
		uint32_t k = (uint32_t)v.n, far = k + 1 + (k * 7919) % 3000;

		switch (k % 8) {
		case 0:
			push(&v, (struct op){ OP_ADD, 0, 0, 0, 0, (int32_t)k });
			break;
		case 1:
			push(&v, (struct op){ OP_ST, OP_REG | op_mode_size(8), 10, 0, -8, 0 });
			break;
		case 2:
			push(&v,
			     (struct op){ OP_JGT, 0, 0, 0, (int32_t)(far < n ? far : n - 1), 77 });
			break;
		case 3:
			push(&v, (struct op){ OP_LD, op_mode_size(4), 3, 10, -8, 0 });
			break;
		case 4:
			push(&v, (struct op){ OP_XOR, OP_REG, 0, 3, 0, 0 });
			break;
		case 5:
			push(&v, (struct op){ OP_LSH, OP_W32, 3, 0, 0, 3 });
			break;
		case 6:
			push(&v, (struct op){ OP_JEQ, OP_REG, 0, 3,
					      (int32_t)(k + 3 < n ? k + 3 : n - 1), 0 });
			break;
		default:
			push(&v, (struct op){ OP_LDIMM, 0, 4, 0, 0, (int64_t)k << 20 });
		}
	}
	push(&v, (struct op){ OP_EXIT, 0, 0, 0, 0, 0 });
	return unit_of(&v);
}

void on_signal(int sig, siginfo_t *info, void *context)
{
	if (!image_resume(context))
		_exit(99);
}
