/* SPDX-License-Identifier: Apache-2.0 */
/* The random part of the guided search's initial design, and the random configs with which it gets
 * to know a family. */
#ifndef AT_SEARCH_BAYESIAN_DESIGN_H
#define AT_SEARCH_BAYESIAN_DESIGN_H

#include "search/landscape.h"

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
bool at_design_has_random(const struct at_design *design);

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
