/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash that does not let a sender of packets guess
 * its values. */
#ifndef SKEP_HELPER_HASH_H
#define SKEP_HELPER_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n, const uint64_t key[2]);

#endif
