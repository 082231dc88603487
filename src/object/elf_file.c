/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/report.h"

#ifndef EM_BPF
#define EM_BPF 247
#endif

struct file {
	const char *path;
	int fd;
	uint64_t size;
};

static int file_read(const struct file *f, uint64_t at, void *to, size_t n)
{
	return pread(f->fd, to, n, (off_t)at) == (ssize_t)n ? 0 : -EINVAL;
}

static int file_open(const char *path, struct report *r, struct file *f)
{
	struct stat st;

	f->path = path;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return report_fail(r, -errno, "%s: cannot be read: %s", path, strerror(errno));
	if (fstat(f->fd, &st) || !S_ISREG(st.st_mode)) {
		close(f->fd);
		return report_fail(r, -EINVAL, "%s: not a regular file; give a BPF object (.o)",
				   path);
	}
	f->size = (uint64_t)st.st_size;
	return 0;
}

static int ident_check(const struct file *f, const Elf64_Ehdr *h, struct report *r)
{
	const int ours = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return report_fail(
		    r, -EINVAL,
		    "%s: byte 0: not an ELF file; compile with clang -target bpf -g -O2 -c",
		    f->path);
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return report_fail(r, -EINVAL,
				   "%s: byte 4: not a 64-bit ELF file; BPF objects are: compile "
				   "with clang -target bpf",
				   f->path);
	if (h->e_ident[EI_DATA] != ours)
		return report_fail(
		    r, -EINVAL,
		    "%s: byte 5: wrong byte order for this machine; compile with clang -target %s",
		    f->path, ours == ELFDATA2LSB ? "bpfel" : "bpfeb");
	if (h->e_machine != EM_BPF && h->e_machine != EM_NONE)
		return report_fail(r, -EINVAL,
				   "%s: byte 18: ELF file for machine %u, not for BPF (%u); "
				   "compile with clang -target bpf",
				   f->path, h->e_machine, EM_BPF);
	if (h->e_type != ET_REL)
		return report_fail(r, -EINVAL,
				   "%s: byte 16: ELF type %u, not a relocatable object; compile "
				   "with -c and do not link",
				   f->path, h->e_type);
	return 0;
}

static bool range_in_file(const struct file *f, uint64_t off, uint64_t size)
{
	return off <= f->size && size <= f->size - off;
}

static int truncated(const struct file *f, uint64_t off, uint64_t size, const char *what,
		     struct report *r)
{
	return report_fail(r, -EINVAL,
			   "%s: byte %llu: %s of %llu bytes ends behind the file's %llu bytes: cut "
			   "off or corrupt; copy or compile it again",
			   f->path, (unsigned long long)off, what, (unsigned long long)size,
			   (unsigned long long)f->size);
}

static int section_check(const struct file *f, const Elf64_Shdr *s, struct report *r)
{
	if (s->sh_type == SHT_NULL || s->sh_type == SHT_NOBITS)
		return 0;
	return range_in_file(f, s->sh_offset, s->sh_size)
		   ? 0
		   : truncated(f, s->sh_offset, s->sh_size, "a section", r);
}

static int sections_check(const struct file *f, const Elf64_Ehdr *h, struct report *r)
{
	uint64_t size = (uint64_t)h->e_shnum * sizeof(Elf64_Shdr);
	int err = 0;

	if (!h->e_shnum || h->e_shentsize != sizeof(Elf64_Shdr))
		return report_fail(
		    r, -EINVAL,
		    "%s: byte 58: no section table: corrupt or stripped; compile it again",
		    f->path);
	if (!range_in_file(f, h->e_shoff, size))
		return truncated(f, h->e_shoff, size, "the section table", r);
	for (unsigned i = 0; i < h->e_shnum && !err; i++) {
		Elf64_Shdr s;

		err = file_read(f, h->e_shoff + i * sizeof(s), &s, sizeof(s));
		if (!err)
			err = section_check(f, &s, r);
	}
	return err;
}

static int header_check(const struct file *f, struct report *r)
{
	Elf64_Ehdr h = { 0 };
	int err;

	if (f->size == 0)
		return report_fail(r, -EINVAL, "%s: empty file; give a BPF object (.o)", f->path);
	file_read(f, 0, &h, f->size < sizeof(h) ? (size_t)f->size : sizeof(h));
	if (f->size >= SELFMAG && f->size < sizeof(h) && !memcmp(h.e_ident, ELFMAG, SELFMAG))
		return truncated(f, 0, sizeof(h), "the ELF header", r);
	err = ident_check(f, &h, r);
	return err ? err : sections_check(f, &h, r);
}

int elf_file_check(const char *path, struct report *r)
{
	struct file f = { 0 };
	int err = file_open(path, r, &f);

	if (err)
		return err;
	err = header_check(&f, r);
	close(f.fd);
	return err;
}
