/* SPDX-License-Identifier: BSD-2-Clause */
/* The benchmarks of `skep bench`: what there is, and one measurement. */
#ifndef SKEP_TOOL_BENCH_H
#define SKEP_TOOL_BENCH_H

#include <stdbool.h>
#include <stdint.h>

struct report;

/* What is in the map before, and what is run. */
enum bench_kind {
	BENCH_INC,   /* one entry; the program as it is */
	BENCH_READ,  /* full; any of its elements */
	BENCH_PAIR,  /* room left; `prog` adds elements, `undo` takes them out: prog is measured */
	BENCH_UNDO,  /* ... undo is measured */
	BENCH_EVICT, /* full; elements that were never there */
};

struct bench {
	char name[48];
	char prog[32], undo[32]; /* of bench/ops.bpf.c; undo "": none */
	const char *map;	 /* NULL: none is filled */
	enum bench_kind kind;
	uint32_t entries; /* 0: as the object has it */
	uint32_t ops;	  /* operations of one run */
	bool exact;	  /* each of them works */
};

/* All there are. */
const struct bench *bench_list(unsigned *n);

/* M operations a second, all producers together: median over rounds, lowest, highest. */
struct spread {
	double median, low, high;
};

enum bench_side { SIDE_SKEP, SIDE_OFF, SIDE_KERNEL, SIDES };

struct bench_job {
	const struct bench *bench;
	unsigned producers, rounds, slice_ms;
	bool with[SIDES];	  /* SIDE_OFF: skep without the rewrites in off_mask */
	uint64_t off_mask[SIDES]; /* rewrites that are left out, by side of skep's */
};

struct bench_result {
	struct spread mops[SIDES];
	struct spread ratio; /* skep to kernel, of the rounds */
	struct spread gain;  /* skep to skep without rewrites */
};

/* Sides take turns within each round; each round has its code and maps at other places. 0 or
 * -errno with a message. */
int bench_measure(const struct bench_job *job, struct report *r, struct bench_result *out);

/* One side of one round: the program loaded, its map filled. */
struct bench_loaded {
	int prog, undo, map;
	int fds[16];
	unsigned n_fds;
	struct bpf_object *object;
};

/* The object is loaded into skep in any case; `kernel`: and from there into the kernel. */
int bench_load(const struct bench *b, bool kernel, uint64_t off_mask, unsigned producers,
	       struct report *r, struct bench_loaded *out);
void bench_unload(struct bench_loaded *l);

/* As bpf(2), on either side. */
union bpf_attr;
int bench_bpf(bool kernel, int cmd, union bpf_attr *attr, unsigned size);

#endif
