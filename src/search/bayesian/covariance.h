/* SPDX-License-Identifier: Apache-2.0 */
/* How alike the times of two configs are expected to be: the covariance of the guided search's
 * acquisition, of variance 1. */
#ifndef AT_SEARCH_BAYESIAN_COVARIANCE_H
#define AT_SEARCH_BAYESIAN_COVARIANCE_H

#include "search/landscape.h"

struct at_covariance {
    const struct at_landscape *land;
    size_t region; /* the family, to which all configs belong */
    double family; /* the share that all configs of the family have in common */
    double
        alone; /* of the rest, what parameters have by themselves; the others are of all together */
    double noise;                /* variance of a measurement */
    double rates[AT_PARAMS_MAX]; /* by parameter: how fast covariance falls with distance */
    float *tables;               /* by parameter and two levels: minus rate times distance; owned */
};

void at_covariance_init(struct at_covariance *covariance, const struct at_landscape *land,
                        size_t region);
void at_covariance_clear(struct at_covariance *covariance);

double at_covariance(const struct at_covariance *covariance, size_t a, size_t b);

/* Sets shares and rates to those under which the values (by config) of these configs are likeliest.
 */
void at_covariance_fit(struct at_covariance *covariance, const size_t *configs,
                       const double *values, size_t count);

#endif
