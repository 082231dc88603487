/* SPDX-License-Identifier: BSD-2-Clause */
/* Which registers are still read: a bit each, before each op. */
#ifndef SKEP_REWRITE_LIVE_H
#define SKEP_REWRITE_LIVE_H

#include <stdbool.h>

#include "isa/unit.h"

/* live[i]: registers that may be read from op i on. What reads only for a result that nobody reads
 * does not count. */
void live_find(const struct unit *u, uint16_t *live);

/* Behind op i. */
uint16_t live_behind(const struct unit *u, const uint16_t *live, uint32_t i);

/* The op writes dst and does nothing else. */
bool op_is_pure(const struct op *op);

#endif
