/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens and loads BPF objects through the private libbpf: load FILE... Prints TAP, one line for
 * each program. Programs are loaded one at a time, so that one refusal hides no other.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "object/object.h"
#include "skep/skep.h"

static unsigned tests, failed;

static void result(int err, const char *path, const char *prog, const char *why)
{
	const char *base = strrchr(path, '/');

	printf("%sok %u - %s %s\n", err ? "not " : "", ++tests, base ? base + 1 : path, prog);
	failed += err != 0;
	if (why && err)
		printf("# %s\n", why);
}

/* Types of the corpus' programs, by the table that came with it: a row begins with object,
 * program, section, type. */
static const char *types_path;

static bool type_row(const char *path, const char *prog, char type[64])
{
	char line[512], object[128], name[128];
	FILE *f = types_path ? fopen(types_path, "re") : NULL;
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%127s\t%127s\t%*[^\t]\t%63s", object, name, type) == 3 &&
			strstr(path, object) && !strcmp(prog, name);
	if (f)
		fclose(f);
	return found;
}

static void type_set(const char *path, struct bpf_program *p)
{
	char type[64];

	if (bpf_program__type(p) != BPF_PROG_TYPE_UNSPEC ||
	    !type_row(path, bpf_program__name(p), type))
		return;
	for (enum bpf_prog_type t = 1; libbpf_bpf_prog_type_str(t); t++) {
		if (!strcmp(libbpf_bpf_prog_type_str(t), type))
			bpf_program__set_type(p, t);
	}
}

/* Old objects do not say what their inner maps look like: any will do. */
static void inner_set(struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		bool outer = bpf_map__type(m) == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			     bpf_map__type(m) == BPF_MAP_TYPE_HASH_OF_MAPS;
		union bpf_attr attr = { .map_type = BPF_MAP_TYPE_HASH,
					.key_size = 4,
					.value_size = 4,
					.max_entries = 1 };
		int fd;

		if (!outer || bpf_map__inner_map(m))
			continue;
		fd = skep_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
		bpf_map__set_inner_map_fd(m, fd);
	}
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
	bpf_object__for_each_program(p, obj)
	{
		bpf_program__set_autoload(p, i == n);
		if (i++ == n)
			chosen = p;
	}
	inner_set(obj);
	if (chosen) {
		type_set(path, chosen);
		err = object_load(path, obj, &(struct object_load){ .all = &log }, &r);
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
		if (strstr(argv[i], ".tsv")) {
			types_path = argv[i];
			continue;
		}
		for (unsigned n = 0; load_one(argv[i], n); n++)
			;
	}
	printf("1..%u\n", tests);
	return failed != 0;
}
