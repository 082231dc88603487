/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run time of the compute programs (programs.h) in skep, in the running kernel through its
 * BPF_PROG_TEST_RUN (where bpf(2) is allowed) and as native code of the C compiler at -O2.
 *
 *   bench_compute OBJECT [ROUNDS]
 *
 * The three sides take turns within each round, so that what else the machine does hits all of
 * them; every round loads the program anew, so that each has its code at another place. What is
 * printed is the median over the rounds of one round's ratio, with the lowest and highest.
 * Before timing, all sides must return the same number. Exit status 1 if they do not.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "programs.h"
#include "skep/skep.h"

enum { ROUNDS_MAX = 99, TARGET_NS = 4000000 };

#define PROGRAM(name) u32 native_##name(u8 *d);
BENCHES(PROGRAM)
#undef PROGRAM

static const struct {
	const char *name;
	u32 (*native)(u8 *d);
} programs[] = {
#define PROGRAM(name) { #name, native_##name },
	BENCHES(PROGRAM)
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

typedef int (*bpf_fn)(int cmd, union bpf_attr *attr, unsigned size);

static int kernel_bpf(int cmd, union bpf_attr *attr, unsigned size)
{
	return (int)syscall(SYS_bpf, cmd, attr, size);
}

static int load(bpf_fn bpf, const struct bpf_program *p)
{
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_XDP };

	a.insns = (u64)(unsigned long)bpf_program__insns(p);
	a.insn_cnt = (u32)bpf_program__insn_cnt(p);
	a.license = (u64)(unsigned long)"Dual BSD/GPL";
	return bpf(BPF_PROG_LOAD, &a, sizeof(a));
}

static void fill(u8 *d)
{
	u32 x = 1;

	for (u32 i = 0; i < SIZE; i++) {
		x = x * 1664525 + 1013904223;
		d[i] = (u8)(x >> 24);
	}
}

/* CPU time of this thread: other processes' turns on a shared machine do not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Average ns of `repeat` runs on fresh data, the one call among them; *result is the last run's.
 * -1 when it fails. */
static double run_bpf(bpf_fn bpf, int fd, u32 repeat, u32 *result)
{
	u8 d[SIZE];
	union bpf_attr a = { 0 };
	double from;

	fill(d);
	a.test.prog_fd = (u32)fd;
	a.test.data_in = (u64)(unsigned long)d;
	a.test.data_size_in = SIZE;
	a.test.repeat = repeat;
	from = now();
	if (bpf(BPF_PROG_TEST_RUN, &a, sizeof(a)))
		return -1;
	*result = a.test.retval;
	return (now() - from) / repeat;
}

static double run_native(u32 (*fn)(u8 *), u32 repeat, u32 *result)
{
	static u8 d[SIZE] __attribute__((aligned(64)));
	double from;

	fill(d);
	from = now();
	for (u32 i = 0; i < repeat; i++)
		*result = fn(d);
	return (now() - from) / repeat;
}

struct spread {
	double low, median, high;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct spread spread_of(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return (struct spread){ v[0], v[n / 2], v[n - 1] };
}

struct row {
	struct spread kernel, native; /* ratios skep / side */
	bool has_kernel;
};

/* Times one program. 0, or -1 after a message when the sides disagree or one fails. */
static int measure(int i, const struct bpf_program *p, int rounds, struct row *row)
{
	double kernel[ROUNDS_MAX], native[ROUNDS_MAX];
	u32 s = 0, k = 0, n = 0;

	row->has_kernel = true;
	for (int round = 0; round < rounds; round++) {
		int skep_fd = load(skep_bpf, p), kernel_fd = load(kernel_bpf, p);
		double ts = run_bpf(skep_bpf, skep_fd, 1, &s), tk, tn;
		u32 repeat;

		row->has_kernel &= kernel_fd >= 0;
		run_native(programs[i].native, 1, &n);
		if (kernel_fd >= 0)
			run_bpf(kernel_bpf, kernel_fd, 1, &k);
		if (ts < 0 || s != n || (kernel_fd >= 0 && k != n)) {
			fprintf(stderr, "%s: skep %08x, native %08x, kernel %08x (%s)\n",
				programs[i].name, s, n, k,
				ts < 0 ? strerror(errno) : "results differ");
			return -1;
		}
		tn = run_native(programs[i].native, 1000, &n);
		repeat = (u32)(TARGET_NS / (tn > 1 ? tn : 1));
		repeat = repeat > 1000000 ? 1000000 : repeat;
		ts = run_bpf(skep_bpf, skep_fd, repeat, &s);
		tk = kernel_fd >= 0 ? run_bpf(kernel_bpf, kernel_fd, repeat, &k) : 1;
		tn = run_native(programs[i].native, repeat, &n);
		kernel[round] = ts / tk;
		native[round] = ts / tn;
		close(skep_fd);
		if (kernel_fd >= 0)
			close(kernel_fd);
	}
	row->kernel = spread_of(kernel, rounds);
	row->native = spread_of(native, rounds);
	return 0;
}

static void print_row(const char *name, const struct row *r)
{
	printf("%-14s", name);
	if (r->has_kernel)
		printf("  %5.2f  (%5.2f - %5.2f)", r->kernel.median, r->kernel.low, r->kernel.high);
	else
		printf("  %-22s", "-");
	printf("    %5.2f  (%5.2f - %5.2f)\n", r->native.median, r->native.low, r->native.high);
}

static struct bpf_object *open_object(const char *path)
{
	struct bpf_object *o = bpf_object__open_file(path, NULL);

	if (!o || bpf_object__load(o)) {
		fprintf(stderr, "bench_compute: %s: cannot be loaded: %s\n", path, strerror(errno));
		return NULL;
	}
	return o;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 11, bad = 0, measured = 0, with_kernel = 0;
	double log_kernel = 0, log_native = 0;
	struct bpf_object *o = argc > 1 ? open_object(argv[1]) : NULL;

	if (!o || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	printf(
	    "run time, skep relative to the other side (median of %d rounds, lowest - highest)\n",
	    rounds);
	printf("%-14s  %-22s    %s\n", "program", "kernel's JIT", "C compiler -O2");
	for (int i = 0; i < PROGRAMS; i++) {
		const struct bpf_program *p = bpf_object__find_program_by_name(o, programs[i].name);
		struct row r;

		if (!p || measure(i, p, rounds, &r)) {
			bad++;
			continue;
		}
		print_row(programs[i].name, &r);
		log_native += log(r.native.median);
		log_kernel += r.has_kernel ? log(r.kernel.median) : 0;
		with_kernel += r.has_kernel;
		measured++;
	}
	if (with_kernel)
		printf("geometric mean  %.3f x the kernel's JIT\n", exp(log_kernel / with_kernel));
	else
		puts("the kernel does not take bpf(2) here: no comparison with its JIT");
	if (measured)
		printf("geometric mean  %.3f x the C compiler at -O2\n",
		       exp(log_native / measured));
	bpf_object__close(o);
	return bad != 0;
}
