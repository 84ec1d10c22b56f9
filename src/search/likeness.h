/* SPDX-License-Identifier: Apache-2.0 */
/* How alike the times of two configs are expected to be: the covariance of the guided search's
 * model, of variance 1. */
#ifndef AT_SEARCH_LIKENESS_H
#define AT_SEARCH_LIKENESS_H

#include "search/landscape.h"

struct at_likeness {
    const struct at_landscape *land;
    double family; /* the share that all configs of a family have in common */
    double
        alone; /* of the rest, what parameters have by themselves; the others are of all together */
    double noise;  /* variance of a measurement */
    double *rates; /* by region and parameter: how fast likeness falls with distance; owned */
    float *tables; /* by region, parameter and two levels: minus rate times distance; owned */
};

void at_likeness_init(struct at_likeness *likeness, const struct at_landscape *land);
void at_likeness_clear(struct at_likeness *likeness);

double at_likeness(const struct at_likeness *likeness, size_t a, size_t b);

/* Sets shares and rates to those under which these values of these configs are likeliest. */
void at_likeness_fit(struct at_likeness *likeness, const size_t *configs, const double *values,
                     size_t count);

#endif
