/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rewritten programs of a folder as arm64 assembly text, each BPF instruction lowered on its
 * own: a region of llvm-mca for each program, with its bytes. bench/arm64.py reads it.
 *
 *   bench_arm64 [--pairs] [--cpu NAME] FILE.bin...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/file.h"
#include "jit/arm64/insn.h"
#include "jit/jit.h"

static void print_code(const char *path, const struct code *c, const uint8_t *bytes)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char text[96];

	printf("# LLVM-MCA-BEGIN %s\n# bytes %zu\n", name, c->size);
	for (size_t i = 0; i < c->size; i += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		a64_print(word, text, sizeof(text));
		puts(text);
	}
	puts("# LLVM-MCA-END");
}

static int compile(const char *path, const struct jit_opts *opts)
{
	struct report r = { 0 };
	struct unit *u = NULL;
	struct code *c = NULL;
	uint8_t *bytes = NULL;
	int err = file_read(path, &r, &u);

	if (!err)
		err = jit_compile(target_find("arm64"), u, opts, &r, &c);
	if (!err)
		bytes = mem_zalloc(c->size, 1);
	if (bytes && !code_link(c, opts->base, bytes))
		print_code(path, c, bytes);
	else
		fprintf(stderr, "%s: %s\n", path, r.text ? r.text : "no code");
	mem_free(bytes);
	code_free(c);
	if (u)
		unit_free(u);
	report_free(&r);
	return err;
}

int main(int argc, char **argv)
{
	struct jit_opts opts = { .cpu = "neoverse-v2", .base = 0x7f0000000000, .separate = true };
	int err = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--pairs"))
			opts.separate = false;
		else if (!strcmp(argv[i], "--cpu") && i + 1 < argc)
			opts.cpu = argv[++i];
		else
			err |= compile(argv[i], &opts);
	}
	return err != 0;
}
