/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/gaussian_process.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The likeness is fitted when so many results are in, and whenever there are half as many more, to
 * so many points at most: that takes cubic time. */
enum { FIRST_FIT = 8, FIT_POINTS = 80 };

/* The amplitude is that of the results, as if so many more had shown it to be 1. */
static const double amplitude_doubt = 4;

static double *lower_row(const struct at_process *process, size_t row)
{
    return &process->lower[row * AT_PROCESS_POINTS_MAX];
}

static float *solved_row(const struct at_process *process, size_t candidate)
{
    return &process->solved[candidate * AT_PROCESS_POINTS_MAX];
}

static double dot(const float *a, const float *b, size_t count)
{
    float sum[8] = {0}; /* eight at a time, which the compiler turns into vectors */
    size_t i = 0;

    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += a[i + j] * b[i + j];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (double)(sum[0] + sum[1] + sum[2] + sum[3]) +
           (double)(sum[4] + sum[5] + sum[6] + sum[7]);
}

void at_process_init(struct at_process *process, const struct at_landscape *land, size_t region)
{
    enum { MOST = AT_PROCESS_POINTS_MAX };

    *process = (struct at_process){.land = land, .amplitude = 1, .next_fit = FIRST_FIT};
    at_likeness_init(&process->likeness, land, region);
    process->points = at_alloc_array(MOST, sizeof *process->points);
    process->residual = at_alloc_array(MOST, sizeof *process->residual);
    process->lower = at_alloc_array(MOST, MOST * sizeof *process->lower);
}

void at_process_clear(struct at_process *process)
{
    at_likeness_clear(&process->likeness);
    free(process->points);
    free(process->residual);
    free(process->lower);
    free(process->candidates);
    free(process->solved);
    free(process->variance);
    free(process->mean);
}

/* ---- candidates ---- */

/* A candidate's row from the beginning, by forward substitution. */
static void solve_candidate(struct at_process *process, size_t candidate)
{
    float *solved = solved_row(process, candidate);
    double variance = 1;

    for (size_t i = 0; i < process->point_count; i++) {
        const double *lower = lower_row(process, i);
        double sum =
            at_likeness(&process->likeness, process->candidates[candidate], process->points[i]);

        for (size_t j = 0; j < i; j++)
            sum -= lower[j] * (double)solved[j];
        solved[i] = (float)(sum / lower[i]);
        variance -= (double)solved[i] * (double)solved[i];
    }
    process->variance[candidate] = variance;
}

static void make_room(struct at_process *process)
{
    size_t capacity = process->candidate_capacity ? 2 * process->candidate_capacity : 256;
    size_t count = process->candidate_count;
    struct at_process old = *process;

    process->candidates = at_alloc_array(capacity, sizeof *process->candidates);
    process->solved = at_alloc_array(capacity, AT_PROCESS_POINTS_MAX * sizeof *process->solved);
    process->variance = at_alloc_array(capacity, sizeof *process->variance);
    process->mean = at_alloc_array(capacity, sizeof *process->mean);
    process->candidate_capacity = capacity;
    if (count > 0) {
        memcpy(process->candidates, old.candidates, count * sizeof *process->candidates);
        memcpy(process->solved, old.solved,
               count * AT_PROCESS_POINTS_MAX * sizeof *process->solved);
        memcpy(process->variance, old.variance, count * sizeof *process->variance);
        memcpy(process->mean, old.mean, count * sizeof *process->mean);
    }
    free(old.candidates);
    free(old.solved);
    free(old.variance);
    free(old.mean);
}

size_t at_process_consider(struct at_process *process, size_t index)
{
    size_t candidate = process->candidate_count;

    if (candidate == process->candidate_capacity)
        make_room(process);
    process->candidate_count++;
    process->candidates[candidate] = index;
    solve_candidate(process, candidate);
    process->mean[candidate] = 0;
    return candidate;
}

/* ---- points ---- */

/* The candidate's row is the new row of the factor, and each candidate's row gets one more element.
 */
static void append(struct at_process *process, size_t candidate)
{
    size_t count = process->point_count, index = process->candidates[candidate];
    const float *own = solved_row(process, candidate);
    double rest = fmax(process->variance[candidate], 0) + process->likeness.noise;
    double *lower = lower_row(process, count);

    for (size_t i = 0; i < count; i++)
        lower[i] = (double)own[i];
    lower[count] = sqrt(rest);
    process->points[count] = index;
    for (size_t i = 0; i < process->candidate_count; i++) {
        float *solved = solved_row(process, i);
        double with_point = at_likeness(&process->likeness, process->candidates[i], index);
        double value = (with_point - dot(solved, own, count)) / lower[count];

        solved[count] = (float)value;
        process->variance[i] -= value * value;
    }
    process->point_count++;
}

bool at_process_add(struct at_process *process, size_t candidate)
{
    if (process->point_count == AT_PROCESS_POINTS_MAX)
        return false;
    append(process, candidate);
    return true;
}

/* ---- expectation ---- */

static size_t find_candidate(const struct at_process *process, size_t index)
{
    size_t candidate = 0;

    while (process->candidates[candidate] != index)
        candidate++;
    return candidate;
}

/* Fits the likeness anew and starts the factor again. */
static void fit(struct at_process *process, const double *values)
{
    size_t told[AT_PROCESS_POINTS_MAX] = {0}, count = 0, points = process->point_count;

    for (size_t i = 0; i < points; i++)
        if (process->land->told[process->points[i]])
            told[count++] = process->points[i];
    if (count < process->next_fit)
        return;
    process->next_fit = count + count / 2;
    /* The newest are the best, and the oldest the most widely spread: some of both. */
    if (count > FIT_POINTS) {
        memmove(&told[FIT_POINTS / 2], &told[count - FIT_POINTS / 2],
                FIT_POINTS / 2 * sizeof *told);
        count = FIT_POINTS;
    }
    at_likeness_fit(&process->likeness, told, values, count);
    process->point_count = 0;
    for (size_t i = 0; i < process->candidate_count; i++)
        process->variance[i] = 1;
    for (size_t i = 0; i < points; i++)
        append(process, find_candidate(process, process->points[i]));
}

void at_process_update(struct at_process *process, const double *values)
{
    float residual[AT_PROCESS_POINTS_MAX] = {0};
    double squares = 0, told = 0;

    fit(process, values);
    for (size_t i = 0; i < process->point_count; i++) {
        const double *lower = lower_row(process, i);
        double sum = 0;

        process->residual[i] = 0; /* of one on its way just what was expected comes */
        if (process->land->told[process->points[i]]) {
            for (size_t j = 0; j < i; j++)
                sum += lower[j] * process->residual[j];
            process->residual[i] = (values[process->points[i]] - sum) / lower[i];
            told++;
        }
        residual[i] = (float)process->residual[i];
        squares += process->residual[i] * process->residual[i];
    }
    process->amplitude = (amplitude_doubt + squares) / (amplitude_doubt + told);
    for (size_t i = 0; i < process->candidate_count; i++)
        process->mean[i] = dot(solved_row(process, i), residual, process->point_count);
}
