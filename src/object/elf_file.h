/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_OBJECT_ELF_FILE_H
#define SKEP_OBJECT_ELF_FILE_H

struct report;

/* What can be said of the file before libbpf reads it: it can be read, it is an ELF relocatable
 * for BPF in our byte order, and its section table lies within it. Messages name the remedy, which
 * libbpf's do not. 0 or -errno. */
int elf_file_check(const char *path, struct report *r);

#endif
