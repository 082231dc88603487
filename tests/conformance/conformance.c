/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conformance ENGINE DIR: runs each DIR/FILE.data of the public BPF conformance data on one
 * engine, as TAP, one line a file.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "engine.h"
#include "isa/unit.h"
#include "notation.h"

enum { TEXT_MAX = 1 << 16, MEM_MAX = 4096 };

/* The sections of a file, NUL-terminated; empty when missing. */
struct sections {
	char assembly[TEXT_MAX], raw[TEXT_MAX], mem[TEXT_MAX], result[TEXT_MAX], other[TEXT_MAX];
};

static char *section_named(struct sections *s, const char *name)
{
	return strncmp(name, "asm", 3) == 0	 ? s->assembly
	       : strncmp(name, "raw", 3) == 0	 ? s->raw
	       : strncmp(name, "mem", 3) == 0	 ? s->mem
	       : strncmp(name, "result", 6) == 0 ? s->result
						 : s->other;
}

static bool sections_read(const char *path, struct sections *s)
{
	char line[1024];
	char *to = s->other;
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	memset(s, 0, sizeof(*s));
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "-- ", 3) == 0)
			to = section_named(s, line + 3);
		else if (strlen(to) + strlen(line) < TEXT_MAX)
			strcat(to, line);
	}
	fclose(f);
	return true;
}

/* Hex bytes into `mem`; returns their number. */
static size_t parse_mem(const char *text, uint8_t mem[MEM_MAX])
{
	size_t n = 0;
	char *end;

	for (; n < MEM_MAX; text = end) {
		mem[n] = (uint8_t)strtoul(text, &end, 16);
		if (end == text)
			break;
		n++;
	}
	return n;
}

/* One instruction a number, as its 8 bytes in little-endian order. */
static int parse_raw(const char *text, struct insns *out)
{
	struct bpf_insn i;
	uint64_t v;
	char *end;

	for (;; text = end) {
		v = strtoull(text, &end, 16);
		if (end == text)
			return 0;
		memcpy(&i, &v, sizeof(i));
		if (vec_push(&out->v, i))
			return -ENOMEM;
	}
}

static uint64_t helper_first(BPF_PARAMS(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e))
{
	return a;
}

static const helper_fn helpers[] = { [5] = helper_first };
static const struct env env = { helpers, sizeof(helpers) / sizeof(helpers[0]), NULL };

/* callx is an internal form for skep, so those are allowed. */
static int read_unit(const struct sections *s, struct report *r, struct unit **out)
{
	struct insns insns = { 0 };
	int err = s->raw[0] ? parse_raw(s->raw, &insns) : notation_parse(s->assembly, r, &insns);

	if (!err)
		err = unit_decode(insns.v.at, (uint32_t)insns.v.n, true, r, out);
	vec_free(&insns.v);
	if (!err)
		(*out)->env = &env;
	return err;
}

static int run_unit(const struct engine *e, const struct unit *u, const char *mem_text,
		    struct report *r, uint64_t *r0)
{
	static uint8_t mem[MEM_MAX];
	const size_t n = parse_mem(mem_text, mem);
	const uint64_t args[5] = { n ? (uintptr_t)mem : 0, n };
	struct loaded p;
	int err = engine_load(e, u, r, &p);

	if (err)
		return err;
	err = engine_run(&p, args, r0);
	engine_unload(&p);
	return err;
}

static bool run_file(const struct engine *e, const char *path)
{
	static struct sections s;
	struct report r = { 0 };
	struct unit *u = NULL;
	uint64_t r0 = 0, want = 0;
	int err = sections_read(path, &s) ? read_unit(&s, &r, &u) : -ENOENT;

	if (!err)
		err = run_unit(e, u, s.mem, &r, &r0);
	want = strtoull(s.result, NULL, 0);
	if (err)
		printf("# %s: %s: %s\n", path, strerror(-err), r.text ? r.text : "");
	else if (r0 != want)
		printf("# %s: r0 is 0x%" PRIx64 ", not 0x%" PRIx64 "\n", path, r0, want);
	unit_free(u);
	report_free(&r);
	return !err && r0 == want;
}

static int is_data(const struct dirent *d)
{
	const size_t n = strlen(d->d_name);

	return n > 5 && strcmp(d->d_name + n - 5, ".data") == 0;
}

static int run_dir(const struct engine *e, const char *dir)
{
	struct dirent **files;
	const int n = scandir(dir, &files, is_data, alphasort);
	int failed = 0;

	if (n <= 0) {
		printf("1..0 # SKIP no conformance data in %s\n", dir);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		char path[4096];
		bool ok;

		snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
		ok = run_file(e, path);
		failed += !ok;
		printf("%s %d - %s %s\n", ok ? "ok" : "not ok", i + 1, e->name, files[i]->d_name);
		free(files[i]);
	}
	free(files);
	printf("1..%d\n", n);
	return failed != 0;
}

int main(int argc, char **argv)
{
	struct engine e;

	if (argc != 3 || !engine_find(argv[1], &e)) {
		fprintf(stderr, "usage: conformance interp|jit DIR\n");
		return 2;
	}
	return run_dir(&e, argv[2]);
}
