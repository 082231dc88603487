/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of the running program. All that the interpreter reads and writes for a program goes
 * through here: a checking variant for fuzzers replaces this one file.
 */
#ifndef SKEP_INTERP_ACCESS_H
#define SKEP_INTERP_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

/* `size` is 1, 2, 4 or 8 bytes; addresses need no alignment. Values are zero-extended. */
uint64_t access_load(uint64_t addr, unsigned size);
void access_store(uint64_t addr, unsigned size, uint64_t v);

/* As above on memory that may not be there: the load gives 0, the store does nothing. */
uint64_t access_probe_load(uint64_t addr, unsigned size);
void access_probe_store(uint64_t addr, unsigned size, uint64_t v);

/* Whether all bytes can be read. */
bool access_there(uint64_t addr, unsigned size);

/* 1 to 8 bytes, acquire or release order. Naturally aligned. */
uint64_t access_load_acquire(uint64_t addr, unsigned size);
void access_store_release(uint64_t addr, unsigned size, uint64_t v);

/* The ATOMIC op `code` except OP_CMPXCHG, in full order; returns the old value, zero-extended.
 * `size` is 4 or 8. */
uint64_t access_atomic(uint8_t code, uint64_t addr, unsigned size, uint64_t v);

/* Stores v if the value is `expected`; returns the old value, zero-extended. */
uint64_t access_cmpxchg(uint64_t addr, unsigned size, uint64_t expected, uint64_t v);

#endif
