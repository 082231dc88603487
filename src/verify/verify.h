/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier: what may run. A unit is const here; what is found out about it becomes facts, and
 * what is refused becomes a message in the kernel's words.
 */
#ifndef SKEP_VERIFY_VERIFY_H
#define SKEP_VERIFY_VERIFY_H

#include <stddef.h>

#include "isa/fact.h"
#include "isa/unit.h"

struct btf_obj;
struct report;

enum { VERIFY_FRAMES = 8 }; /* most frames in a chain of calls */

/* Control flow, which unit_decode cannot see: jumps stay in their subprogram, a subprogram ends
 * with exit or goto, calls and callbacks enter at the start of a subprogram, and every op can be
 * reached. Loops are allowed, as they are for a privileged user. 0, -EINVAL with a message, or
 * -ENOMEM. */
int verify_structure(const struct unit *u, struct report *r);

/* No chain of direct calls is deeper than VERIFY_FRAMES (so none is recursive), not even where it
 * is never walked. 0, -EINVAL with a message, or -ENOMEM. */
int verify_depth(const struct unit *u, struct report *r);

/* What even a program must keep that is run unverified: its structure, depth, and r10. */
int verify_unverified(const struct unit *u, struct report *r);

/* BTF of one subprogram, as far as calls need it (btf.h makes it from func_info). */
enum sub_arg {
	SUB_ARG_SCALAR,
	SUB_ARG_CTX,
	SUB_ARG_MEM,
	SUB_ARG_MEM_OR_NULL,
	SUB_ARG_DYNPTR,
	SUB_ARG_TRUSTED,
	SUB_ARG_TRUSTED_OR_NULL
};

struct verify_sub {
	const char *name;
	bool global;	   /* verified on its own; callers only see its signature */
	bool has_proto;	   /* args and n_args are known */
	bool catches;	   /* it names a function that exceptions go to */
	bool returns_void; /* or anything else that is no number */
	uint8_t n_args;
	uint8_t arg[5];	     /* enum sub_arg */
	uint32_t size[5];    /* SUB_ARG_MEM*: bytes */
	const char *type[5]; /* SUB_ARG_TRUSTED*: name of the kernel structure */
	char why[112];	     /* !has_proto: what callers are told */
};

enum special { SPECIAL_LOCK, SPECIAL_TIMER, SPECIAL_WORK, VERIFY_SPECIALS };
/* Begins each line of our own explanation of a refusal, behind the kernel's lines in the log. */
#define EXPLAIN_MARK "; skep: "

struct state;

/* Whoever looks on: tests that hold what runs against what was known (tests/verify/cover.h). All
 * members are set. state.watch is theirs; copies of a state have it too. */
struct verify_watch {
	void *arg;
	/* Exploration reaches op in state s. What it returns, if not 0, ends it. */
	int (*reach)(void *arg, uint32_t op, struct state *s);
	/* The walk of s ends here: the kept state `by` covers it. */
	void (*prune)(void *arg, const struct state *s, const struct state *by);
	/* A kept state goes. What was read of it and what of it is precise is final now. */
	void (*forget)(void *arg, const struct state *kept);
};
enum { LOG_INSNS = 1, LOG_STATES = 2, LOG_STATS = 4 };

/* The most memory that states kept and put aside may take; E2BIG beyond. 6.12's limits alone (a
 * million instructions, a state at least every eight) would allow several GiB.
 * The largest program of the tests' corpus needs 13.3 MiB. */
#define STATE_BYTES_MAX ((size_t)1 << 30)

struct verify_input {
	uint32_t prog_type, attach_type; /* BPF_PROG_TYPE_*, expected_attach_type */
	bool gpl;			 /* the licence is compatible with the GPL */
	bool strict_align;		 /* BPF_F_STRICT_ALIGNMENT */
	bool test_states;		 /* BPF_F_TEST_STATE_FREQ: a state at every prune point */
	bool sleepable;
	bool key_facts;	    /* look for constant keys of look-ups, at some cost in states */
	unsigned log_level; /* LOG_* */
	size_t state_bytes; /* the most memory that states may take, 0: STATE_BYTES_MAX */
	const struct verify_sub *subs;	  /* unit.n_subs rows, or NULL */
	const struct verify_watch *watch; /* NULL: nobody */
	const struct btf_obj *kernel;	  /* the kernel's own types, NULL: not known */
	uint32_t attach_btf_id;		  /* in them: what a tracing program is attached to */
	/* Name of the kernel function that a call's imm and off stand for, NULL: of none. NULL:
	 * there are none. */
	const char *(*kfunc_name)(int64_t imm, int32_t off);
	/* Offsets in a map's value of struct bpf_spin_lock, bpf_timer and bpf_wq (enum special),
	 * UINT32_MAX where there is none. NULL: no map has any. */
	void (*map_special)(const struct map_desc *m, uint32_t off[VERIFY_SPECIALS]);
};

struct verify_stats {
	size_t peak_bytes; /* of states kept and put aside */
	uint32_t insns, max_states_per_insn, total_states, peak_states, mark_read;
	uint32_t stack_depth; /* bytes of the main program */
};

struct facts {
	struct fact *op; /* unit.n_ops rows; whoever takes them sets this to NULL */
	uint32_t n_ops;
	uint32_t *stack_depth; /* bytes used by each subprogram */
	struct verify_stats stats;
};

void facts_free(struct facts *f);

/* Whether u may run. The log goes into `log` as the kernel writes it (levels as in
 * BPF_PROG_LOAD); on refusal the message does at any level. 0 and fresh facts, or the kernel's
 * -errno. `out` may be NULL. */
int verify(const struct unit *u, const struct verify_input *in, struct report *log,
	   struct facts **out);

/* The figures that end the log of a program that was refused before the verifier saw it. */
void verify_log_none(unsigned level, struct report *log);

#endif
