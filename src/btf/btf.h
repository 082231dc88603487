/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF objects: type information that a user loaded, checked completely before anything uses it.
 * Immutable. Named btf_obj, since struct btf and btf_* are libbpf's.
 */
#ifndef SKEP_BTF_BTF_H
#define SKEP_BTF_BTF_H

#include <linux/btf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/obj.h"

#ifndef BTF_KIND_ENUM64
#define BTF_KIND_ENUM64 19
#endif

struct report;

#define BTF_NO_SIZE UINT64_MAX

enum {
	BTF_SIZE_MAX = 16 << 20, /* bytes of a whole object */
	BTF_TYPES_MAX = 0xfffff,
	BTF_NO_OFFSET = 0xffffffff,
};

struct btf_obj {
	struct obj obj;
	uint8_t *data; /* as loaded, header included */
	uint32_t size;
	const struct btf_type **types; /* types[0] is void */
	uint32_t n_types;	       /* void included */
	const char *strings;
	uint32_t strings_size;
	uint64_t *sizes; /* size in bytes of each type, modifiers resolved, or BTF_NO_SIZE */
	bool kernel;	 /* btf_obj_load_kernel */
	uint32_t *bases; /* each type with modifiers and typedefs taken off */
};

/* Checks and copies. -EINVAL, -E2BIG, -EEXIST (a loop), -ENOTSUPP (a newer header), with the
 * kernel's words in `log`. One reference for the caller. */
int btf_obj_load(const void *data, uint32_t size, struct report *log, struct btf_obj **out);

/* The same for a kernel's own types. That kernel may be newer than what bpf(2) here follows: tags
 * may be attributes (kind_flag). */
int btf_obj_load_kernel(const void *data, uint32_t size, struct report *log, struct btf_obj **out);

static inline struct btf_obj *btf_obj_of(struct obj *o)
{
	return obj_of(o, struct btf_obj, obj);
}

/* NULL when there is no such type. */
const struct btf_type *btf_obj_type(const struct btf_obj *b, uint32_t id);

/* Never NULL: "" for offset 0, and NULL-safe for offsets outside: "(bad)". */
const char *btf_obj_string(const struct btf_obj *b, uint32_t off);
bool btf_obj_string_ok(const struct btf_obj *b, uint32_t off);

/* `id` without const, volatile, restrict, typedef and type tags; 0 for void. */
uint32_t btf_obj_base(const struct btf_obj *b, uint32_t id);

/* Size of a value of this type in bytes; false where it has none (void, functions, no such id). */
bool btf_obj_size(const struct btf_obj *b, uint32_t id, uint32_t *size);

/* Fields of a map's value that the kernel treats specially: their byte offsets, BTF_NO_OFFSET
 * where there is none. */
struct btf_special {
	uint32_t spin_lock, timer, workqueue;
	bool kptr; /* kernel pointers, lists, trees or reference counts: not supported */
};

/* -E2BIG: a field that is there twice. */
int btf_obj_special(const struct btf_obj *b, uint32_t id, struct btf_special *out);

/* Kind and number of members, and bits that types share. */
static inline unsigned btf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

static inline unsigned btf_vlen_of(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

#endif
