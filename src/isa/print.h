/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names in BPF text, shared by the printer of ops (print.c), that of units (listing.c) and the
 * parser.
 */
#ifndef SKEP_ISA_PRINT_H
#define SKEP_ISA_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/unit.h"

/* The first n bytes of s can stand as a label: an identifier that is no register (r3, w3), no
 * word of the language, no number, and not one of the labels that the printer makes up. */
bool print_is_label(const char *s, size_t n);

/* The name of a subprogram where it has one that can stand as a label and is no other one's; NULL
 * else, then it is written "sub<number>". */
const char *print_sub_name(const struct unit *u, uint32_t sub);

#endif
