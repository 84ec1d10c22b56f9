/* SPDX-License-Identifier: Apache-2.0 */
/* The deck: which tuner tunes which problem. The tuners of a deck have devices of one model, and
 * each problem is dealt to one of them. */
#ifndef AT_FLEET_DECK_H
#define AT_FLEET_DECK_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_deck;

/* No problem. */
#define AT_DECK_NONE SIZE_MAX

/* Make a deck of all problems, which are borrowed. */
struct at_deck *at_deck_new(const struct at_problem *problems, size_t count, size_t tuners);

void at_deck_free(struct at_deck *deck);

/* The tuner knows this many measurements of the problem. A problem is dealt only to those that know
 * most of it, so that none is made twice while one of them lives. */
void at_deck_know(struct at_deck *deck, size_t problem, size_t tuner, int64_t measurements);

/* The tuner is gone, with what it knows. */
void at_deck_release(struct at_deck *deck, size_t tuner);

/* Deal a problem to the tuner and return its index. AT_DECK_NONE: none waits for it.
 *
 * A single tuner gets the problems in the order of the list. Several get those first that
 * probably take longest. A tuner prefers problems of as many bytes as it has had, because it knows
 * the best copies of that size; then sizes that no other tuner has had. */
size_t at_deck_deal(struct at_deck *deck, size_t tuner);

/* The problem is tuned, or found to have no correct config. */
void at_deck_finish(struct at_deck *deck, size_t problem);

/* Return a problem that is dealt to the tuner and not finished. AT_DECK_NONE: there is none. */
size_t at_deck_in_hand(const struct at_deck *deck, size_t tuner);

/* The tuner of this problem has failed: the problem waits again. Returns false if that happened to
 * it too often; then it counts as finished. */
bool at_deck_return(struct at_deck *deck, size_t problem);

/* Does a problem wait for the tuner, and how many are not finished? */
bool at_deck_waits(const struct at_deck *deck, size_t tuner);

size_t at_deck_open(const struct at_deck *deck);

#endif
