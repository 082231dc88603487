// SPDX-License-Identifier: BSD-2-Clause
/* timer_test OBJECT: timers fire when a run of their program ends. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

static unsigned points, failed;

static void point(int want, int got, const char *what)
{
	bool ok = want == got;

	printf("%s %u - %s\n", ok ? "ok" : "not ok", ++points, what);
	if (!ok)
		printf("# %d, not %d\n", got, want);
	failed += !ok;
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

static int run(struct bpf_object *o, const char *name)
{
	char packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, t, .data_in = packet, .data_size_in = sizeof(packet));
	int fd = bpf_program__fd(bpf_object__find_program_by_name(o, name));

	return bpf_prog_test_run_opts(fd, &t) ? -1000 : (int)t.retval;
}

int main(int argc, char **argv)
{
	struct bpf_object *o;

	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	o = argc == 2 ? bpf_object__open(argv[1]) : NULL;
	if (!o || bpf_object__load(o)) {
		printf("1..1\nnot ok 1 - the object loads\n");
		return 1;
	}
	point(0, run(o, "array_timer"), "array: not fired in the first run");
	point(201, run(o, "array_timer"), "array: fired once, with its key");
	point(402, run(o, "array_timer"), "array: fired again");
	point(600, run(o, "hash_timer"), "hash: not fired in the first run");
	point(1301, run(o, "hash_timer"), "hash: fired once, with its key");
	point(-1, run(o, "hash_timer"), "hash: the element is removed");
	point(2000, run(o, "hash_timer"), "hash: a new element has a fresh timer");
	point(2701, run(o, "hash_timer"), "hash: which fires");
	point(22220016, run(o, "timer_errors"), "errors of start and init");
	point(100, run(o, "timer_cancelled"), "cancel");
	printf("1..%u\n", points);
	bpf_object__close(o);
	return failed != 0;
}
