/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/gaussian_process.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The covariance is fitted first after this many results, then each time the results have
 * grown by half. At most FIT_POINTS are used, because fitting takes cubic time. */
enum { FIRST_FIT = 8, FIT_POINTS = 80 };

/* The amplitude is that of the results together with this many of amplitude 1. */
static const double amplitude_doubt = 4;

static double *lower_row(const struct at_gp *gp, size_t row)
{
    return &gp->lower[row * AT_GP_POINTS_MAX];
}

static float *solved_row(const struct at_gp *gp, size_t candidate)
{
    return &gp->solved[candidate * AT_GP_POINTS_MAX];
}

static double dot(const float *a, const float *b, size_t count)
{
    float sum[8] = {0}; /* eight at a time, which the compiler vectorises */
    size_t i = 0;

    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (double)(sum[0] + sum[1] + sum[2] + sum[3]) +
           (double)(sum[4] + sum[5] + sum[6] + sum[7]);
}

void at_gp_init(struct at_gp *gp, const struct at_landscape *land, size_t region)
{
    enum { MOST = AT_GP_POINTS_MAX };

    *gp = (struct at_gp){.land = land, .amplitude = 1, .next_fit = FIRST_FIT};
    at_covariance_init(&gp->covariance, land, region);
    gp->points = at_alloc_array(MOST, sizeof *gp->points);
    gp->residual = at_alloc_array(MOST, sizeof *gp->residual);
    gp->lower = at_alloc_array(MOST, MOST * sizeof *gp->lower);
}

void at_gp_clear(struct at_gp *gp)
{
    at_covariance_clear(&gp->covariance);
    free(gp->points);
    free(gp->residual);
    free(gp->lower);
    free(gp->candidates);
    free(gp->solved);
    free(gp->variance);
    free(gp->mean);
}

/* ---- candidates ---- */

/* Compute a candidate's row from the beginning, by forward substitution. */
static void solve_candidate(struct at_gp *gp, size_t candidate)
{
    float *solved = solved_row(gp, candidate);
    double variance = 1;

    for (size_t i = 0; i < gp->point_count; i++) {
        const double *lower = lower_row(gp, i);
        double sum = at_covariance(&gp->covariance, gp->candidates[candidate], gp->points[i]);

        for (size_t j = 0; j < i; j++)
            sum -= lower[j] * (double)solved[j];
        solved[i] = (float)(sum / lower[i]);
        variance -= (double)solved[i] * (double)solved[i];
    }
    gp->variance[candidate] = variance;
}

static void make_room(struct at_gp *gp)
{
    size_t capacity = gp->candidate_capacity ? 2 * gp->candidate_capacity : 256;
    size_t count = gp->candidate_count;
    struct at_gp old = *gp;

    gp->candidates = at_alloc_array(capacity, sizeof *gp->candidates);
    gp->solved = at_alloc_array(capacity, AT_GP_POINTS_MAX * sizeof *gp->solved);
    gp->variance = at_alloc_array(capacity, sizeof *gp->variance);
    gp->mean = at_alloc_array(capacity, sizeof *gp->mean);
    gp->candidate_capacity = capacity;
    if (count > 0) {
        memcpy(gp->candidates, old.candidates, count * sizeof *gp->candidates);
        memcpy(gp->solved, old.solved, count * AT_GP_POINTS_MAX * sizeof *gp->solved);
        memcpy(gp->variance, old.variance, count * sizeof *gp->variance);
        memcpy(gp->mean, old.mean, count * sizeof *gp->mean);
    }
    free(old.candidates);
    free(old.solved);
    free(old.variance);
    free(old.mean);
}

size_t at_gp_consider(struct at_gp *gp, size_t index)
{
    size_t candidate = gp->candidate_count;

    if (candidate == gp->candidate_capacity)
        make_room(gp);
    gp->candidate_count++;
    gp->candidates[candidate] = index;
    solve_candidate(gp, candidate);
    gp->mean[candidate] = 0;
    return candidate;
}

/* ---- points ---- */

/* Append a point. The candidate's row becomes the new row of the factor, and each candidate's row
 * gets one more element. */
static void append(struct at_gp *gp, size_t candidate)
{
    size_t count = gp->point_count, index = gp->candidates[candidate];
    const float *own = solved_row(gp, candidate);
    double rest = fmax(gp->variance[candidate], 0) + gp->covariance.noise;
    double *lower = lower_row(gp, count);

    for (size_t i = 0; i < count; i++)
        lower[i] = (double)own[i];
    lower[count] = sqrt(rest);
    gp->points[count] = index;
    for (size_t i = 0; i < gp->candidate_count; i++) {
        float *solved = solved_row(gp, i);
        double with_point = at_covariance(&gp->covariance, gp->candidates[i], index);
        double value = (with_point - dot(solved, own, count)) / lower[count];

        solved[count] = (float)value;
        gp->variance[i] -= value * value;
    }
    gp->point_count++;
}

bool at_gp_add(struct at_gp *gp, size_t candidate)
{
    if (gp->point_count == AT_GP_POINTS_MAX)
        return false;
    append(gp, candidate);
    return true;
}

/* ---- predictions ---- */

static size_t find_candidate(const struct at_gp *gp, size_t index)
{
    size_t candidate = 0;

    while (gp->candidates[candidate] != index)
        candidate++;
    return candidate;
}

/* Fit the covariance again and rebuild the factor. */
static void fit(struct at_gp *gp, const double *values)
{
    size_t told[AT_GP_POINTS_MAX] = {0}, count = 0, points = gp->point_count;

    for (size_t i = 0; i < points; i++)
        if (gp->land->told[gp->points[i]])
            told[count++] = gp->points[i];
    if (count < gp->next_fit)
        return;
    gp->next_fit = count + count / 2;
    /* The newest points are the best ones, the oldest the most widely spread: use some of both. */
    if (count > FIT_POINTS) {
        memmove(&told[FIT_POINTS / 2], &told[count - FIT_POINTS / 2],
                FIT_POINTS / 2 * sizeof *told);
        count = FIT_POINTS;
    }
    at_covariance_fit(&gp->covariance, told, values, count);
    gp->point_count = 0;
    for (size_t i = 0; i < gp->candidate_count; i++)
        gp->variance[i] = 1;
    for (size_t i = 0; i < points; i++)
        append(gp, find_candidate(gp, gp->points[i]));
}

void at_gp_update(struct at_gp *gp, const double *values)
{
    float residual[AT_GP_POINTS_MAX] = {0};
    double squares = 0, told = 0;

    fit(gp, values);
    for (size_t i = 0; i < gp->point_count; i++) {
        const double *lower = lower_row(gp, i);
        double sum = 0;

        gp->residual[i] = 0; /* a config in flight is assumed to take the predicted value */
        if (gp->land->told[gp->points[i]]) {
            for (size_t j = 0; j < i; j++)
                sum += lower[j] * gp->residual[j];
            gp->residual[i] = (values[gp->points[i]] - sum) / lower[i];
            told++;
        }
        residual[i] = (float)gp->residual[i];
        squares += gp->residual[i] * gp->residual[i];
    }
    gp->amplitude = (amplitude_doubt + squares) / (amplitude_doubt + told);
    for (size_t i = 0; i < gp->candidate_count; i++)
        gp->mean[i] = dot(solved_row(gp, i), residual, gp->point_count);
}

double at_gp_predict(const struct at_gp *gp, size_t candidate)
{
    const float *solved = solved_row(gp, candidate);
    double mean = 0;

    for (size_t i = 0; i < gp->point_count; i++)
        mean += (double)solved[i] * gp->residual[i];
    return mean;
}
