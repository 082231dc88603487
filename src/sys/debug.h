/* SPDX-License-Identifier: BSD-2-Clause */
/* func_info and line_info of PROG_LOAD: read and checked against the program and its BTF. */
#ifndef SKEP_SYS_DEBUG_H
#define SKEP_SYS_DEBUG_H

#include <linux/bpf.h>

#include "run/prog.h"
#include "sys/attr.h"

struct debug_info {
	struct obj *btf; /* reference or NULL */
	struct prog_rows funcs, lines;
};

/* Copies the rows and checks what can be said before the program is decoded. The kernel's errno
 * and message. */
int debug_read(const struct attr_prog_load *a, const struct bpf_insn *insns, struct report *log,
	       struct debug_info *out);

/* Checks the rows against p's subprograms and moves them into p. */
int debug_attach(struct debug_info *d, struct prog *p, struct report *log);

void debug_free(struct debug_info *d);

#endif
