/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and loads BPF objects through the private libbpf: load FILE... Prints TAP, one line for
 * each program. Programs are loaded one at a time, so that one refusal hides no other.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "object/object.h"

static unsigned tests, failed;

static void result(int err, const char *path, const char *prog, const char *why)
{
	const char *base = strrchr(path, '/');

	printf("%sok %u - %s %s\n", err ? "not " : "", ++tests, base ? base + 1 : path, prog);
	failed += err != 0;
	if (why && err)
		printf("# %s\n", why);
}

/* The n-th program alone; false when there is none. */
static bool load_one(const char *path, unsigned n)
{
	struct report r = { 0 }, log = { 0 };
	struct bpf_program *p, *chosen = NULL;
	struct bpf_object *obj = NULL;
	unsigned i = 0;
	int err = object_open(path, &r, &obj);

	if (err) {
		result(err, path, "(open)", r.text);
		report_free(&r);
		return false;
	}
	bpf_object__for_each_program(p, obj) {
		bpf_program__set_autoload(p, i == n);
		if (i++ == n)
			chosen = p;
	}
	if (chosen) {
		err = object_load(path, obj, &r, &log);
		result(err, path, bpf_program__name(chosen), r.text);
		if (err && log.text)
			fprintf(stderr, "%s", log.text);
	}
	bpf_object__close(obj);
	report_free(&r);
	report_free(&log);
	return chosen != NULL;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (unsigned n = 0; load_one(argv[i], n); n++)
			;
	}
	printf("1..%u\n", tests);
	return failed != 0;
}
