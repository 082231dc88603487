/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory whose address is short in generated code: map objects, and values that programs reach
 * without a look-up. On x86-64 it lies in the low 2 GiB, where an address is a 32-bit immediate
 * (5 bytes) or displacement; else, and on arm64, near the engine's code, beside which the images
 * lie: one lea of 7 bytes, adrp and add.
 *
 * All of it is one window of address space, reserved once. When it is full, or nothing was free
 * there, memory is taken from anywhere: code gets longer and stays right. Thread-safe; children of
 * fork(2) inherit the window and what is in it.
 */
#ifndef SKEP_BASE_NEAR_H
#define SKEP_BASE_NEAR_H

#include <stddef.h>
#include <stdint.h>

/* Reserves address space (PROT_NONE) of which each byte is between `away` and `reach` bytes from
 * the engine's code, first below, where the heap does not grow. NULL: nothing is free there. */
void *near_reserve(size_t size, uint64_t away, uint64_t reach);

/* `size` bytes of the window's address space (PROT_NONE, aligned to a page) for a mapping with
 * MAP_FIXED; NULL: no room. */
void *near_take(size_t size);

/* Unmaps [p, p + size); what is of the window can be taken again. p may be from anywhere. */
void near_give(void *p, size_t size);

/* Zeroed private memory, aligned to a cache line: of the window if there is room, else of the
 * heap. Counts as an allocation of base/mem.h. */
void *near_zalloc(size_t size);
void near_free(void *p, size_t size); /* the same size; p NULL is allowed */

#endif
