/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A back end is one struct target. It knows encodings and nothing else: what does not fit an
 * instruction, where branches go and what tables come with the code
 * is the shared walker's (lower.c, relax.c).
 *
 * A target's folder has the files insn.def (encodings), insn.[ch] (encoders), cpu.def and cpu.c
 * (features), alu.c, div.c, mem.c, jump.c, call.c (emitters) and target.c (the struct).
 */
#ifndef SKEP_JIT_TARGET_H
#define SKEP_JIT_TARGET_H

#include "isa/trait.h"
#include "jit/builder.h"

struct frame;
struct rule;

enum { LABEL_NONE = UINT32_MAX, INDEX_NONE = 0xff };

/* What an emitter works on: native registers, and an immediate where the form has one. */
struct args {
	const struct rule *rule;
	const struct op *op;
	bool w32;
	uint8_t dst, src; /* loads and LDACQ: base is src; stores and atomics: base is dst */
	uint8_t first;	  /* three operands: dst = first op src, or op imm; else dst */
	uint8_t size_log; /* memory: log2 of the bytes */
	int32_t off;	  /* memory: bytes from base */
	int64_t imm;
	uint32_t label; /* jumps */
	uint8_t index;	/* memory: a register in place of off; INDEX_NONE else */
	bool index32;	/* ... of which the low half counts */
};

typedef void (*emit_fn)(struct builder *b, const struct args *a);

/* How one op is emitted. An op whose immediate does not fit, or that has no immediate form, gets
 * it in a temporary register by the walker and takes the register form. */
struct rule {
	emit_fn reg;
	emit_fn imm;
	bool (*fits)(const struct args *a); /* NULL: every immediate */
	uint32_t code;			    /* the target's own: opcode, condition */
	/* dst = first op src or imm in one instruction that is no larger than a move and the op.
	 * False, with nothing emitted: there is none. May be NULL. */
	bool (*three)(struct builder *b, const struct args *a);
};

/* One subprogram. */
struct frame {
	uint32_t first, end;  /* ops */
	uint32_t stack;	      /* bytes below r10 that are used, a multiple of 8 */
	int32_t bias;	      /* the frame register holds r10 - bias */
	uint32_t last_exit;   /* the EXIT that holds the epilogue, or UINT32_MAX */
	uint32_t label;	      /* entry */
	uint32_t leave;	      /* label of the epilogue */
	uint32_t leave_zero;  /* label of "r0 = 0" before it, bound when used */
	uint32_t tail_calls;  /* how many; from two on they share one sequence */
	uint32_t tail;	      /* label of that sequence */
	uint32_t percpus;     /* how many per-CPU addresses it makes */
	uint32_t arenas;      /* how many accesses to the arena */
	uint32_t caught;      /* label: as `label`, and catches what is thrown (throw.h) */
	uint32_t private_off; /* is_private: r10 less this slot's private stack */
	uint16_t writes;      /* BPF registers that are written, a bit each */
	bool fp;	      /* r10 is read */
	bool fp_value;	      /* ... other than as a base or by a plain move */
	bool calls;	      /* calls something */
	bool loops;	      /* has may_goto: the budget is the 8 bytes below `stack` */
	bool address_taken;   /* LDFUNC: must be callable from C */
	bool zero_used;
	bool is_private; /* its BPF stack lies in per-slot memory */
};

struct target {
	const char *name;
	uint32_t traits;       /* TRAIT_*: isa/trait.h */
	uint8_t reg[BPF_REGS]; /* native number of each BPF register */
	uint8_t leaf_reg[4];   /* of r6-r9 in a subprogram that calls nothing */
	uint8_t tmp;	       /* what the walker may use for constants */
	uint8_t address_tmp;   /* ... and for addresses */
	uint8_t blind_tmp;   /* ... and for the keys of blinded numbers in tmp or a BPF register */
	uint8_t trap[4];     /* repeated to fill unused room; begins with the fault encoding */
	uint8_t insn_size;   /* bytes of every instruction; 0: they differ. With a size, what
			      * accesses memory is the last instruction of a load's or store's */
	uint64_t call_reach; /* bytes that a direct call spans */
	int64_t thread_vars; /* where thread variables begin, from the thread pointer; for dumps */
	const struct rule *rules; /* by op code */

	/* Feature bits of a named CPU (NULL: of the one that runs this); -EINVAL: no such name. */
	int (*cpu)(const char *name, uint64_t *features);
	const char *cpus; /* the names, each behind a space */

	/* Whether return addresses can be signed. NULL: no. */
	bool (*signs)(uint64_t features);
	void (*mov_imm)(struct builder *b, uint8_t dst, uint64_t imm);
	/* An address: as mov_imm, or shorter relative to the code. */
	void (*mov_address)(struct builder *b, uint8_t dst, uint64_t address);
	bool (*off_fits)(const struct builder *b, const struct args *a);
	/* dst = src + imm, where src stands for r10. May be NULL. */
	void (*add3)(struct builder *b, uint8_t dst, uint8_t src, int64_t imm);
	/* A load and the byte swap of what was loaded in one; false, nothing emitted: no. NULL. */
	bool (*load_swapped)(struct builder *b, const struct args *a);
	/* The best bias for a frame with depth[n] accesses at n bytes below r10 (n up to BPF_STACK)
	 * and `moves` copies of r10 or addresses made from it. NULL: the target reaches r10 in its
	 * own way. */
	int32_t (*bias)(const struct frame *f, const uint32_t *depth, uint32_t moves);
	void (*jump)(struct builder *b, uint32_t label);
	void (*call)(struct builder *b, uint64_t address);
	/* r0 = table[dst] of r1-r5; -EOPNOTSUPP in r0 when there is no such entry. */
	void (*call_table)(struct builder *b, uint8_t dst, const helper_fn *table, uint32_t n);
	void (*call_label)(struct builder *b, uint32_t label);
	void (*label_address)(struct builder *b, uint8_t dst, uint32_t label);
	/* A tail call: in place, or through the sequence at f->tail, which tail_shared emits behind
	 * the subprogram's last op (NULL: always in place). */
	void (*tail_call)(struct builder *b, const struct frame *f);
	void (*tail_shared)(struct builder *b, const struct frame *f);
	void (*may_goto)(struct builder *b, const struct frame *f, uint32_t label);
	void (*percpu)(struct builder *b, uint8_t dst, uint8_t src);
	/* The address at a constant offset; a load from offset a->off into a->dst. False, with
	 * nothing emitted: it does not fit. NULL: never. */
	bool (*percpu_at)(struct builder *b, uint8_t dst, uint64_t off);
	bool (*percpu_load)(struct builder *b, const struct args *a);
	/* The access a to the arena: makes an address of *base, which is a->src or a->dst and holds
	 * an offset, or an index of it. What the op stores may be in tmp. */
	void (*arena)(struct builder *b, struct args *a, uint8_t *base);
	/* Goes to label when base is outside of what a probe may load from (abi.h). */
	void (*probe_outside)(struct builder *b, uint8_t base, uint32_t label);
	void (*nospec)(struct builder *b);
	/* How C enters a unit that has tail calls: their count is set aside, starts from 0 for a
	 * call of `label`, and is what it was. */
	void (*thunk)(struct builder *b, uint32_t label);
	/* How it enters one that throws: the C function at `address` gets label as what to run. */
	void (*catch)(struct builder *b, uint32_t label, uint64_t address);
	/* How it enters one with a private stack: the next one of this slot while `label` runs; 0
	 * when there is none left. */
	void (*private_enter)(struct builder *b, uint32_t label);
	void (*landing_pad)(struct builder *b);
	void (*enter)(struct builder *b, const struct frame *f);
	/* Undoes enter and returns. */
	void (*leave)(struct builder *b, const struct frame *f);
	/* Bytes that leave takes at most; an exit of up to short_leave bytes is not shared. */
	unsigned (*leave_size)(const struct frame *f);
	unsigned short_leave;

	/* Layout. dist is from the branch's start to its label; `ahead` tells a label behind the
	 * branch at distance 0 from one before it. branch_size: bytes needed, at least br->size. */
	unsigned (*branch_size)(const struct branch *br, int64_t dist, bool ahead);
	unsigned (*branch_longest)(const struct branch *br);
	/* Writes br->size bytes. -ERANGE when no form reaches. */
	int (*branch_put)(const struct branch *br, int64_t dist, uint8_t *out);
	/* Completes the instruction at p, which will lie at `at`. -ERANGE. */
	int (*fixup)(uint8_t *p, uint8_t kind, uint64_t at, uint64_t address);
};

extern const struct target target_x86_64, target_arm64;

/* Lowers the unit; errors stick in b. Fills frames[n_subs]. */
void lower(struct builder *b, struct frame *frames, struct code *code);

/* dst = src, all 64 bits. */
static inline bool is_plain_move(const struct op *op)
{
	return op->code == OP_MOV && (op->mode & ~OP_SIZE_MASK) == OP_REG;
}

/* What each subprogram needs (frame.c). */
void frames_scan(struct builder *b, struct frame *frames);

#endif
