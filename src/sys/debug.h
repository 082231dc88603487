/* SPDX-License-Identifier: BSD-2-Clause */
/* func_info and line_info of PROG_LOAD: read and checked against the program and its BTF. */
#ifndef SKEP_SYS_DEBUG_H
#define SKEP_SYS_DEBUG_H

#include <linux/bpf.h>

#include "run/prog.h"
#include "sys/attr.h"

struct call;
struct unit;

struct debug_info {
	const struct attr_prog_load *attr;
	const struct call *call;
	struct obj *btf; /* reference or NULL */
	struct prog_rows funcs, lines;
};

/* BTF and func_info: what can be said before the program is decoded. The kernel's errno and
 * message. `a` and `call` are needed until debug_describe. */
int debug_read(const struct attr_prog_load *a, const struct call *call, struct report *log,
	       struct debug_info *out);

/* prog_spec.describe with a struct debug_info: checks func_info against the subprograms, reads
 * line_info, and moves all into p. */
int debug_describe(void *debug, const struct unit *decoded, struct prog *p, struct report *log);

void debug_free(struct debug_info *d);

#endif
