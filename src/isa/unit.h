/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct unit: a program with its subprograms as ops, with what the ops refer to. Every stage
 * takes one as const and makes a new one. Owned by whoever made it; unit_free frees it, but none
 * of the maps, helpers or BTF objects that it points to.
 */
#ifndef SKEP_ISA_UNIT_H
#define SKEP_ISA_UNIT_H

#include <stdint.h>

#include "isa/abi.h"
#include "isa/op.h"

struct fact;
struct map_direct;
struct report;

/* What verifier, printer and code generation need to know of a map. First member of struct map. */
struct map_desc {
	uint32_t type;				    /* BPF_MAP_TYPE_* */
	uint32_t key_size, value_size, max_entries; /* bytes, bytes, elements */
	uint32_t flags;				    /* BPF_F_* of MAP_CREATE */
	uint32_t id;
	uint64_t extra; /* map_extra */
	char name[16];
	uint8_t frozen;			 /* user space can no longer write */
	const struct map_desc *inner;	 /* map-in-map: what an inner map looks like, else NULL */
	const struct map_direct *direct; /* isa/direct.h; NULL: no map stands behind this */
	uint32_t btf_id, btf_key_id, btf_value_id;
	/* Offsets in the value of struct bpf_spin_lock (4 bytes), bpf_timer and bpf_wq (16), or
	 * UINT32_MAX. Updates leave these fields alone, look-ups by user space see zeros, new
	 * elements begin with zeros. Set by sys/ before the map is used. */
	uint32_t spin_lock_off, timer_off, work_off;
};

/* Where struct map keeps its struct tail_array (PROG_ARRAY only): right behind its map_desc. */
#define TAIL_ARRAY_OFFSET sizeof(struct map_desc)

enum ref_kind { REF_MAP = 1, REF_VAR, REF_FN };

/* The target of a resolved LDMAP, LDVALUE (REF_MAP), LDBTF (REF_VAR) or CALLDIRECT (REF_FN) op:
 * unit.refs[op.imm]. */
struct ref {
	uint8_t kind;
	const struct map_desc *map; /* REF_MAP */
	uint64_t addr;	/* what LDMAP gives: the address of the map object; LDBTF: of the variable;
			 * CALLDIRECT: of the function, a helper_fn */
	uint64_t value; /* what LDVALUE gives at off 0; 0 when the map has no direct value */
	const char *name; /* REF_FN: as dumps show it */
};

/* Source position of an op and those after it, up to the next row. Sorted by op. */
struct line {
	uint32_t op;
	uint32_t line, col;
	const char *file, *text; /* NUL-terminated, owned by the BTF object behind the unit */
};

struct unit {
	struct op *ops;
	uint32_t n_ops;
	uint32_t *slot;	  /* n_ops + 1 values: op index -> index of its first 8-byte instruction */
	uint32_t *origin; /* op -> index of the instruction, as loaded, that it stands for; NULL:
			   * the unit is as loaded, and `slot` says it */
	struct fact *facts; /* n_ops rows of what the verifier found (isa/fact.h), owned; NULL:
			     * nobody verified it */
	uint32_t *subs;	    /* first op of each subprogram, ascending; subs[0] == 0 */
	uint32_t n_subs;
	uint32_t *stack; /* bytes below r10 that each subprogram uses, n_subs values, owned; NULL:
			  * nobody knows, so 512 where the ops do not say */
	struct ref *refs;
	uint32_t n_refs;
	struct line *lines;
	uint32_t n_lines;
	const char *const *sub_names; /* n_subs names or NULL; owned only through `names` */
	void *names;	       /* the block behind sub_names when the unit owns it, else NULL */
	const struct env *env; /* helpers that CALL may reach; NULL: none */
	uint64_t arena;	       /* where offset 0 of the program's arena lies; 0: it has none */
	uint64_t arena_user;   /* upper half: that of the addresses which CAST gives to users */
};

void unit_free(struct unit *u);

/* A deep copy of ops, slots, facts, subs, stack, refs, lines and names; NULL when there is no
 * memory. */
struct unit *unit_copy(const struct unit *u);

/* Makes u->slot and u->subs from u->ops (older ones are freed), for whoever built a unit out of
 * ops. Checks that every target exists, that jumps stay in their subprogram and that each
 * subprogram ends with exit or goto. 0, -EINVAL with a message in the kernel's words, -ENOMEM. */
int unit_index(struct unit *u, struct report *r);

/* Gives u its own copy of n_subs names (NULL where one has none). 0 or -ENOMEM. */
int unit_set_names(struct unit *u, const char *const *names);

/* From the wire form, `n` 8-byte instructions in host byte order, to a fresh unit (decode.c).
 * Checks everything that can be said of the instructions alone: opcodes, reserved fields,
 * registers, jump and call targets that exist and do not hit the middle of a wide instruction.
 * `internal` also accepts what only the engine creates (dumps of rewritten programs): P_INTERNAL
 * rows, probe and arena modes, tail call as an instruction.
 * 0, -EINVAL with a message in the kernel's words where it has one, or -ENOMEM. */
struct bpf_insn;
int unit_decode(const struct bpf_insn *insns, uint32_t n, bool internal, struct report *r,
		struct unit **out);

/* To the wire form. *out is fresh memory (mem_free), *n its length in instructions. LDMAP and
 * LDVALUE of a resolved unit carry the map's id, as the kernel hands them out. -E2BIG when a jump
 * does not fit (conditional jumps: 16 bits). */
int unit_encode(const struct unit *u, struct report *r, struct bpf_insn **out, uint32_t *n);

/* BPF text (one operation a line, labels, comments; LLVM's or the kernel's syntax, line by line)
 * to a fresh unit. `name` is for messages: "NAME:LINE:COL: ...". Always accepts internal forms. */
int unit_parse(const char *name, const char *text, struct report *r, struct unit **out);

enum print_syntax { PRINT_KERNEL, PRINT_LLVM };

/* One op as text, without newline, into buf (always NUL-terminated). Returns the length.
 * PRINT_KERNEL is what `bpftool prog dump xlated` prints after the instruction number. */
int op_print(const struct unit *u, uint32_t i, enum print_syntax syntax, char *buf, unsigned size);

/* The whole unit, one op a line. PRINT_KERNEL: slot numbers, subprogram and source lines as in
 * bpftool's dump. PRINT_LLVM: text with labels, which unit_parse reads back to the same unit. */
void unit_print(const struct unit *u, enum print_syntax syntax, struct report *r);

/* Target op of the jump, call or LDFUNC at i. */
static inline uint32_t unit_target(const struct unit *u, uint32_t i)
{
	return (uint32_t)u->ops[i].off;
}

/* Index of the subprogram that op i belongs to. */
uint32_t unit_sub_of(const struct unit *u, uint32_t i);

/* The source line that op i belongs to, or NULL. */
const struct line *unit_line_of(const struct unit *u, uint32_t i);

/* The first op that stands for instruction `insn` as loaded or one behind it; n_ops: none does. */
uint32_t unit_op_at(const struct unit *u, uint32_t insn);

#endif
