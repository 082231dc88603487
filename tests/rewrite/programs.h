/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs that the verifier takes: contexts, packets, loops, callbacks, a map, dead ways.
 */
#ifndef SKEP_TESTS_REWRITE_PROGRAMS_H
#define SKEP_TESTS_REWRITE_PROGRAMS_H

#include <stdint.h>

#include "base/report.h"

enum { GEN_VALUE = 48, GEN_ENTRIES = 5 }; /* of the ARRAY that the programs know as map_fd 0 */

/* BPF text of the program with this number, for BPF_PROG_TYPE_XDP, SCHED_CLS or SOCKET_FILTER. */
void gen_text(uint64_t seed, uint32_t prog_type, struct report *out);

#endif
