/* SPDX-License-Identifier: BSD-2-Clause */
#include "skep/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"
#include "isa/unit.h"
#include "jit/jit.h"
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

static const struct native_target targets[] = {
	{ "x86_64", "x86_64-linux-gnu", "X86" },
	{ "arm64", "aarch64-linux-gnu", "AArch64" },
};

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

/* The instruction at `at` on a line of its own; returns its length, at least 1. */
static size_t print_insn(const struct llvm *l, const struct code *c, size_t at)
{
	char text[256] = "";
	size_t n = l->instruction(l->ctx, c->bytes + at, c->size - at, at, text, sizeof(text));
	const char *s = text + strspn(text, " \t");

	printf("%6zx:\t%s\n", at, n ? s : "(bytes)");
	return n ? n : 1;
}

static void print_op(const struct unit *u, uint32_t i)
{
	char text[256];

	if (i >= u->n_ops)
		return;
	op_print(u, i, PRINT_KERNEL, text, sizeof(text));
	printf("%s; %u: %s%s\n", ui_dim(stdout), u->slot ? u->slot[i] : i, text, ui_plain(stdout));
}

int native_print(const struct unit *u, const struct code *c, const char *target, struct report *r)
{
	const struct native_target *t = NULL;
	struct llvm l = { 0 };
	size_t line = 0, at = 0;
	int err;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (strcmp(targets[i].name, target) == 0)
			t = &targets[i];
	if (!t)
		return report_fail(r, -EINVAL, "no disassembler for %s", target);
	err = llvm_open(t, r, &l);
	if (err)
		return err;
	while (at < c->size) {
		for (; line < c->n_lines && c->lines[line].offset <= at; line++)
			print_op(u, c->lines[line].op);
		at += print_insn(&l, c, at);
	}
	l.dispose(l.ctx);
	dlclose(l.library);
	return 0;
}

#else

int native_print(const struct unit *u, const struct code *c, const char *target, struct report *r)
{
	(void)u;
	(void)c;
	return report_fail(r, -ENOSYS,
			   "%s code cannot be shown: skep was built without LLVM's C API (Debian: "
			   "llvm-19-dev); take --hex, or install it and build again",
			   target);
}

#endif
