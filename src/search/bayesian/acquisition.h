/* SPDX-License-Identifier: Apache-2.0 */
/* The guided search's acquisition function: the expected improvement of configs that are not
 * measured. Each family has its own Gaussian process, because configs of
 * different families say little of each other. */
#ifndef AT_SEARCH_BAYESIAN_ACQUISITION_H
#define AT_SEARCH_BAYESIAN_ACQUISITION_H

#include "search/landscape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_acquisition;

struct at_acquisition *at_acquisition_create(const struct at_landscape *land, uint64_t seed);

void at_acquisition_free(struct at_acquisition *acquisition);

/* Make a config a candidate, if it is not. Some candidates are drawn from the space at first. */
void at_acquisition_consider(struct at_acquisition *acquisition, size_t index);

/* Add a config that is in flight or told. False: the Gaussian process is full. */
bool at_acquisition_add(struct at_acquisition *acquisition, size_t index);

/* Update the predictions with the results of the landscape. The steeper the scale of values, the
 * more they tell apart times near the best, and the less all others. */
void at_acquisition_update(struct at_acquisition *acquisition, double steepness);

/* Return the time in ns that the last update predicts for a config that was added. 0: there was no
 * update, or the prediction is beyond the end of the scale of values. It is the median of the
 * prediction, not its mean, because the scale is not linear. */
double at_acquisition_expect(const struct at_acquisition *acquisition, size_t index);

/* The predicted slowness of a config (acquisition.c), against the best time at that moment. */
struct at_prediction {
    double mean, deviation; /* deviation is 0: nothing is predicted */
    double best_ns, steepness;
};

/* Predict a candidate that is not added yet; nothing before the first update. */
struct at_prediction at_acquisition_predict(const struct at_acquisition *acquisition, size_t index);

/* Return the error of a prediction in its standard deviations, positive if the config is slower.
 * The time of a config that is not correct is INFINITY. */
double at_prediction_error(const struct at_prediction *prediction, double time_ns);

/* Return how many configs that were not requested yet are expected to be faster than the best by
 * this share of its time. The standard deviations are multiplied by doubt. */
double at_acquisition_hopes(const struct at_acquisition *acquisition, double gain, double doubt);

/* A candidate and its expected improvement on the best, as a share of the time; being worse counts
 * as 0. */
struct at_improvement {
    size_t index;
    double gain;
};

/* List the candidates with the greatest expected improvement, greatest first, at most `most`,
 * without requested configs. wanted (by config; NULL: all) restricts the choice. Returns how
 * many. */
size_t at_acquisition_best(const struct at_acquisition *acquisition, const bool *wanted,
                           struct at_improvement *improvements, size_t most);

#endif
