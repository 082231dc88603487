/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a unit to native code. The shared walker (lower.c) lowers op by op through the rule table
 * of one struct target; branches are laid out by relax.c; image.c maps the bytes executable.
 */
#ifndef SKEP_JIT_JIT_H
#define SKEP_JIT_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "isa/unit.h"

struct target; /* jit/target.h */
struct report;

/* "x86_64", "arm64"; NULL: the host's. NULL result: there is no such target. */
const struct target *target_find(const char *name);

struct jit_opts {
	const char *cpu; /* NULL: the running CPU where it is of this target, else the baseline */
	uint64_t features_off; /* target feature bits to do without, for tests */
	bool blind;	       /* constant blinding: lower_const.c */
	uint64_t blind_seed;   /* 0: random; else for tests, which need the same code again */
	bool landing_pads;     /* endbr64 / bti */
	bool sign_returns;  /* paciasp / autiasp around saved return addresses, where the CPU can */
	bool private_stack; /* stacks of PRIVATE_MIN bytes and more in per-slot memory: private.h */
	bool separate;	    /* -O0: each op on its own, no two become one instruction */
	uint64_t base; /* address that the image is shown at when it is only dumped; 0 else. A dump
			* may have references that nothing stands behind: addresses are made up */
};

/* Where native code came from: rows sorted by offset. */
struct code_line {
	uint32_t offset; /* byte offset in the code */
	uint32_t op;
};

/* A load that may fault: the handler continues at `resume` after writing 0 to the register. */
struct code_fault {
	uint32_t offset, resume; /* byte offsets in the code */
	uint8_t reg;		 /* native register that receives 0; 0xff: none (a store) */
};

/* Native code, position independent but for `fixups`, which image_new applies. */
struct code {
	const struct target *target;
	uint8_t *bytes;
	size_t size;
	uint32_t entry, tail_entry; /* byte offsets: from C, from a tail call */
	uint32_t *sub_offset;	    /* byte offset of each subprogram */
	uint32_t n_subs;
	struct code_line *lines;
	size_t n_lines;
	struct code_fault *faults;
	size_t n_faults;
	struct code_fixup *fixups; /* jit/builder.h */
	size_t n_fixups;
	bool dump;			    /* compiled with opts.base: image_new refuses it */
	uint32_t private_off, private_size; /* per-slot memory of its private stacks, owned; 0 */
};

/* 0 or -errno with a message that names the op and the instruction. */
int jit_compile(const struct target *t, const struct unit *u, const struct jit_opts *opts,
		struct report *r, struct code **out);
void code_free(struct code *c);

/* Whether no program wrote beyond its private stack: the guards are whole, in every slot. */
bool code_stacks_whole(const struct code *c);

/* The code's bytes as they are when it lies at `base`, into out[c->size]. -ERANGE when something
 * that it refers to is out of reach from there. */
int code_link(const struct code *c, uint64_t base, uint8_t *out);

/* Executable memory of this process, near the engine's own code. Never writable and executable
 * at once; unused room is filled with traps. Thread-safe. */
struct image {
	const uint8_t *bytes; /* mapped read + execute */
	size_t size;
	helper_fn entry; /* call as C: r1-r5 -> r0 */
	const void *tail_entry;
	const struct code *code; /* owned: tables stay for dumps and faults */
};

/* Takes ownership of c on success. 0, -ENOMEM, -E2BIG, -ENOEXEC (not the host's target). */
int image_new(struct code *c, struct report *r, struct image **out);
void image_free(struct image *i);

/* Whether `context` (the ucontext_t of a SIGSEGV or SIGBUS) stopped at a load or store of an image
 * that may fault; if so it is changed to go on behind it. Async-signal-safe. */
bool image_resume(void *context);

#endif
