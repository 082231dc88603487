/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs. prog_load is the one function that lists the stages from instructions to a program
 * that runs; a program is immutable from then on, but for its run statistics and the maps that
 * PROG_BIND_MAP adds.
 */
#ifndef SKEP_RUN_PROG_H
#define SKEP_RUN_PROG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/obj.h"
#include "base/vec.h"
#include "isa/abi.h"
#include "run/load_opts.h"

struct bpf_insn;
struct image;
struct map;
struct report;
struct unit;

/* Finds the map that an instruction names, with a reference for the caller. by_index: `n` counts
 * in the load's fd_array; otherwise it is a file descriptor. 0 or -errno. */
struct prog;
typedef int (*prog_find_map)(void *arg, bool by_index, int32_t n, struct map **out);

/* Checks func_info and line_info against the decoded program, and puts them and their BTF into p.
 * 0, or the kernel's -errno and message. */
typedef int (*prog_describe)(void *arg, const struct unit *decoded, struct prog *p,
			     struct report *log);

/* What PROG_LOAD says, already copied and checked by sys/. Everything is the caller's memory;
 * prog_load copies what it keeps. */
struct prog_spec {
	uint32_t type, attach_type; /* BPF_PROG_TYPE_*, BPF_* */
	uint32_t flags;		    /* BPF_F_* of PROG_LOAD */
	char name[16];
	bool gpl;	    /* the licence is GPL-compatible */
	bool interpret;	    /* do without the JIT */
	unsigned log_level; /* BPF_LOG_* */
	struct load_opts opts;
	const struct bpf_insn *insns;
	uint32_t n_insns;
	prog_find_map find_map;
	void *find_arg;
	prog_describe describe; /* NULL: the program has neither BTF nor rows */
	void *describe_arg;
};

/* Rows of func_info or line_info as loaded, or NULL. */
struct prog_rows {
	void *at;
	uint32_t n, size; /* rows, bytes each */
};

/* Counted while statistics are enabled; one in each slot, at offset prog.stats. */
struct prog_stats {
	uint64_t runs, ns, misses;
};

struct prog {
	struct obj obj;
	uint32_t type, attach_type, flags;
	char name[16];
	uint8_t tag[8];
	bool gpl;
	bool verified;		   /* false: loaded with spec.unverified */
	bool anywhere;		   /* it reads whole addresses: packets may lie anywhere */
	bool reads_behind;	   /* it does read them: rewrite_reads_behind() */
	const struct unit *xlated; /* rewritten: what runs */
	const struct image *image; /* NULL: the interpreter runs it */
	struct callee callee;	   /* this program as the target of a tail call */
	pthread_mutex_t maps_lock; /* guards maps against prog_bind_map */
	VEC(struct map *) maps;	   /* one reference each, none twice */
	struct obj *btf;	   /* reference or NULL */
	struct prog_rows funcs, lines;
	uint32_t attach_btf_id;
	uint32_t verified_insns; /* instructions that the verifier visited, 0: not verified */
	uint32_t uid;
	uint64_t load_time; /* ns since boot */
	uint32_t stats;	    /* percpu offset of struct prog_stats */
};

/* Loads a program: decode, resolve, verify, rewrite, compile. One reference for the caller.
 * Messages go to `log`. 0 or the errno that bpf(2) gives. */
int prog_load(const struct prog_spec *spec, struct report *log, struct prog **out);

/* The tag of instructions: the first half of their SHA-1, with the numbers of map descriptors left
 * out. 0 or -ENOMEM. */
int prog_tag_of(const struct bpf_insn *insns, uint32_t n, uint8_t tag[8]);

static inline struct prog *prog_of(struct obj *o)
{
	return obj_of(o, struct prog, obj);
}

/* Runs the program on ctx (the context structure of its type) and returns r0. Any thread; the
 * thread holds a slot and an RCU read lock meanwhile. May be called inside of a run; where there is
 * no slot then (run/slot.h), the program does not run, r0 is 0 and a miss is counted. */
uint64_t prog_run(struct prog *p, void *ctx);

/* Makes p hold a reference to m. 0, -EEXIST is not an error here: 0 as well; -ENOMEM. */
int prog_bind_map(struct prog *p, struct map *m);

/* Whether p may be put in the PROG_ARRAY m, or use it: all programs of one array have the same
 * type and are all native or all interpreted, and all or none take packets anywhere. The first one
 * decides. 0 or -EINVAL. */
int prog_fits_array(const struct prog *p, struct map *m);

/* Run statistics on (+1) or off (-1); nests. */
void prog_stats_enable(int by);

/* Sum over the slots. */
struct prog_stats prog_stats_read(const struct prog *p);

/* False when SKEP_JIT=0 is set or this machine has no back end. */
bool prog_jit_wanted(void);

#endif
