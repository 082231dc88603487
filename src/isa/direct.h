/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How generated code works on one map without asking for its type: functions of the map's type and
 * key size, and where values lie. map_desc.direct points to it while the map lives; NULL: there are
 * the helpers only. Functions have the calling convention of helpers (isa/abi.h), and what the
 * helper of the same name would return, unless said otherwise. A function that is NULL: the helper.
 */
#ifndef SKEP_ISA_DIRECT_H
#define SKEP_ISA_DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/abi.h"

struct direct_fn {
	helper_fn fn;
	const char *name; /* as dumps show it */
};

struct map_direct {
	/* r1 the map, r2 the key; 0: there is none. Without an element of its own (value_off 0) the
	 * result is what bpf_map_lookup_elem returns. Else it is the element, and:
	 *  - with ref_off, the byte there becomes 1 (LRU: looked up; store only if it is not yet);
	 *  - the value lies value_off behind it;
	 *  - percpu: what lies there is 4 bytes, the offset of the value in each slot's area. */
	struct direct_fn lookup;
	uint32_t value_off; /* bytes */
	uint32_t ref_off;   /* bytes; 0: none */
	bool percpu;

	struct direct_fn update, erase, push, pop, peek;

	/* Arrays, element i < max_entries. A shared one: values + i * stride; a per-CPU one:
	 * percpu_off + i * stride in each slot's area; of maps: an 8-byte pointer, or NULL, at
	 * slots + i * 8. 0: not such an array. */
	uint64_t values, slots;
	uint32_t stride, percpu_off;
};

#endif
