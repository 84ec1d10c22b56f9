/* SPDX-License-Identifier: Apache-2.0 */
/* A Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006) over
 * the configs of one family: predicts values of unmeasured configs and their uncertainty.
 *
 * Two configs are as alike as their parameters' values. The predicted value depends
 * on the measured values, but its uncertainty only on which configs are measured. So a config in
 * flight counts as a point with its predicted value, and configs of a batch differ. Adding one
 * takes time proportional to candidates times points. */
#ifndef AT_SEARCH_BAYESIAN_GAUSSIAN_PROCESS_H
#define AT_SEARCH_BAYESIAN_GAUSSIAN_PROCESS_H

#include "search/landscape.h"

#include <stdbool.h>
#include <stddef.h>

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

double at_covariance(const struct at_covariance *covariance, size_t a, size_t b);

struct at_gp {
    const struct at_landscape *land;
    struct at_covariance covariance;

    size_t *points; /* configs that are measured or in flight */
    size_t point_count;
    double *lower;    /* Cholesky factor of the points' covariance, one row per point */
    double *residual; /* lower^-1 times the measured values; 0 for points added since */
    double amplitude; /* variance of the values, if the covariance's is 1 */
    size_t next_fit;  /* results at which the covariance is fitted again */

    size_t *candidates;
    size_t candidate_count, candidate_capacity;
    float *solved;    /* by candidate: lower^-1 times its covariance with the points */
    double *variance; /* by candidate: remaining variance, of 1 */
    double *mean;     /* by candidate: predicted value */
};

void at_gp_init(struct at_gp *gp, const struct at_landscape *land, size_t region);

void at_gp_clear(struct at_gp *gp);

/* Make a config, which is no candidate yet, a candidate; returns its index. */
size_t at_gp_consider(struct at_gp *gp, size_t index);

/* Make a candidate a point. False: there is no room. */
bool at_gp_add(struct at_gp *gp, size_t candidate);

/* Update the predictions with the measured values, by config. The prior has mean 0 and variance
 * 1. */
void at_gp_update(struct at_gp *gp, const double *values);

/* Return a candidate's predicted value after the last update, even if it became a candidate
 * since. */
double at_gp_predict(const struct at_gp *gp, size_t candidate);

#endif
