/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What running code and the engine agree on: helper calls, callbacks, tail calls.
 * Generated code depends on these layouts; offsets are asserted in the targets.
 */
#ifndef SKEP_ISA_ABI_H
#define SKEP_ISA_ABI_H

#include <stdint.h>

struct unit;

/* Parameters of a C function that BPF code calls or that is BPF code, and the arguments of its
 * call. Where C returns a result in the register of the first argument, as on arm64, a parameter
 * that nobody reads stands in front, so that r0-r5 are the argument registers as they are. */
#if defined(__aarch64__)
#define BPF_PARAMS(...) uint64_t bpf_r0, __VA_ARGS__
#define BPF_ARGS(...)	0, __VA_ARGS__
#else
#define BPF_PARAMS(...) __VA_ARGS__
#define BPF_ARGS(...)	__VA_ARGS__
#endif

/* A helper, a callback or a program's entry: the five BPF arguments in C's calling convention.
 * A helper that needs the running slot takes it from percpu_self (base/percpu.h). */
typedef uint64_t (*helper_fn)(BPF_PARAMS(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
					 uint64_t r5));

static inline uint64_t helper_call(helper_fn fn, uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
				   uint64_t r5)
{
	return fn(BPF_ARGS(r1, r2, r3, r4, r5));
}

/* What CALL may reach. Constant while any unit refers to it. */
struct env {
	const helper_fn *helper; /* by number; NULL entries are not callable */
	uint32_t n_helpers;
	/* LDABS and LDIND: the value of `size` (1, 2, 4) bytes at `offset` of the packet behind
	 * ctx, in host byte order, or UINT64_MAX when outside. NULL: no packet, the program ends
	 * with 0. */
	uint64_t (*load_abs)(BPF_PARAMS(uint64_t ctx, int64_t offset, uint64_t size));
};

/* A program as the target of a tail call. Lives in the program object, immutable. */
struct callee {
	const void *native; /* where a tail call of native code enters; NULL: only interpreted */
	const struct unit *unit; /* what the interpreter runs */
};

/* What r2 of a tail call (a PROG_ARRAY map object) points to: struct map's tail member lies at
 * TAIL_ARRAY_OFFSET of struct map. slot[i] is NULL or a callee that stays valid while the caller
 * runs. Loaded with acquire order. The slots lie at TAIL_SLOTS_OFFSET of struct map, where native
 * code looks. */
struct tail_array {
	uint32_t n; /* max_entries */
	uint32_t pad;
	const struct callee **slot;
};

/* Probe loads (OP_PROBE) whose base register is outside of what users have, or in the first 64 KiB,
 * where NULL pointers lead, give 0 without being tried. What is tried may fault and then gives 0,
 * too. A probe may read all memory that the process itself may. */
enum {
	PROBE_LOW = 1 << 16,
#if defined(__aarch64__)
	PROBE_BITS = 48,
#else
	PROBE_BITS = 47,
#endif
};

static inline int probe_outside(uint64_t base)
{
	return (base - PROBE_LOW) >> PROBE_BITS != 0;
}

enum { TAIL_CALL_LIMIT = 33, TAIL_SLOTS_OFFSET = 512 };

/* A callback pointer (the value of LDFUNC) is a native address, or, in the interpreter, one with
 * bit 63 set. Helpers call it only through callback_call. */
#define CALLBACK_INTERP (1ull << 63)
uint64_t interp_callback(uint64_t fn, const uint64_t args[5]); /* interp/ */

static inline uint64_t callback_call(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
				     uint64_t e)
{
	if (fn & CALLBACK_INTERP)
		return interp_callback(fn, (const uint64_t[5]){ a, b, c, d, e });
	return helper_call((helper_fn)(uintptr_t)fn, a, b, c, d, e);
}

#endif
