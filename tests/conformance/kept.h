/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SKEP_TESTS_KEPT_H
#define SKEP_TESTS_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/abi.h"

/* Calls fn. *kept: the registers that a C function must keep came back as they were. */
uint64_t kept_call(helper_fn fn, const uint64_t args[5], bool *kept);

#endif
