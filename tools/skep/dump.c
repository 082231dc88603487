/* SPDX-License-Identifier: BSD-2-Clause */
/* skep dump: what a program became, as rewritten operations or as native code. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "helper/table.h"
#include "isa/file.h"
#include "isa/unit.h"
#include "jit/jit.h"
#include "jit/target.h"
#include "object/object.h"
#include "run/prog.h"
#include "skep/command.h"
#include "skep/load_opts.h"
#include "skep/native.h"
#include "skep/outfile.h"
#include "skep/ui.h"
#include "sys/sys.h"

struct dump_values {
	const char *prog, *arch, *cpu, *raw;
	struct load_values load;
	bool hex, blind, bti, pac;
};

#define AT(member) offsetof(struct dump_values, member)

static const struct opt dump_opts[] = {
	{ "prog", 'p', OPT_TEXT, AT(prog), "NAME", "the program, when there is more than one" },
	{ "arch", 'a', OPT_TEXT, AT(arch), "NAME", "x86_64 or arm64 (default: this machine)" },
	{ "cpu", 'c', OPT_TEXT, AT(cpu), "NAME", "the CPU it is for (default: this one)" },
	LOAD_OPTS(struct dump_values, load),
	{ "after", 0, OPT_TEXT, AT(load.after), "NAME", "stop after this rewrite" },
	{ "hex", 'x', OPT_FLAG, AT(hex), NULL, "jited: the bytes, without disassembly" },
	{ "raw", 'r', OPT_TEXT, AT(raw), "FILE", "jited: writes the image to FILE" },
	{ "blind", 0, OPT_FLAG, AT(blind), NULL, "jited: constants are blinded" },
	{ "bti", 0, OPT_FLAG, AT(bti), NULL, "jited: with landing pads" },
	{ "pac", 0, OPT_FLAG, AT(pac), NULL, "jited: return addresses are signed (arm64)" },
};

static void print_hex(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x%c", bytes[i], i % 16 == 15 || i + 1 == n ? '\n' : ' ');
}

/* The names of the maps that `text`, a listing of u, calls by number. */
static void print_maps(const struct unit *u, const char *text)
{
	char number[32];

	for (uint32_t i = 0; i < u->n_refs; i++) {
		const struct map_desc *m = u->refs[i].map;
		bool again = false;

		for (uint32_t k = 0; k < i; k++)
			again |= u->refs[k].map == m;
		if (u->refs[i].kind != REF_MAP || again || !m->name[0])
			continue;
		snprintf(number, sizeof(number), "map[id:%u]", m->id);
		if (strstr(text, number))
			printf("; %s is %s\n", number, m->name);
	}
}

static int dump_xlated(const struct unit *u, const struct dump_values *v, struct report *r)
{
	struct report text = { 0 };
	int err;

	if (v->cpu || v->hex || v->raw || v->blind || v->bti || v->pac)
		return report_fail(r, -EINVAL,
				   "--cpu, --hex, --raw, --blind, --bti and --pac are for jited");
	unit_print(u, PRINT_KERNEL, &text);
	err = text.err;
	if (err)
		report_fail(r, err, "out of memory");
	if (!err && text.text) {
		fwrite(text.text, 1, text.n, stdout);
		print_maps(u, text.text);
	}
	report_free(&text);
	return err;
}

static int dump_text(const struct unit *u, const struct code *c, struct report *r)
{
	struct report text = { 0 };
	int err = native_text(u, c, NATIVE_BASE, NATIVE_OPS | NATIVE_BYTES, &text, r);

	if (!err && text.text)
		fwrite(text.text, 1, text.n, stdout);
	report_free(&text);
	return err;
}

static int dump_code(const struct unit *u, const struct code *c, const struct dump_values *v,
		     struct report *r)
{
	uint8_t *bytes;
	int err;

	if (!v->hex && !v->raw)
		return dump_text(u, c, r);
	err = native_link(c, NATIVE_BASE, r, &bytes);
	if (err)
		return err;
	if (v->hex)
		print_hex(bytes, c->size);
	if (v->raw)
		err = outfile_write(v->raw, bytes, c->size, r);
	mem_free(bytes);
	return err;
}

static int dump_jited(const struct unit *u, const struct dump_values *v, struct report *r)
{
	const struct target *t = target_find(v->arch);
	const struct jit_opts opts = { .cpu = v->cpu,
				       .base = NATIVE_BASE,
				       .blind = v->blind || v->load.harden,
				       .landing_pads = v->bti || v->load.harden,
				       .sign_returns = v->pac || v->load.harden };
	struct code *c;
	int err;

	if (!t)
		return report_fail(r, -EINVAL, "no target '%s'; there are x86_64 and arm64",
				   v->arch ? v->arch : "for this machine");
	if (v->pac && strcmp(t->name, "arm64") != 0)
		return report_fail(r, -EINVAL, "--pac: only arm64 signs return addresses");
	err = jit_compile(t, u, &opts, r, &c);
	if (err)
		return err;
	err = dump_code(u, c, v, r);
	code_free(c);
	return err;
}

typedef int (*dump_fn)(const struct unit *u, const struct dump_values *v, struct report *r);

/* Loads the object into the engine and dumps one of its programs as it would run. */
static int dump_object(const char *path, const struct dump_values *v, dump_fn dump,
		       struct report *r)
{
	struct bpf_object *o;
	struct bpf_program *p;
	struct obj *prog;
	int err = object_open(path, r, &o);

	if (err)
		return err;
	err = object_find_prog(path, o, v->prog, r, &p);
	if (!err)
		err = object_load(path, o, NULL, r);
	if (!err) {
		if (v->load.unverified)
			ui_unverified(path);
		prog = fd_obj(bpf_program__fd(p), OBJ_PROG);
		err = prog ? dump(prog_of(prog)->xlated, v, r) : -ENOENT;
		obj_put(prog);
	}
	bpf_object__close(o);
	return err;
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

/* Text is rewritten; instructions are as they were dumped. */
static int dump_file(const char *path, const struct dump_values *v, dump_fn dump, struct report *r)
{
	struct unit *u, *rewritten = NULL;
	int err = v->prog
		      ? report_fail(r, -EINVAL, "%s: holds one program; -p is for objects", path)
		      : file_read(path, r, &u);

	if (err)
		return err;
	u->env = &helper_env;
	if (ends_in(path, ".s"))
		err = native_rewrite(u, target_find(v->arch), r, &rewritten);
	if (!err)
		err = dump(rewritten ? rewritten : u, v, r);
	unit_free(rewritten);
	unit_free(u);
	return err;
}

static const struct {
	const char *name;
	dump_fn dump;
} stages[] = { { "xlated", dump_xlated }, { "jited", dump_jited } };

enum { N_STAGES = sizeof(stages) / sizeof(stages[0]) };

static const char *stage_name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return stages[i].name;
}

static dump_fn find_stage(const char *name)
{
	const char *guess;

	for (size_t i = 0; i < N_STAGES; i++)
		if (strcmp(stages[i].name, name) == 0)
			return stages[i].dump;
	guess = suggest(name, N_STAGES, stage_name_at, NULL);
	ui_unable("dump: '%s' is nothing to dump; %s%s%s", name,
		  guess ? "did you mean " : "there are xlated and jited", guess ? guess : "",
		  guess ? "?" : "");
	return NULL;
}

static int run_dump(const void *values, char **args, unsigned n)
{
	const struct dump_values *v = values;
	dump_fn dump = find_stage(args[0]);
	struct report r = { 0 };
	int err;

	(void)n;
	if (!dump)
		return EXIT_UNABLE;
	err = load_opts_set(&v->load, &r);
	if (err)
		goto out;
	if (ends_in(args[1], ".s") || ends_in(args[1], ".bin"))
		err = dump_file(args[1], v, dump, &r);
	else
		err = dump_object(args[1], v, dump, &r);
out:
	if (err)
		ui_unable("%s", r.text ? r.text : strerror(-err));
	report_free(&r);
	return err ? EXIT_UNABLE : 0;
}

const struct command command_dump = {
	.name = "dump",
	.args = "xlated|jited OBJECT|FILE.s|FILE.bin",
	.line = "Prints a program as it was rewritten (xlated) or compiled (jited)",
	.about = "Files that end in .s are BPF text, in .bin instructions; others are objects.",
	.example = "Example: skep dump jited xdp_flow.bpf.o -p flow_count --arch arm64",
	.opts = dump_opts,
	.n_opts = sizeof(dump_opts) / sizeof(dump_opts[0]),
	.min_args = 2,
	.max_args = 2,
	.run = run_dump,
	.values_size = sizeof(struct dump_values),
};
