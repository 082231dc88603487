/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_JIT_IMAGE_H
#define SKEP_JIT_IMAGE_H

#include <stdint.h>

/* Where images lie: in [lo, hi), near the engine's own code where that can be had. 0 or -errno,
 * then both are 0. */
int image_range(uint64_t *lo, uint64_t *hi);

#endif
