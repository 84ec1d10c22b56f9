/* SPDX-License-Identifier: Apache-2.0 */
#include "search/model.h"

#include "base/memory.h"
#include "search/likeness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates at first. Of a larger space the rest comes in as neighbours of what is good. */
enum { CANDIDATES = 16384 };

/* The lengths are fitted when so many results are in, and whenever they have doubled, to so many
 * points at most: that takes cubic time. */
enum { FIRST_FIT = 10, FIT_POINTS = 96 };

/* Slower than the best by more than this factor is just slow. */
static const double slow = 6;

struct at_model {
    const struct at_landscape *land;
    struct at_rng rng;
    struct at_likeness likeness;

    size_t *points; /* configs */
    size_t point_count;
    double *lower;    /* Cholesky factor of the points' covariance, a row a point */
    double *residual; /* lower^-1 times what was measured, centred and scaled */
    double center, scale;
    size_t next_fit;

    size_t *candidates;
    size_t *place; /* by config: of its candidate, + 1; 0: none */
    size_t candidate_count, candidate_capacity;
    float *solved;    /* by candidate: lower^-1 times its covariance with the points */
    double *variance; /* by candidate: what remains of it */
    double *mean;     /* by candidate: expected, centred and scaled */
};

static double *lower_row(const struct at_model *model, size_t row)
{
    return &model->lower[row * AT_MODEL_POINTS_MAX];
}

static float *solved_row(const struct at_model *model, size_t candidate)
{
    return &model->solved[candidate * AT_MODEL_POINTS_MAX];
}

static double dot(const float *a, const float *b, size_t count)
{
    float sum[4] = {0}; /* four at a time, which the compiler turns into vectors */
    size_t i = 0;

    for (; i + 4 <= count; i += 4)
        for (size_t j = 0; j < 4; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (double)(sum[0] + sum[1]) + (double)(sum[2] + sum[3]);
}

/* ---- candidates ---- */

/* A candidate's row from the beginning, by forward substitution. */
static void solve_candidate(struct at_model *model, size_t candidate)
{
    float *solved = solved_row(model, candidate);
    double variance = 1;

    for (size_t i = 0; i < model->point_count; i++) {
        const double *lower = lower_row(model, i);
        double sum = at_likeness(&model->likeness, model->candidates[candidate], model->points[i]);

        for (size_t j = 0; j < i; j++)
            sum -= lower[j] * (double)solved[j];
        solved[i] = (float)(sum / lower[i]);
        variance -= (double)solved[i] * (double)solved[i];
    }
    model->variance[candidate] = variance;
}

static void make_room(struct at_model *model)
{
    size_t capacity = model->candidate_capacity ? 2 * model->candidate_capacity : 1024;
    size_t most = model->land->space->count, count = model->candidate_count;
    struct at_model old = *model;

    capacity = capacity < most ? capacity : most;
    model->candidates = at_alloc_array(capacity, sizeof *model->candidates);
    model->solved = at_alloc_array(capacity, AT_MODEL_POINTS_MAX * sizeof *model->solved);
    model->variance = at_alloc_array(capacity, sizeof *model->variance);
    model->mean = at_alloc_array(capacity, sizeof *model->mean);
    model->candidate_capacity = capacity;
    if (count > 0) {
        memcpy(model->candidates, old.candidates, count * sizeof *model->candidates);
        memcpy(model->solved, old.solved, count * AT_MODEL_POINTS_MAX * sizeof *model->solved);
        memcpy(model->variance, old.variance, count * sizeof *model->variance);
        memcpy(model->mean, old.mean, count * sizeof *model->mean);
    }
    free(old.candidates);
    free(old.solved);
    free(old.variance);
    free(old.mean);
}

void at_model_consider(struct at_model *model, size_t index)
{
    size_t candidate = model->candidate_count;

    if (model->place[index])
        return;
    if (candidate == model->candidate_capacity)
        make_room(model);
    model->candidate_count++;
    model->candidates[candidate] = index;
    model->place[index] = candidate + 1;
    solve_candidate(model, candidate);
    model->mean[candidate] = 0;
}

struct at_model *at_model_create(const struct at_landscape *land, uint64_t seed)
{
    struct at_model *model = at_alloc(sizeof *model);
    size_t count = land->space->count;

    *model = (struct at_model){.land = land, .rng = {seed}, .scale = 1, .next_fit = FIRST_FIT};
    at_likeness_init(&model->likeness, land);
    model->points = at_alloc_array(AT_MODEL_POINTS_MAX, sizeof *model->points);
    model->residual = at_alloc_array(AT_MODEL_POINTS_MAX, sizeof *model->residual);
    model->lower = at_alloc_array(AT_MODEL_POINTS_MAX, AT_MODEL_POINTS_MAX * sizeof *model->lower);
    model->place = at_alloc_array(count, sizeof *model->place);
    for (size_t i = 0; i < count && count <= CANDIDATES; i++)
        at_model_consider(model, i);
    while (count > CANDIDATES && model->candidate_count < CANDIDATES)
        at_model_consider(model, at_rng_below(&model->rng, count));
    return model;
}

void at_model_free(struct at_model *model)
{
    if (!model)
        return;
    at_likeness_clear(&model->likeness);
    free(model->points);
    free(model->residual);
    free(model->lower);
    free(model->place);
    free(model->candidates);
    free(model->solved);
    free(model->variance);
    free(model->mean);
    free(model);
}

/* ---- points ---- */

/* The point is a candidate: its row is the new row of the factor, and each candidate's row gets one
 * more element. */
static void append(struct at_model *model, size_t index)
{
    size_t count = model->point_count;
    const float *own = solved_row(model, model->place[index] - 1);
    double rest = fmax(model->variance[model->place[index] - 1], 0) + model->likeness.noise;
    double *lower = lower_row(model, count);

    for (size_t i = 0; i < count; i++)
        lower[i] = (double)own[i];
    lower[count] = sqrt(rest);
    model->points[count] = index;
    for (size_t i = 0; i < model->candidate_count; i++) {
        float *solved = solved_row(model, i);
        double with_point = at_likeness(&model->likeness, model->candidates[i], index);
        double value = (with_point - dot(solved, own, count)) / lower[count];

        solved[count] = (float)value;
        model->variance[i] -= value * value;
    }
    model->point_count++;
}

bool at_model_add(struct at_model *model, size_t index)
{
    if (model->point_count == AT_MODEL_POINTS_MAX)
        return false;
    at_model_consider(model, index);
    append(model, index);
    return true;
}

/* ---- belief ---- */

/* What is modelled: the logarithm of the time over the best, no larger than that of `slow`. */
static double logarithm(const struct at_landscape *land, size_t index)
{
    double time_ns = land->time_ns[index], best_ns = land->time_ns[land->best];

    return time_ns < slow * best_ns ? log(time_ns / best_ns) : log(slow);
}

static void center_and_scale(struct at_model *model)
{
    const struct at_landscape *land = model->land;
    double sum = 0, squares = 0, count = 0;

    for (size_t i = 0; i < model->point_count; i++) {
        if (!land->told[model->points[i]])
            continue;
        sum += logarithm(land, model->points[i]);
        count++;
    }
    model->center = count > 0 ? sum / count : 0;
    for (size_t i = 0; i < model->point_count; i++) {
        double off;

        if (!land->told[model->points[i]])
            continue;
        off = logarithm(land, model->points[i]) - model->center;
        squares += off * off;
    }
    model->scale = squares > 0 ? sqrt(squares / count) : 1;
}

static double measured(const struct at_model *model, size_t index)
{
    return (logarithm(model->land, index) - model->center) / model->scale;
}

/* Fits the likeness anew and starts the factor again. */
static void fit(struct at_model *model)
{
    size_t told[AT_MODEL_POINTS_MAX] = {0}, count = 0;
    double values[AT_MODEL_POINTS_MAX] = {0};
    size_t points = model->point_count;

    for (size_t i = 0; i < points; i++)
        if (model->land->told[model->points[i]])
            told[count++] = model->points[i];
    if (count < model->next_fit)
        return;
    model->next_fit = 2 * count;
    /* The newest are the best, and the oldest the most widely spread: some of both. */
    if (count > FIT_POINTS) {
        memmove(&told[FIT_POINTS / 2], &told[count - FIT_POINTS / 2],
                FIT_POINTS / 2 * sizeof *told);
        count = FIT_POINTS;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = measured(model, told[i]);
    at_likeness_fit(&model->likeness, told, values, count);
    model->point_count = 0;
    for (size_t i = 0; i < model->candidate_count; i++)
        model->variance[i] = 1;
    for (size_t i = 0; i < points; i++)
        append(model, model->points[i]);
}

void at_model_update(struct at_model *model)
{
    const struct at_landscape *land = model->land;
    float residual[AT_MODEL_POINTS_MAX];

    if (land->best == SIZE_MAX)
        return;
    center_and_scale(model);
    fit(model);
    for (size_t i = 0; i < model->point_count; i++) {
        const double *lower = lower_row(model, i);
        double sum = 0;

        for (size_t j = 0; j < i; j++)
            sum += lower[j] * model->residual[j];
        /* Of one on its way just what was expected comes: no residual. */
        model->residual[i] =
            land->told[model->points[i]] ? (measured(model, model->points[i]) - sum) / lower[i] : 0;
        residual[i] = (float)model->residual[i];
    }
    for (size_t i = 0; i < model->candidate_count; i++)
        model->mean[i] = dot(solved_row(model, i), residual, model->point_count);
}

/* The expectation of the part of a normal variable that lies below 0 (Jones, Schonlau and Welch,
 * Journal of Global Optimization 13, 1998: expected improvement). */
static double expected_below(double mean, double deviation)
{
    double u = -mean / deviation;

    return -mean * 0.5 * erfc(-u / sqrt(2)) + deviation * exp(-u * u / 2) / sqrt(2 * M_PI);
}

size_t at_model_most_promising(const struct at_model *model, double *gain)
{
    const struct at_landscape *land = model->land;
    size_t best = SIZE_MAX;
    /* The best time's logarithm is 0. */
    double best_value = -model->center / model->scale, most = -1;

    for (size_t i = 0; i < model->candidate_count; i++) {
        double gained;

        if (land->asked[model->candidates[i]])
            continue;
        gained = expected_below(model->mean[i] - best_value, sqrt(fmax(model->variance[i], 1e-9)));
        if (gained > most) {
            most = gained;
            best = model->candidates[i];
        }
    }
    *gain = most * model->scale;
    return best;
}
