/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles for arm64 that fail, on any host: every allocation in turn, and an operand that no
 * instruction can hold. Each fails with a message, leaks nothing (the run under LeakSanitizer
 * sees), and the next compile works.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "jit/jit.h"

static const char program[] = "r6 = r1\n"
			      "if r6 == 0 goto out\n"
			      "r1 = f ll\n"
			      "r2 = 0x123456789abcdef0 ll\n"
			      "lock *(u64 *)(r10 - 8) += r2\n"
			      "call 1\n"
			      "call 12\n"
			      "call 12\n"
			      "call f\n"
			      "out:\n"
			      "r0 = 0\n"
			      "exit\n"
			      "f:\n"
			      "*(u64 *)(r10 - 8) = r1\n"
			      "r0 = *(u64 *)(r10 - 8)\n"
			      "exit\n";

static int compile(const struct unit *u, struct report *r, size_t *size)
{
	const struct jit_opts opts = { .cpu = "neoverse-n1", .base = 0x40000000 };
	struct code *c = NULL;
	int err = jit_compile(target_find("arm64"), u, &opts, r, &c);

	if (!err) {
		*size = c->size;
		code_free(c);
	}
	return err;
}

static bool allocations_fail(const struct unit *u)
{
	size_t size = 0;
	bool ok = true;
	int err = -ENOMEM;

	for (unsigned long n = 1; err; n++) {
		struct report r = { 0 };

		mem_fail_at(n, 0);
		err = compile(u, &r, &size);
		mem_fail_at(0, 0);
		ok = ok && (!err || err == -ENOMEM);
		report_free(&r);
		if (!err)
			printf("# %lu allocations failed in turn\n", n - 1);
	}
	return ok && size;
}

/* A frame of 60,000 bytes is no operand of `sub sp, sp`. */
static bool operand_fails(const struct unit *u)
{
	uint32_t huge[] = { 60000, 60000 };
	struct unit deep = *u;
	struct report r = { 0 };
	size_t size = 0;
	int err;

	deep.stack = huge;
	err = compile(&deep, &r, &size);
	bool named = r.text && strstr(r.text, "arm64: insn 0: SUBI");

	printf("# %s", r.text ? r.text : "no message\n");
	report_free(&r);
	return err == -ERANGE && named && !compile(u, &r, &size);
}

int main(void)
{
	struct report r = { 0 };
	struct unit *u = NULL;
	bool ok[2] = { false, false };

	if (!unit_parse("program", program, &r, &u)) {
		ok[0] = allocations_fail(u);
		ok[1] = operand_fails(u);
		unit_free(u);
	} else {
		printf("# %s", r.text);
	}
	report_free(&r);
	printf("%sok 1 - every allocation fails in turn\n", ok[0] ? "" : "not ");
	printf("%sok 2 - an operand that does not fit is an error, not other code\n",
	       ok[1] ? "" : "not ");
	puts("1..2");
	return !ok[0] || !ok[1];
}
