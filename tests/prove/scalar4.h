/* SPDX-License-Identifier: BSD-2-Clause */
/* The verifier's number domains at 4 and 2 bits. */
#ifndef SKEP_PROVE_SCALAR4_H
#define SKEP_PROVE_SCALAR4_H

#include "verify/scalar.h"

#define W    4
#define U    uint8_t
#define S    int8_t
#define DOM  dom4
#define N(f) dom4_##f
#include "verify/dom.tmpl.h"

#define W    2
#define U    uint8_t
#define S    int8_t
#define DOM  dom2
#define N(f) dom2_##f
#include "verify/dom.tmpl.h"

#define SC   scalar4
#define F(f) scalar4_##f
#define W    4
#define DOM  dom4
#define D(f) dom4_##f
#define U    uint8_t
#define S    int8_t
#define HDOM dom2
#define H(f) dom2_##f
#define HU   uint8_t
#define HS   int8_t
#include "verify/scalar.tmpl.h"

#endif
