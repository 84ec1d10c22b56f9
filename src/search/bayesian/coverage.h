/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: the configs to measure before predictions are trusted. If a value of a parameter was
 * measured in one config only, its good combinations are unknown. If few configs of a family were
 * measured, its best time is unknown. */
#ifndef AT_SEARCH_BAYESIAN_COVERAGE_H
#define AT_SEARCH_BAYESIAN_COVERAGE_H

#include "search/landscape.h"

/* How many configs to measure whatever is predicted of them. */
struct at_coverage_goal {
    size_t family; /* of a family that may still reach the best */
    size_t value;  /* with each value of a parameter, in a family close to the best */
};

/* Mark in wanted, by config, the configs to measure that were not requested yet. False: there are
 * none. */
bool at_coverage_mark(const struct at_landscape *land, struct at_coverage_goal goal, bool *wanted);

/* Turns of values: which value of which family is covered next. Families take turns by their
 * sizes. The order of a family's values is random: the values of which least is expected, which
 * tell most, do not come last. It is fixed, so that what is needed next can be compiled ahead. */
struct at_value_turns {
    size_t *taken; /* by region; owned */
    uint64_t seed; /* of the order */
};

void at_value_turns_init(struct at_value_turns *turns, const struct at_landscape *land,
                         uint64_t seed);
void at_value_turns_clear(struct at_value_turns *turns);

/* Mark in wanted, by config, the configs with the value that fewer than `goal` configs have, in a
 * family near the best, whose turn it is after `ahead` others. Returns the region; SIZE_MAX: there
 * is none. The caller counts the turn in `taken`. */
size_t at_value_turns_mark(const struct at_value_turns *turns, const struct at_landscape *land,
                           size_t goal, size_t ahead, bool *wanted);

#endif
