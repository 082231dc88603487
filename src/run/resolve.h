/* SPDX-License-Identifier: BSD-2-Clause */
/* Map references: from file descriptors in instructions to rows of unit.refs. */
#ifndef SKEP_RUN_RESOLVE_H
#define SKEP_RUN_RESOLVE_H

#include "run/prog.h"

/* A copy of `in` in which LDMAP, LDMAPIDX, LDVALUE and LDVALUEIDX are LDMAP or LDVALUE with a row
 * of refs. The maps are put to p->maps, each once. The kernel's errno and message. */
int resolve_maps(const struct unit *in, const struct prog_spec *spec, struct prog *p,
		 struct report *log, struct unit **out);

#endif
