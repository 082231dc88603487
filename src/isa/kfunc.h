/* SPDX-License-Identifier: BSD-2-Clause */
/* Prototypes of kernel functions that programs call by name. The rows are kfunc.def. */
#ifndef SKEP_ISA_KFUNC_H
#define SKEP_ISA_KFUNC_H

#include "isa/helper.h"

enum kfunc_id {
#define KFUNC(name, ret, a1, a2, a3, a4, a5, flags, progs, doc) KFUNC_##name,
#include "isa/kfunc.def"
	KFUNC_COUNT
};

enum kfunc_flag {
	KFUNC_RDONLY = 1 << 0, /* what it returns is not written to */
	KFUNC_NEXT = 1 << 1,   /* gives the next element of an iterator, at its end NULL */
	KFUNC_SLEEPS = 1 << 2,
	KFUNC_ACQUIRE = 1 << 3, /* what it returns must be released */
	KFUNC_RELEASE = 1 << 4, /* gives up its argument's reference */
	KFUNC_TRUSTED = 1 << 5, /* typed arguments are counted or trusted */
	KFUNC_RCU = 1 << 6,	/* or at least protected by RCU */
};

struct kfunc {
	const char *name; /* without bpf_ */
	const char *doc;
	uint32_t ret, arg[5]; /* as in struct helper */
	uint64_t progs;
	uint8_t id; /* enum kfunc_id */
	uint8_t flags;
};

/* The row by name, bpf_ in front; NULL when there is none. */
const struct kfunc *kfunc_find(const char *name);

/* "num" and how many stack slots an iterator takes. */
const char *iter_name(enum iter_type type);
unsigned iter_slots(enum iter_type type);

#endif
