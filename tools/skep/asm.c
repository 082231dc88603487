/* SPDX-License-Identifier: BSD-2-Clause */
/* skep asm: BPF text to instructions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/file.h"
#include "isa/unit.h"
#include "skep/command.h"
#include "skep/outfile.h"
#include "skep/ui.h"

#include <linux/bpf.h>

struct asm_values {
	const char *out;
};

static const struct opt asm_opts[] = {
	{ "output", 'o', OPT_TEXT, offsetof(struct asm_values, out), "FILE",
	  "where the instructions go" },
};

static int assemble(const char *in, const char *out, struct report *r)
{
	struct bpf_insn *insns = NULL;
	struct unit *u;
	uint32_t n;
	int err = file_read(in, r, &u);

	if (err)
		return err;
	err = unit_encode(u, r, &insns, &n);
	if (!err)
		err = outfile_write(out, insns, n * sizeof(*insns), r);
	mem_free(insns);
	unit_free(u);
	return err;
}

static int run_asm(const void *values, char **args, unsigned n)
{
	const struct asm_values *v = values;
	struct report r = { 0 };
	int err;

	(void)n;
	if (!v->out)
		return ui_unable("asm: no output given; say -o FILE.bin");
	err = outfile_spares(v->out, args[0], &r);
	if (!err)
		err = assemble(args[0], v->out, &r);
	if (err)
		ui_unable("%s", r.text ? r.text : strerror(-err));
	report_free(&r);
	return err ? EXIT_UNABLE : 0;
}

const struct command command_asm = {
	.name = "asm",
	.args = "FILE.s -o FILE.bin",
	.line = "Assembles BPF text to 8-byte instructions",
	.about = "Reads LLVM's syntax and that of `bpftool prog dump xlated`, line by line.",
	.example = "Example: printf 'r0 = 2\\nexit\\n' >pass.s && skep asm pass.s -o pass.bin",
	.opts = asm_opts,
	.n_opts = sizeof(asm_opts) / sizeof(asm_opts[0]),
	.min_args = 1,
	.max_args = 1,
	.run = run_asm,
	.values_size = sizeof(struct asm_values),
};
