/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compile time: from a decoded unit to a sealed executable image, for growing programs of one
 * mix of operations. Prints ns for each BPF instruction over sizes, and the fixed part.
 *
 *   bench_compile [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/report.h"
#include "isa/unit.h"
#include "jit/jit.h"

/* The mix, after census.md: moves, loads, arithmetic, stores, a conditional jump, a constant. */
static const char *const mix[] = {
	"r1 = r6",
	"r2 = *(u32 *)(r10 - 8)",
	"r1 += r2",
	"r1 <<= 3",
	"w2 &= 255",
	"*(u64 *)(r10 - 16) = r1",
	"r3 = 0x1234567812345678 ll",
	"r0 ^= r3",
	"if r1 == 0 goto +1",
	"r0 += 1",
	"r4 = r10",
	"r4 += -16",
	"*(u8 *)(r4 + 2) = w2",
	"r6 += r0",
};
enum { MIX = sizeof(mix) / sizeof(mix[0]) };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct unit *program(unsigned ops)
{
	struct report text = { 0 }, r = { 0 };
	struct unit *u = NULL;

	report_add(&text, "r6 = r1\nr0 = 0\n*(u64 *)(r10 - 8) = r0\n*(u64 *)(r10 - 16) = r0\n");
	for (unsigned i = 0; i < ops; i++)
		report_add(&text, "%s\n", mix[i % MIX]);
	report_add(&text, "r0 = r0\nexit\n");
	if (unit_parse("mix", text.text, &r, &u))
		fprintf(stderr, "%s", r.text);
	report_free(&text);
	report_free(&r);
	return u;
}

/* ns of one compile with its image, or -1. */
static double compile_once(const struct unit *u, size_t *bytes)
{
	struct jit_opts opts = { 0 };
	struct report r = { 0 };
	struct code *code;
	struct image *image = NULL;
	double from = now(), ns = -1;

	if (!jit_compile(target_find(NULL), u, &opts, &r, &code) && !image_new(code, &r, &image)) {
		ns = now() - from;
		*bytes = image->size;
		image_free(image);
	} else {
		fprintf(stderr, "%s", r.text ? r.text : "compile failed\n");
	}
	report_free(&r);
	return ns;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 8, 30, 100, 1000, 10000, 100000 };
	int rounds = argc > 1 ? atoi(argv[1]) : 51;
	double *ns = calloc((size_t)(rounds > 0 ? rounds : 1), sizeof(*ns));

	printf("%10s %12s %12s %12s %10s\n", "insns", "median us", "lowest us", "ns per insn",
	       "bytes");
	for (size_t i = 0; ns && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct unit *u = program(sizes[i]);
		int n = sizes[i] > 10000 ? rounds / 5 + 1 : rounds;
		size_t bytes = 0;

		for (int k = 0; u && k < n; k++)
			ns[k] = compile_once(u, &bytes);
		if (!u || ns[0] < 0)
			return 1;
		qsort(ns, (size_t)n, sizeof(*ns), by_value);
		printf("%10u %12.1f %12.1f %12.1f %10zu\n", u->n_ops, ns[n / 2] / 1e3, ns[0] / 1e3,
		       ns[n / 2] / u->n_ops, bytes);
		unit_free(u);
	}
	free(ns);
	return 0;
}
