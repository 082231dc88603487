/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units in files: FILE.s is BPF text (unit_parse), FILE.bin an array of 8-byte instructions in
 * this machine's byte order (unit_decode, internal forms included).
 */
#ifndef SKEP_ISA_FILE_H
#define SKEP_ISA_FILE_H

#include "isa/unit.h"

struct report;

/* A fresh unit from the file, by the end of its name. 0, or -errno with one line that names the
 * file and the place. */
int file_read(const char *path, struct report *r, struct unit **out);

/* The text of a file, of whatever name (mem_free). 0, or -errno with one line. */
int file_text(const char *path, struct report *r, char **out);

#endif
