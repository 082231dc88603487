/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values as BTF describes them: bytes to text or JSON, text to bytes, and sums.
 * Types that name an address or a byte order are shown as people write them: struct in_addr,
 * struct in6_addr; __be16, __be32, __be64 as the number that they carry.
 */
#ifndef SKEP_TOOL_VALUE_H
#define SKEP_TOOL_VALUE_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include "skep/json.h"

struct report;

/* What describes a value: a BTF type, or, with btf NULL or id 0, only its size in bytes. */
struct value_type {
	const struct btf *btf;
	uint32_t id;
	uint32_t size;
};

/* Writes the value at p under `key`. */
void value_print(struct json *j, const char *key, const struct value_type *t, const void *p);

/* Adds each number of the value at p to that of the value at sum. False when the type holds
 * something that has no sum (an address, a string, no BTF): then sum means nothing. */
bool value_add(const struct value_type *t, void *sum, const void *p);

/* Text to t->size bytes at out (zeroed here first): the type's numbers in order, separated by
 * commas, the last ones may be missing; `FIELD=` before one goes to that field, `a.b=` to a nested
 * one. Numbers are decimal or 0x…, or an enumerator's name; in_addr and in6_addr are addresses;
 * byte arrays are 0x…, aa:bb:cc:dd:ee:ff or, of char, text. Without BTF: a number, or 0x and two
 * digits for each byte. `what` begins the message. 0 or -EINVAL. */
int value_parse(const struct value_type *t, const char *text, const char *what, struct report *r,
		void *out);

/* The size of a type, with typedefs and qualifiers skipped; *is_be is set when one of the typedefs
 * is __be16, __be32 or __be64. */
const struct btf_type *value_skip(const struct btf *btf, uint32_t *id, bool *is_be);

/* A number of `size` bytes at p, sign-extended if wanted, from big-endian order if wanted. */
uint64_t value_load(const void *p, uint32_t size, bool is_signed, bool is_be);
void value_store(void *p, uint32_t size, uint64_t v, bool is_be);

enum special { SPECIAL_NONE, SPECIAL_IN_ADDR, SPECIAL_IN6_ADDR };
enum special value_special(const struct btf *btf, const struct btf_type *t);

#endif
