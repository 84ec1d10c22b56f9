/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: the configs to measure before predictions are trusted. If a value of a parameter was
 * measured in one config only, its good combinations are unknown. If few configs of a family were
 * measured, its best time is unknown. */
#ifndef AT_SEARCH_BAYESIAN_COVERAGE_H
#define AT_SEARCH_BAYESIAN_COVERAGE_H

#include "search/landscape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct at_design {
    bool warm_start;      /* winners of other problems are known */
    size_t wanted, taken; /* random configs of the initial design */
    int draws;            /* the config with the rarest values is taken */
};

/* Without a warm start, so many as the numbers say, of large families above all. An earlier winner
 * only needs confirming: then the design has no random configs. */
void at_design_init(struct at_design *design, const struct at_numbers *numbers, size_t families,
                    bool warm_start, bool confirms);

/* Return how many configs of a family are random before predictions choose in it. */
size_t at_design_first(const struct at_numbers *numbers, size_t families);

/* Is a random config of the initial design left? */
static inline bool at_design_has_random(const struct at_design *design)
{
    return design->taken < design->wanted;
}

/* Take a random config: with a warm start of each family in turn, so that no family is judged by
 * one config; else of large families above all. False: none is left. */
bool at_design_take_random(struct at_design *design, struct at_landscape *land, struct at_rng *rng,
                           size_t *index);

/* Without a warm start, take a random config of this one's family in its place if fewer than
 * `first` of the family were taken: of several draws the one whose values were taken least, since
 * a value that few configs have is seldom drawn. */
bool at_design_take_instead(const struct at_design *design, struct at_landscape *land,
                            struct at_rng *rng, size_t first, size_t *index);

#endif
