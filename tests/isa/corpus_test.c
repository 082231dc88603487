/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every program of ../shared/corpus/xlated-arm64 (rewritten by Linux 6.12): decoded, encoded, and
 * through text in both syntaxes to the same bytes. Argument: the folder.
 */
#include <dirent.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "isa/file.h"
#include "sample.h"

struct count {
	unsigned files, failed;
	unsigned long insns, skipped;
};

static bool through_text(const struct unit *u, enum print_syntax syntax,
			 const struct bpf_insn *insns, uint32_t n)
{
	struct report text = { 0 }, said = { 0 };
	struct unit *back = NULL;
	bool same = false;

	unit_print(u, syntax, &text);
	if (unit_parse("text", text.text, &said, &back))
		printf("# %s", said.text);
	else
		same = sample_encodes_to(back, insns, n);
	unit_free(back);
	report_free(&text);
	report_free(&said);
	return same;
}

/* bpftool's syntax does not show the second half of a callback's address. */
static bool has_callback(const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_ops; i++)
		if (u->ops[i].code == OP_LDFUNC)
			return true;
	return false;
}

/* NULL when all is well, else what is not. */
static const char *check(const char *path, struct count *c)
{
	struct report said = { 0 };
	struct unit *u = NULL;
	unsigned long size = 0;
	char *bytes = sample_file(path, &size);
	const struct bpf_insn *insns = (const void *)bytes;
	uint32_t n = (uint32_t)(size / sizeof(*insns));
	const char *bad = NULL;

	if (!bytes || file_read(path, &said, &u)) {
		printf("# %s", said.text ? said.text : "cannot be read\n");
		bad = "decode";
	} else if (!sample_encodes_to(u, insns, n)) {
		bad = "encode";
	} else if (!through_text(u, PRINT_LLVM, insns, n)) {
		bad = "text in LLVM's syntax";
	} else if (has_callback(u)) {
		c->skipped++;
	} else if (!through_text(u, PRINT_KERNEL, insns, n)) {
		bad = "text in the kernel's syntax";
	}
	c->insns += n;
	unit_free(u);
	free(bytes);
	report_free(&said);
	return bad;
}

static void check_folder(DIR *dir, const char *folder, struct count *c)
{
	const struct dirent *e;
	char path[4096];

	while ((e = readdir(dir))) {
		size_t n = strlen(e->d_name);
		const char *bad;

		if (n < 5 || strcmp(e->d_name + n - 4, ".bin"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		bad = check(path, c);
		c->files++;
		c->failed += bad != NULL;
		printf("%sok %u - %s%s%s\n", bad ? "not " : "", c->files, e->d_name,
		       bad ? ": " : "", bad ? bad : "");
	}
}

int main(int argc, char **argv)
{
	DIR *dir = argc > 1 ? opendir(argv[1]) : NULL;
	struct count c = { 0 };

	if (!dir) {
		printf("1..0 # SKIP no folder ../shared/corpus/xlated-arm64\n");
		return 0;
	}
	check_folder(dir, argv[1], &c);
	closedir(dir);
	printf("1..%u\n", c.files);
	printf(
	    "# %u programs, %lu instructions; %lu with a callback not through the kernel's text\n",
	    c.files, c.insns, c.skipped);
	return c.failed != 0;
}
