/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every rewritten program of the corpus compiles for x86-64, on any host, with and without
 * pairs of ops in one instruction; the code can be placed, and its tables are in order.
 *
 * usage: corpus_test DIR   (of FILE.bin; skips aloud when it is not there)
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/file.h"
#include "jit/jit.h"

static const uint64_t base = 0x7f0000000000;

struct total {
	unsigned long programs, insns, bytes, wrong;
};

static bool tables_in_order(const struct code *c, const struct unit *u)
{
	bool ok = c->n_lines == u->n_ops && c->entry < c->size && c->tail_entry < c->size;

	for (size_t i = 0; i < c->n_lines && ok; i++)
		ok = c->lines[i].op == i && c->lines[i].offset <= c->size &&
		     (!i || c->lines[i - 1].offset <= c->lines[i].offset);
	for (size_t i = 0; i < c->n_faults && ok; i++)
		ok = c->faults[i].resume > c->faults[i].offset &&
		     (!i || c->faults[i - 1].offset < c->faults[i].offset);
	for (uint32_t s = 1; s < c->n_subs && ok; s++)
		ok = c->sub_offset[s] > c->sub_offset[s - 1];
	return ok;
}

static void compile(const char *path, const char *arch, const char *cpu, bool separate,
		    struct total *t)
{
	const struct jit_opts opts = { .cpu = cpu, .base = base, .separate = separate };
	struct report r = { 0 };
	struct unit *u = NULL;
	struct code *c = NULL;
	uint8_t *linked;
	int err = file_read(path, &r, &u);

	if (!err)
		err = jit_compile(target_find(arch), u, &opts, &r, &c);
	if (!err) {
		linked = mem_zalloc(c->size, 1);
		err = code_link(c, base, linked);
		mem_free(linked);
		t->programs++;
		t->insns += u->slot[u->n_ops];
		t->bytes += c->size;
	}
	if (err || !tables_in_order(c, u)) {
		printf("# %s: %d %s\n", path, err, r.text ? r.text : "");
		t->wrong++;
	}
	code_free(c);
	if (u)
		unit_free(u);
	report_free(&r);
}

static int is_bin(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && !strcmp(e->d_name + n - 4, ".bin");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *arch, *cpu;
		bool separate;
	} ways[] = { { "x86_64", "baseline", true },
		     { "x86_64", "baseline", false },
		     { "x86_64", "x86-64-v3", true },
		     { "x86_64", "x86-64-v3", false } };
	enum { WAYS = sizeof(ways) / sizeof(*ways) };
	struct dirent **names;
	char path[4096];
	int n = argc > 1 ? scandir(argv[1], &names, is_bin, alphasort) : -1;

	if (n <= 0) {
		printf("1..0 # SKIP there is no %s\n", argc > 1 ? argv[1] : "corpus");
		return 0;
	}
	printf("1..%d\n", WAYS);
	for (int way = 0; way < WAYS; way++) {
		struct total t = { 0 };

		for (int i = 0; i < n; i++) {
			snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
			compile(path, ways[way].arch, ways[way].cpu, ways[way].separate, &t);
		}
		printf("%s %d - %s %s%s: %lu programs, %lu insns, %lu bytes (%.3f each)\n",
		       t.wrong ? "not ok" : "ok", way + 1, ways[way].arch, ways[way].cpu,
		       ways[way].separate ? " -O0" : "", t.programs, t.insns, t.bytes,
		       (double)t.bytes / (double)t.insns);
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return 0;
}
