/* SPDX-License-Identifier: Apache-2.0 */
/* What the guided search believes of the configs that it has not seen: a Gaussian process
 * (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006) over the logarithm of
 * their times.
 *
 * Two configs are expected to be alike as far as their parameters' values are: the covariance is
 * the weighted sum of a part to which each parameter adds by itself and a part in which all must
 * agree, and each parameter has a length of its own, so that those that turn out not to matter do
 * not. Weights and lengths are those under which what was measured is likeliest. Configs of
 * different families tell nothing of each other.
 *
 * What is believed depends on times, but how surely only on where was measured. So a config counts
 * as soon as it is on its way, with the time that is expected of it, and no two of a batch go for
 * the same. Taking one in costs time in proportion to candidates times points. */
#ifndef AT_SEARCH_MODEL_H
#define AT_SEARCH_MODEL_H

#include "search/landscape.h"

struct at_model;

/* So many points at most; then the model takes no more. */
enum { AT_MODEL_POINTS_MAX = 512 };

struct at_model *at_model_create(const struct at_landscape *land, uint64_t seed);
void at_model_free(struct at_model *model);

/* Makes a config a candidate, if it is none yet. At first so many drawn from the space are. */
void at_model_consider(struct at_model *model, size_t index);

/* A config that is on its way, or has been told of. False if the model is full. */
bool at_model_add(struct at_model *model, size_t index);

/* Brings the belief up to date with what the landscape has been told. */
void at_model_update(struct at_model *model);

/* The candidate, not asked for yet, of which the greatest gain is expected: *gain is by how much of
 * its time it is expected to improve on the best, chances of being worse counted as none. SIZE_MAX:
 * there is no candidate left. */
size_t at_model_most_promising(const struct at_model *model, double *gain);

#endif
