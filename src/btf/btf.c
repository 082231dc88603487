/* SPDX-License-Identifier: BSD-2-Clause */
#include "btf/btf.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "btf/impl.h"

enum { NAME_OFF_MAX = 0x00ffffff, E_NOTSUPP = 524 };

static void btf_obj_free(struct obj *o)
{
	struct btf_obj *b = btf_obj_of(o);

	mem_free(b->data);
	mem_free(b->types);
	mem_free(b->sizes);
	mem_free(b->bases);
	mem_free(b);
}

/* Copies the header out; fields that a shorter one lacks are zero. */
static int header_read(const struct btf_obj *b, struct report *log, struct btf_header *h)
{
	uint32_t len;

	memset(h, 0, sizeof(*h));
	if (b->size < offsetof(struct btf_header, hdr_len) + sizeof(len))
		return report_fail(log, -EINVAL, "hdr_len not found");
	memcpy(&len, b->data + offsetof(struct btf_header, hdr_len), sizeof(len));
	if (b->size < len)
		return report_fail(log, -EINVAL, "btf_header not found");
	for (uint32_t i = sizeof(*h); i < len; i++) {
		if (b->data[i])
			return report_fail(log, -E2BIG, "Unsupported btf_header");
	}
	memcpy(h, b->data, len < sizeof(*h) ? len : sizeof(*h));
	if (h->magic != BTF_MAGIC)
		return report_fail(log, -EINVAL, "Invalid magic");
	if (h->version != BTF_VERSION)
		return report_fail(log, -E_NOTSUPP, "Unsupported version");
	if (h->flags)
		return report_fail(log, -E_NOTSUPP, "Unsupported flags");
	if (b->size == len)
		return report_fail(log, -EINVAL, "No data");
	return 0;
}

struct section {
	uint32_t off, len;
};

/* The two sections fill what follows the header, without gap or overlap. */
static int sections_check(const struct btf_header *h, uint32_t room, struct report *log)
{
	struct section s[2] = { { h->type_off, h->type_len }, { h->str_off, h->str_len } };
	uint32_t total = 0;

	if (s[0].off > s[1].off) {
		s[0] = (struct section){ h->str_off, h->str_len };
		s[1] = (struct section){ h->type_off, h->type_len };
	}
	for (unsigned i = 0; i < 2; i++) {
		if (room < s[i].off)
			return report_fail(log, -EINVAL, "Invalid section offset");
		if (total < s[i].off)
			return report_fail(log, -EINVAL, "Unsupported section found");
		if (total > s[i].off)
			return report_fail(log, -EINVAL, "Section overlap found");
		if (room - total < s[i].len)
			return report_fail(log, -EINVAL, "Total section length too long");
		total += s[i].len;
	}
	if (room != total)
		return report_fail(log, -EINVAL, "Unsupported section found");
	return 0;
}

static int strings_check(struct btf_obj *b, const struct btf_header *h, struct report *log)
{
	const char *start = (const char *)b->data + h->hdr_len + h->str_off;

	if (h->hdr_len + h->str_off + h->str_len != b->size)
		return report_fail(log, -EINVAL, "String section is not at the end");
	if (!h->str_len || h->str_len - 1 > NAME_OFF_MAX || start[0] || start[h->str_len - 1])
		return report_fail(log, -EINVAL, "Invalid string section");
	b->strings = start;
	b->strings_size = h->str_len;
	return 0;
}

static int btf_obj_parse(struct btf_obj *b, struct report *log)
{
	struct btf_header h;
	int err = header_read(b, log, &h);

	if (!err)
		err = sections_check(&h, b->size - h.hdr_len, log);
	if (!err)
		err = strings_check(b, &h, log);
	if (err)
		return err;
	if (h.type_off & 3)
		return report_fail(log, -EINVAL, "Unaligned type_off");
	if (!h.type_len)
		return report_fail(log, -EINVAL, "No type found");
	if (h.hdr_len & 3)
		return report_fail(log, -EINVAL, "Unaligned hdr_len");
	err = btf_obj_metas(b, b->data + h.hdr_len + h.type_off, h.type_len, log);
	if (!err)
		err = btf_obj_resolve(b, log);
	return err || b->kernel ? err : btf_obj_locks(b);
}

static int btf_obj_make(const void *data, uint32_t size, bool kernel, struct report *log,
			struct btf_obj **out)
{
	struct btf_obj *b;
	int err;

	if (size > BTF_SIZE_MAX)
		return -E2BIG;
	b = mem_zalloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	obj_init(&b->obj, OBJ_BTF, btf_obj_free);
	b->size = size;
	b->kernel = kernel;
	b->data = mem_dup(data, size);
	err = b->data ? btf_obj_parse(b, log) : -ENOMEM;
	if (err) {
		obj_put(&b->obj);
		return err;
	}
	*out = b;
	return 0;
}

int btf_obj_load(const void *data, uint32_t size, struct report *log, struct btf_obj **out)
{
	return btf_obj_make(data, size, false, log, out);
}

int btf_obj_load_kernel(const void *data, uint32_t size, struct report *log, struct btf_obj **out)
{
	return btf_obj_make(data, size, true, log, out);
}

const struct btf_type *btf_obj_type(const struct btf_obj *b, uint32_t id)
{
	return id < b->n_types ? b->types[id] : NULL;
}

bool btf_obj_string_ok(const struct btf_obj *b, uint32_t off)
{
	return off < b->strings_size;
}

const char *btf_obj_string(const struct btf_obj *b, uint32_t off)
{
	return btf_obj_string_ok(b, off) ? b->strings + off : "(bad)";
}

/* Letters of the kernel's character set, which is Latin-1. */
static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= 0xc0 && c != 0xd7 && c != 0xf7);
}

bool btf_obj_identifier(const struct btf_obj *b, uint32_t off)
{
	const char *s = btf_obj_string(b, off);

	if (!off || !btf_obj_string_ok(b, off) || !*s || strlen(s) >= 512)
		return false;
	for (const char *c = s; *c; c++) {
		bool digit = *c >= '0' && *c <= '9' && c > s;

		if (!is_letter((unsigned char)*c) && !digit && *c != '_' && *c != '.')
			return false;
	}
	return true;
}

uint32_t btf_obj_base(const struct btf_obj *b, uint32_t id)
{
	return id < b->n_types ? b->bases[id] : 0;
}

bool btf_obj_size(const struct btf_obj *b, uint32_t id, uint32_t *size)
{
	if (id >= b->n_types || b->sizes[id] == BTF_NO_SIZE)
		return false;
	*size = (uint32_t)b->sizes[id];
	return true;
}
