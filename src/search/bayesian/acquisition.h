/* SPDX-License-Identifier: Apache-2.0 */
/* What the guided search believes of the configs that it has not seen: a Gaussian process a family
 * (process.h), as configs of different families tell little of each other. */
#ifndef AT_SEARCH_BAYESIAN_ACQUISITION_H
#define AT_SEARCH_BAYESIAN_ACQUISITION_H

#include "search/landscape.h"

struct at_model;

struct at_model *at_model_create(const struct at_landscape *land, uint64_t seed);
void at_model_free(struct at_model *model);

/* Makes a config a candidate, if it is none yet. At first so many drawn from the space are. */
void at_model_consider(struct at_model *model, size_t index);

/* A config that is on its way, or has been told of. False if the model is full. */
bool at_model_add(struct at_model *model, size_t index);

/* Brings the belief up to date with what the landscape has been told. */
void at_model_update(struct at_model *model);

/* A candidate, and by how much of its time it is expected to improve on the best, chances of being
 * worse counted as none. */
struct at_promise {
    size_t index;
    double gain;
};

/* Of the candidates that are not asked for yet those of which the greatest gains are expected, the
 * greatest first, and at most so many; returns how many. wanted, by config, leaves others out;
 * NULL: none. */
size_t at_model_promising(const struct at_model *model, const bool *wanted,
                          struct at_promise *promises, size_t most);

#endif
