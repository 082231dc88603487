/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-1 (FIPS 180-4), for program tags. */
#ifndef SKEP_RUN_SHA1_H
#define SKEP_RUN_SHA1_H

#include <stddef.h>
#include <stdint.h>

void sha1(const void *data, size_t n, uint8_t digest[20]);

#endif
