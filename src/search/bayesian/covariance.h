/* SPDX-License-Identifier: Apache-2.0 */
/* The covariance of two configs' values in the guided search's Gaussian process, with variance
 * 1. */
#ifndef AT_SEARCH_BAYESIAN_COVARIANCE_H
#define AT_SEARCH_BAYESIAN_COVARIANCE_H

#include "search/landscape.h"

struct at_covariance {
    const struct at_landscape *land;
    size_t region; /* the family of all configs */
    double family; /* share that all configs of the family have in common */
    double alone;  /* share of the rest that adds over parameters; the others act jointly */
    double noise;  /* variance of a measurement */
    double rates[AT_PARAMS_MAX]; /* by parameter: how fast the covariance falls with distance */
    bool ordered[AT_PARAMS_MAX]; /* by parameter: close values are alike */
    float *tables;               /* by parameter and two levels: minus rate times distance; owned */
};

void at_covariance_init(struct at_covariance *covariance, const struct at_landscape *land,
                        size_t region);
void at_covariance_clear(struct at_covariance *covariance);

double at_covariance(const struct at_covariance *covariance, size_t a, size_t b);

/* Choose shares, rates and noise that maximise the likelihood of these configs' values (by
 * config). */
void at_covariance_fit(struct at_covariance *covariance, const size_t *configs,
                       const double *values, size_t count);

#endif
