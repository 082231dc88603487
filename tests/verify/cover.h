/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a run is covered by what the verifier knew. While it explores, a graph of its states is
 * kept: a node for each op that it reached on each path, with the state before the op. Later, op
 * by op of a run on the interpreter, the graph is walked along: what registers and stack hold must
 * lie in the state of the node that was reached, and the op that runs must be one that the
 * verifier went on to.
 *
 * Why that is right. Without pruning it is what a verifier claims: each step of the exploration
 * takes all values of a state to the states behind it. Where the walk of node n was cut off since
 * a kept state K covers it, the run goes on from K's node. K says less than n in two ways:
 *   - a place (register or slot) that nothing behind K read may hold anything;
 *   - a number that is not precise in K decided nothing behind K, so it may be any number; a
 *     pointer, or a precise number, must lie in K.
 * Both are taken from K as it was when it was given up, when all marks were made. Places that do
 * not lie in K's own state are `loose` from there on, and that may show later in two ways only: a
 * loose place stays as it is (also as an argument or a result, which move without being looked
 * at); or a number was computed from a loose number. So a place may miss its state only if it was
 * loose one op ago, or if it is a number and some number was loose. (Numbers of one id are equal,
 * and a comparison of one tells of all. Pruning does not compare the ids of numbers that are not
 * precise; so behind a cut a number with an id may also miss its state afresh.) A loose pointer
 * that is copied or used, or a loose number that becomes part of an address, shows as a pointer
 * that misses its state; a loose number that decides a branch shows as an op that the verifier
 * never went on to.
 *
 * A global function is explored by itself: a call of one begins at the root of its own graph, and
 * its exit goes on where the caller stood. A callback's end leads to a node of the call itself,
 * which the run does not show again; the state of the caller is held against it all the same.
 */
#ifndef SKEP_TESTS_VERIFY_COVER_H
#define SKEP_TESTS_VERIFY_COVER_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/interp.h"
#include "verify/state.h"

struct cover;
struct places; /* where things lie in this run (region.h) */

/* The most nodes of a graph; verification ends with -E2BIG beyond. */
enum { COVER_NODES = 6000 };

struct cover *cover_new(void);
void cover_free(struct cover *c);

/* What to give to verify() as verify_input.watch. Forgets an older graph. */
const struct verify_watch *cover_watch(struct cover *c);

/* False when the graph would have become larger. */
bool cover_whole(const struct cover *c);
uint32_t cover_size(const struct cover *c);

/* A run begins. */
void cover_begin(struct cover *c, const struct places *p, const struct verify_sub *subs);

/* Before each op of the run. NULL, or what is wrong. */
const char *cover_op(struct cover *c, const struct interp_at *at);

/* How often a run went over a cut, and how many places were loose there, since cover_new. */
uint64_t cover_cuts(const struct cover *c);
uint64_t cover_loose(const struct cover *c);

#endif
