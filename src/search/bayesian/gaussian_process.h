/* SPDX-License-Identifier: Apache-2.0 */
/* A Gaussian process (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006) over
 * the configs of one family: what is expected of those that were not measured, and how surely.
 *
 * Two configs are expected to be alike as far as their parameters' values are (covariance.h). What
 * is expected depends on what was measured, but how surely only on where. So a config counts as
 * soon as it is on its way, with the value that is expected of it, and no two of a batch go for the
 * same. Taking one in costs time in proportion to candidates times points. */
#ifndef AT_SEARCH_BAYESIAN_GAUSSIAN_PROCESS_H
#define AT_SEARCH_BAYESIAN_GAUSSIAN_PROCESS_H

#include "search/bayesian/covariance.h"

struct at_gp {
    const struct at_landscape *land;
    struct at_covariance covariance;

    size_t *points; /* configs that are measured or on their way */
    size_t point_count;
    double *lower;    /* Cholesky factor of the points' covariance, a row a point */
    double *residual; /* lower^-1 times what was measured */
    double amplitude; /* variance of the values, where the covariance's is 1 */
    size_t next_fit;

    size_t *candidates;
    size_t candidate_count, candidate_capacity;
    float *solved;    /* by candidate: lower^-1 times its covariance with the points */
    double *variance; /* by candidate: what remains of it, of 1 */
    double *mean;     /* by candidate: expected */
};

/* So many points at most. */
enum { AT_GP_POINTS_MAX = 384 };

void at_gp_init(struct at_gp *gp, const struct at_landscape *land, size_t region);
void at_gp_clear(struct at_gp *gp);

/* Makes a config a candidate, one that is none yet; returns its place. */
size_t at_gp_consider(struct at_gp *gp, size_t index);

/* Makes a candidate a point. False if there is no room. */
bool at_gp_add(struct at_gp *gp, size_t candidate);

/* Brings the expectations up to date with the measured values, by config; 0 is what is expected of
 * a family that nothing is known of, and 1 is by how much it may be off. */
void at_gp_update(struct at_gp *gp, const double *values);

#endif
