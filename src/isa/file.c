/* SPDX-License-Identifier: BSD-2-Clause */
#include "isa/file.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/report.h"
#include "base/vec.h"

enum { FILE_BYTES_MAX = 1 << 26 };

typedef VEC(char) file_bytes;

/* The whole file, with a NUL behind it that does not count. */
static int file_slurp(const char *path, file_bytes *b, struct report *r)
{
	FILE *f = fopen(path, "re");
	size_t n = 1;
	int err = f ? 0 : errno;

	while (!err && n && b->n <= FILE_BYTES_MAX) {
		err = vec_reserve(b, 1 << 16) ? ENOMEM : 0;
		n = err ? 0 : fread(b->at + b->n, 1, (1 << 16) - 1, f);
		b->n += n;
		if (!err && ferror(f))
			err = errno;
	}
	if (f)
		fclose(f);
	if (err)
		return report_fail(r, -err, "%s: %s", path, strerror(err));
	if (b->n > FILE_BYTES_MAX)
		return report_fail(r, -EFBIG, "%s: larger than %d bytes; is it a program?", path,
				   FILE_BYTES_MAX);
	b->at[b->n] = '\0';
	return 0;
}

int file_text(const char *path, struct report *r, char **out)
{
	file_bytes b = { 0 };
	int err = file_slurp(path, &b, r);

	if (!err && strlen(b.at) != b.n)
		err =
		    report_fail(r, -EINVAL, "%s: byte %zu is 0; expected text", path, strlen(b.at));
	if (err)
		vec_free(&b);
	else
		*out = b.at;
	return err;
}

static int file_parse(const char *path, const file_bytes *b, struct report *r, struct unit **out)
{
	if (strlen(b->at) != b->n)
		return report_fail(r, -EINVAL,
				   "%s: byte %zu is 0; expected text, instructions are .bin files",
				   path, strlen(b->at));
	return unit_parse(path, b->at, r, out);
}

static int file_decode(const char *path, const file_bytes *b, struct report *r, struct unit **out)
{
	struct report said = { 0 };
	size_t size = sizeof(struct bpf_insn);
	int err;

	if (!b->n || b->n % size)
		return report_fail(r, -EINVAL,
				   "%s: %zu bytes; expected 8-byte instructions, at least one",
				   path, b->n);
	err =
	    unit_decode((const struct bpf_insn *)b->at, (uint32_t)(b->n / size), true, &said, out);
	if (err)
		report_fail(r, err, "%s: %.*s", path, said.text ? (int)strcspn(said.text, "\n") : 0,
			    said.text ? said.text : "");
	report_free(&said);
	return err;
}

static bool path_ends(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n > m && strcmp(path + n - m, end) == 0;
}

static const struct {
	const char *end;
	int (*read)(const char *path, const file_bytes *b, struct report *r, struct unit **out);
} readers[] = {
	{ ".s", file_parse },
	{ ".bin", file_decode },
};

int file_read(const char *path, struct report *r, struct unit **out)
{
	file_bytes b = { 0 };
	int err;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		if (!path_ends(path, readers[i].end))
			continue;
		err = file_slurp(path, &b, r);
		if (!err && b.n >= 4 &&
		    !memcmp(b.at,
			    "\x7f"
			    "ELF",
			    4))
			err = report_fail(r, -EINVAL, "%s: an ELF object; name it .o", path);
		if (!err)
			err = readers[i].read(path, &b, r, out);
		vec_free(&b);
		return err;
	}
	return report_fail(r, -EINVAL, "%s: expected FILE.s (text) or FILE.bin (instructions)",
			   path);
}
