/* SPDX-License-Identifier: Apache-2.0 */
/* What the guided search believes of the configs that it has not seen: a Gaussian process a family
 * (gaussian_process.h), as configs of different families tell little of each other. */
#ifndef AT_SEARCH_BAYESIAN_ACQUISITION_H
#define AT_SEARCH_BAYESIAN_ACQUISITION_H

#include "search/landscape.h"

struct at_acquisition;

struct at_acquisition *at_acquisition_create(const struct at_landscape *land, uint64_t seed);
void at_acquisition_free(struct at_acquisition *acquisition);

/* Makes a config a candidate, if it is none yet. At first so many drawn from the space are. */
void at_acquisition_consider(struct at_acquisition *acquisition, size_t index);

/* A config that is on its way, or has been told of. False if the model is full. */
bool at_acquisition_add(struct at_acquisition *acquisition, size_t index);

/* Brings the belief up to date with what the landscape has been told. */
void at_acquisition_update(struct at_acquisition *acquisition);

/* A candidate, and by how much of its time it is expected to improve on the best, chances of being
 * worse counted as none. */
struct at_improvement {
    size_t index;
    double gain;
};

/* Of the candidates that are not asked for yet those of which the greatest gains are expected, the
 * greatest first, and at most so many; returns how many. wanted, by config, leaves others out;
 * NULL: none. */
size_t at_acquisition_best(const struct at_acquisition *acquisition, const bool *wanted,
                           struct at_improvement *improvements, size_t most);

#endif
