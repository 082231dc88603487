/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of the generator that call something.
 */
#ifndef SKEP_TESTS_CALLS_H
#define SKEP_TESTS_CALLS_H

#include "gen.h"

struct gen;

/* A tail-called program takes the frame of at most this depth; it has GEN_FRAMES - CALLEE_DEPTH
 * frames of its own. */
enum { CALLEE_DEPTH = 6 };

void item_call_helper(struct gen *g);
void item_call_sub(struct gen *g);
void item_call_back(struct gen *g);
void item_call_tail(struct gen *g);
void item_call_map(struct gen *g);
void item_load_packet(struct gen *g);

#endif
