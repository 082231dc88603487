/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening BPF objects with the private libbpf. Everything else is done with libbpf's own calls on
 * the struct bpf_object. Every message is one line: the file, the place, what to do.
 */
#ifndef SKEP_OBJECT_OBJECT_H
#define SKEP_OBJECT_OBJECT_H

#include <bpf/libbpf.h>
#include <stdbool.h>

struct report;

/* Opens the object file: checked to be a whole ELF file for BPF in this machine's byte order, and
 * to define its maps in `.maps`. 0, -ENOENT, -EINVAL...; close with bpf_object__close. */
int object_open(const char *path, struct report *r, struct bpf_object **out);

struct object_load {
	unsigned level;	    /* BPF_LOG_* of each program; 0: as the programs have it */
	struct report *all; /* NULL, or receives everything that libbpf said, but debug messages */
	struct report *log; /* NULL, or receives the verifier's logs */
	struct report
	    *refusal; /* NULL, or receives the last line of a refusal and our words on it */
};

/* Creates the maps and loads the programs, all of those that are set to be loaded; `how` may be
 * NULL. The message on failure is one line with the verifier's last word, and, when a program was
 * refused, the lines that explain it. */
int object_load(const char *path, struct bpf_object *obj, const struct object_load *how,
		struct report *r);

/* The program with this name; NULL: the only one. The message for a name that is not there lists
 * those that are, the likeliest first. -ENOENT, -EINVAL (no name, several programs). */
int object_find_prog(const char *path, const struct bpf_object *obj, const char *name,
		     struct report *r, struct bpf_program **out);

#endif
