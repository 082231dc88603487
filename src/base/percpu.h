/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per-CPU memory. A slot is skep's CPU; which thread owns which slot is run/slot.h's business.
 *
 * All slots' areas lie in one reserved region, PERCPU_STRIDE bytes apart, so a per-CPU pointer is
 * one 32-bit offset and the address is `base of the slot + offset`: no pointer table.
 * The region is shared memory: children after fork() see the same values. What a child inherits
 * goes when its parent gives it back; what parent and child allocate later never overlaps.
 */
#ifndef SKEP_BASE_PERCPU_H
#define SKEP_BASE_PERCPU_H

#include <stdint.h>

#define PERCPU_STRIDE	 (1ull << 30) /* bytes of address space for each slot */
#define PERCPU_SLOTS_MAX 512

/* The first bytes of each slot's area, at offset 0: what generated code reads at a fixed offset. */
struct percpu_head {
	uint32_t cpu;	      /* this slot's number */
	uint32_t node;	      /* NUMA node of the slot, 0 when unknown */
	uint32_t owner, lock; /* thread ids; run/slot.c */
	uint32_t stuck;	      /* the run in this slot waits for another slot; run/slot.c */
	uint64_t random;      /* not 0; percpu_random */
};

/* xorshift64* (Vigna 2016): shifts of the state, and what its upper half is made with. */
enum { PERCPU_RANDOM_A = 12, PERCPU_RANDOM_B = 25, PERCPU_RANDOM_C = 27 };
#define PERCPU_RANDOM_FACTOR 0x2545f4914f6cdd1dull

static inline uint32_t percpu_random(uint64_t *state)
{
	uint64_t s = *state;

	s ^= s >> PERCPU_RANDOM_A;
	s ^= s << PERCPU_RANDOM_B;
	s ^= s >> PERCPU_RANDOM_C;
	*state = s;
	return (uint32_t)(s * PERCPU_RANDOM_FACTOR >> 32);
}

/* Maps the region on first use. 0 or -errno; thread-safe. Called by whoever needs slots. */
int percpu_init(void);

/* Number of slots: SKEP_CPUS from the environment, or the machine's possible CPUs
 * (/sys/devices/system/cpu/possible); never 0. */
unsigned percpu_slots(void);

/* `size` zeroed bytes in every slot, at one offset aligned to `align` (a power of two, at most
 * 4096; 8 at least is used). Returns the offset, or 0 when there is no room. Thread-safe. */
uint32_t percpu_alloc(uint64_t size, uint32_t align);

/* Gives back what percpu_alloc returned for the same size, in every slot. off 0 is allowed. */
void percpu_free(uint32_t off, uint64_t size);

/* Base of one slot's area. slot < percpu_slots(), after percpu_init() succeeded. */
char *percpu_base(unsigned slot);

/* The address of slot's copy. */
static inline void *percpu_at(unsigned slot, uint32_t off)
{
	return percpu_base(slot) + off;
}

/* Base of the slot that this thread runs in; NULL outside of a program run. Set by run/slot.c. */
extern __thread char *percpu_self __attribute__((tls_model("initial-exec")));

/* That slot's number, as in its percpu_head: one load for who only wants this. */
extern __thread uint32_t percpu_cpu __attribute__((tls_model("initial-exec")));

/* The address of the running slot's copy. Only while percpu_self is set. */
static inline void *percpu_this(uint32_t off)
{
	return percpu_self + off;
}

#endif
