/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "isa/unit.h"
#include "jit/arm64/insn.h"
#include "jit/jit.h"
#include "jit/target.h"
#include "rewrite/rewrite.h"
#include "skep/ui.h"

#ifdef SKEP_LLVM_LIBRARY

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

/* What is used of the library. */
struct llvm {
	void *library;
	__typeof__(LLVMCreateDisasm) *create;
	__typeof__(LLVMSetDisasmOptions) *options;
	__typeof__(LLVMDisasmInstruction) *instruction;
	__typeof__(LLVMDisasmDispose) *dispose;
	LLVMDisasmContextRef ctx;
};

struct native_target {
	const char *name, *triple, *llvm; /* llvm: in LLVMInitialize…TargetInfo */
};

static const struct native_target x86 = { "x86_64", "x86_64-linux-gnu", "X86" };

static int initialize(const struct llvm *l, const struct native_target *t)
{
	static const char *const parts[] = { "TargetInfo", "TargetMC", "Disassembler" };
	char name[64];
	void (*fn)(void);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(name, sizeof(name), "LLVMInitialize%s%s", t->llvm, parts[i]);
		*(void **)&fn = dlsym(l->library, name);
		if (!fn)
			return -ENOENT;
		fn();
	}
	return 0;
}

static int resolve(struct llvm *l)
{
	*(void **)&l->create = dlsym(l->library, "LLVMCreateDisasm");
	*(void **)&l->options = dlsym(l->library, "LLVMSetDisasmOptions");
	*(void **)&l->instruction = dlsym(l->library, "LLVMDisasmInstruction");
	*(void **)&l->dispose = dlsym(l->library, "LLVMDisasmDispose");
	return l->create && l->options && l->instruction && l->dispose ? 0 : -ENOENT;
}

static int llvm_open(const struct native_target *t, struct report *r, struct llvm *out)
{
	struct llvm l = { .library = dlopen(SKEP_LLVM_LIBRARY, RTLD_NOW | RTLD_LOCAL) };

	if (!l.library)
		return report_fail(r, -ENOENT,
				   "native code cannot be shown without %s; install LLVM's library "
				   "(Debian: libllvm19), or take --hex",
				   SKEP_LLVM_LIBRARY);
	if (resolve(&l) || initialize(&l, t))
		return report_fail(r, -ENOENT, "%s: lacks the disassembler for %s",
				   SKEP_LLVM_LIBRARY, t->name);
	l.ctx = l.create(t->triple, NULL, 0, NULL, NULL);
	if (!l.ctx)
		return report_fail(r, -ENOENT, "%s: lacks the target %s", SKEP_LLVM_LIBRARY,
				   t->triple);
	l.options(l.ctx, LLVMDisassembler_Option_PrintImmHex);
	*out = l;
	return 0;
}

static int x86_open(struct llvm *l, struct report *r)
{
	return llvm_open(&x86, r, l);
}

/* One instruction as text; its length, at least 1. */
static size_t x86_insn(const struct llvm *l, const uint8_t *p, size_t n, size_t at, char *text,
		       size_t size)
{
	size_t len = l->instruction(l->ctx, (uint8_t *)p, n, at, text, size);

	if (!len)
		snprintf(text, size, "(bytes)");
	return len ? len : 1;
}

static void x86_close(struct llvm *l)
{
	l->dispose(l->ctx);
	dlclose(l->library);
}

#else

struct llvm {
	void *library;
};

static int x86_open(struct llvm *l, struct report *r)
{
	return report_fail(r, -ENOSYS,
			   "x86_64 code cannot be shown: skep was built without LLVM's C API "
			   "(Debian: llvm-19-dev); take --hex, or install it and build again");
}

static size_t x86_insn(const struct llvm *l, const uint8_t *p, size_t n, size_t at, char *text,
		       size_t size)
{
	return n;
}

static void x86_close(struct llvm *l)
{
}

#endif

/* The text of an image while it is made. */
struct listing {
	const struct unit *u;
	const struct code *c;
	const uint8_t *bytes; /* linked */
	unsigned parts;	      /* NATIVE_* */
	bool arm64;
	struct llvm llvm;
	size_t line; /* next row of c->lines */
	struct report *out;
};

/* The source line that begins at op; its place alone where nobody kept the text. */
static void put_source(const struct listing *l, uint32_t op)
{
	for (uint32_t i = 0; i < l->u->n_lines && l->u->lines[i].op <= op; i++) {
		const struct line *row = &l->u->lines[i];
		const char *text = row->text ? row->text + strspn(row->text, " \t") : "";
		const char *file = row->file && *row->file ? row->file : "?";

		if (row->op == op)
			report_add(l->out, "; %.*s%s%s:%u\n", (int)strcspn(text, "\n"), text,
				   *text ? " @ " : "", file, row->line);
	}
}

/* What the code at `at` was made from. */
static void put_ops(struct listing *l, size_t at)
{
	char text[256];

	for (; l->line < l->c->n_lines && l->c->lines[l->line].offset <= at; l->line++) {
		uint32_t i = l->c->lines[l->line].op;

		if (!(l->parts & NATIVE_OPS) || i >= l->u->n_ops)
			continue;
		put_source(l, i);
		op_print(l->u, i, PRINT_KERNEL, text, sizeof(text));
		report_add(l->out, "; %u: %s\n", l->u->slot ? l->u->slot[i] : i, text);
	}
}

static size_t insn_text(const struct listing *l, size_t at, char *text, size_t size)
{
	uint32_t word;

	if (!l->arm64)
		return x86_insn(&l->llvm, l->bytes + at, l->c->size - at, at, text, size);
	memcpy(&word, l->bytes + at, sizeof(word));
	a64_print(word, text, size);
	return sizeof(word);
}

/* The instruction at `at` on a line of its own; returns its length. */
static size_t put_insn(struct listing *l, size_t at)
{
	char text[256] = "";
	size_t n = insn_text(l, at, text, sizeof(text));
	const char *s = text + strspn(text, " \t");

	if (l->parts & NATIVE_BYTES) {
		report_add(l->out, "%6zx:\t", at);
		for (size_t i = 0; i < n; i++)
			report_add(l->out, "%02x ", l->bytes[at + i]);
		report_add(l->out, "%*s\t", n < 8 ? (int)(8 - n) * 3 : 0, "");
	}
	for (; *s; s++)
		report_add(l->out, "%c", *s == '\t' ? ' ' : *s);
	report_add(l->out, "\n");
	return n;
}

static int listing_make(struct listing *l, struct report *r)
{
	int err = l->arm64 ? 0 : x86_open(&l->llvm, r);
	size_t at = 0;

	if (err)
		return err;
	while (at < l->c->size) {
		put_ops(l, at);
		at += put_insn(l, at);
	}
	if (!l->arm64)
		x86_close(&l->llvm);
	return l->out->err ? report_fail(r, -ENOMEM, "out of memory") : 0;
}

int native_link(const struct code *c, uint64_t base, struct report *r, uint8_t **out)
{
	uint8_t *bytes = mem_zalloc(c->size, 1);
	int err = bytes ? code_link(c, base, bytes) : -ENOMEM;

	if (err) {
		mem_free(bytes);
		return report_fail(r, err, "the code cannot lie at %#llx: %s",
				   (unsigned long long)base, strerror(-err));
	}
	*out = bytes;
	return 0;
}

int native_rewrite(const struct unit *u, const struct target *t, struct report *r,
		   struct unit **out)
{
	const struct rewrite_opts opts = { .scratch = 2, .traits = t ? t->traits : 0, .jit = true };

	return rewrite(u, &opts, r, out);
}

int native_text(const struct unit *u, const struct code *c, uint64_t base, unsigned parts,
		struct report *out, struct report *r)
{
	struct listing l = { .u = u, .c = c, .parts = parts, .out = out };
	uint8_t *bytes;
	int err = native_link(c, base, r, &bytes);

	if (err)
		return err;
	l.bytes = bytes;
	l.arm64 = c->target == target_find("arm64");
	err = listing_make(&l, r);
	mem_free(bytes);
	return err;
}
