/* SPDX-License-Identifier: BSD-2-Clause */
/* skep disasm: instructions to BPF text. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "isa/file.h"
#include "isa/unit.h"
#include "skep/command.h"
#include "skep/ui.h"

struct disasm_values {
	bool kernel;
};

static const struct opt disasm_opts[] = {
	{ "kernel", 'k', OPT_FLAG, offsetof(struct disasm_values, kernel), NULL,
	  "in the syntax of `bpftool prog dump xlated`" },
};

static int disassemble(const char *in, bool kernel, struct report *r)
{
	struct report text = { 0 };
	struct unit *u;
	int err = file_read(in, r, &u);

	if (err)
		return err;
	unit_print(u, kernel ? PRINT_KERNEL : PRINT_LLVM, &text);
	err = text.err;
	if (!err)
		fwrite(text.text, 1, text.n, stdout);
	report_free(&text);
	unit_free(u);
	return err;
}

static int run_disasm(const void *values, char **args, unsigned n)
{
	const struct disasm_values *v = values;
	struct report r = { 0 };
	int err = disassemble(args[0], v->kernel, &r);

	(void)n;
	if (err)
		ui_unable("%s", r.text ? r.text : strerror(-err));
	report_free(&r);
	return err ? EXIT_UNABLE : 0;
}

const struct command command_disasm = {
	.name = "disasm",
	.args = "FILE.bin",
	.line = "Prints 8-byte instructions as BPF text",
	.about = "In LLVM's syntax, as `skep asm` reads it back.",
	.example = "Example: skep disasm pass.bin",
	.opts = disasm_opts,
	.n_opts = sizeof(disasm_opts) / sizeof(disasm_opts[0]),
	.min_args = 1,
	.max_args = 1,
	.run = run_disasm,
	.values_size = sizeof(struct disasm_values),
};
