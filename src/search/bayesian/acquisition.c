/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/acquisition.h"

#include "base/memory.h"
#include "search/landscape.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct covariance {
    const struct at_landscape *land;
    size_t region; /* the family of all configs */
    double family; /* share that all configs of the family have in common */
    double alone;  /* share of the rest that adds over parameters; the others act jointly */
    double noise;  /* variance of a measurement */
    double rates[AT_PARAMS_MAX]; /* by parameter: how fast the covariance falls with distance */
    bool ordered[AT_PARAMS_MAX]; /* by parameter: close values are alike */
    float *tables;               /* by parameter and two levels: minus rate times distance; owned */
};

struct candidate {
    size_t index;
    double variance; /* that remains, of 1 */
    double mean;     /* the predicted value */
};

struct gp {
    const struct at_landscape *land;
    struct covariance covariance;

    size_t *points; /* configs that are measured or in flight */
    size_t point_count;
    double *lower;    /* Cholesky factor of the points' covariance, one row per point */
    double *residual; /* lower^-1 times the measured values; 0 for points added since */
    double amplitude; /* variance of the values, if the covariance's is 1 */
    size_t next_fit;  /* results at which the covariance is fitted again */

    struct candidate *candidates;
    size_t candidate_count, candidate_capacity;
    float *solved; /* by candidate: lower^-1 times its covariance with the points */
    size_t solved_capacity;
};

/* Most points. */
enum { GP_POINTS_MAX = 512 };

enum { LEVELS = AT_PARAM_VALUES_MAX, TABLE = LEVELS * LEVELS };

/* The values to choose from. There is no rate of 0: after a few results most parameters would seem
 * not to matter, and predictions would be too sure too soon. */
static const double rates[] = {0.06, 0.2, 0.6, 2};
static const double family_shares[] = {0, 0.2, 0.5, 0.8};
static const double alone_shares[] = {0.1, 0.3, 0.6};
static const double noises[] = {1e-4, 1e-3, 1e-2};

static const double usual_rate = 0.3, usual_share = 0.3, usual_noise = 1e-3;

/* A parameter with at least this many values may be ordered. With fewer, each value has results of
 * its own soon. */
enum { MANY_VALUES = 9 };

/* Half of the distance is whether two values differ, half is by how much. That suits numbers, and
 * does not harm names. Of ordered values, close ones are nearly the same. */
static float distance(size_t a, size_t b, size_t count, bool ordered)
{
    double apart = (double)(a > b ? a - b : b - a) / (double)(count - 1);

    if (a == b)
        return 0;
    return (float)(ordered ? 0.1 + 1.4 * apart : 0.5 + 0.5 * apart);
}

static const struct at_family *family_of(const struct covariance *covariance)
{
    return covariance->land->regions[covariance->region].family;
}

static void fill_table(struct covariance *covariance, size_t param)
{
    size_t count = family_of(covariance)->params[param].value_count;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            covariance->tables[param * TABLE + i * LEVELS + j] =
                -(float)covariance->rates[param] *
                distance(i, j, count, covariance->ordered[param]);
}

static void covariance_init(struct covariance *covariance, const struct at_landscape *land,
                            size_t region)
{
    size_t params = land->regions[region].family->param_count;

    *covariance = (struct covariance){.land = land,
                                      .region = region,
                                      .family = usual_share,
                                      .alone = usual_share,
                                      .noise = usual_noise};
    covariance->tables = at_alloc_array(params, TABLE * sizeof *covariance->tables);
    for (size_t i = 0; i < params; i++) {
        covariance->rates[i] = usual_rate;
        fill_table(covariance, i);
    }
}

static double covariance_of(const struct covariance *covariance, size_t a, size_t b)
{
    size_t params = family_of(covariance)->param_count, alike = 0;
    const uint8_t *x = at_landscape_levels(covariance->land, a);
    const uint8_t *y = at_landscape_levels(covariance->land, b);
    float together = 0;
    double by_parameter;

    for (size_t i = 0; i < params; i++) {
        together += covariance->tables[i * TABLE + y[i] * LEVELS + x[i]];
        alike += x[i] == y[i];
    }
    by_parameter = covariance->alone * (params > 0 ? (double)alike / (double)params : 1) +
                   (1 - covariance->alone) * (double)expf(together);
    return covariance->family + (1 - covariance->family) * by_parameter;
}

/* ---- fitting ---- */

struct data {
    const size_t *configs;
    const double *values;
    size_t count;
    double *lower;
};

/* The logarithm of the likelihood, without a constant, under the amplitude that maximises it. */
static double likelihood(const struct covariance *covariance, const struct data *data)
{
    double sum = 0, squares = 0, solved[data->count];

    for (size_t i = 0; i < data->count; i++) {
        double *row = &data->lower[i * data->count], rest = 1 + covariance->noise;

        solved[i] = data->values[data->configs[i]];
        for (size_t j = 0; j < i; j++) {
            const double *other = &data->lower[j * data->count];
            double value = covariance_of(covariance, data->configs[i], data->configs[j]);

            for (size_t k = 0; k < j; k++)
                value -= row[k] * other[k];
            row[j] = value / other[j];
            rest -= row[j] * row[j];
            solved[i] -= row[j] * solved[j];
        }
        row[i] = sqrt(fmax(rest, 1e-9));
        solved[i] /= row[i];
        sum -= log(row[i]);
        squares += solved[i] * solved[i];
    }
    return sum - (double)data->count / 2 * log(1e-9 + squares);
}

/* Set the slot to the likeliest choice. */
static double choose(struct covariance *covariance, const struct data *data, double *slot,
                     const double *choices, size_t count, double best)
{
    double kept = *slot;

    for (size_t i = 0; i < count; i++) {
        double likely;

        *slot = choices[i];
        likely = likelihood(covariance, data);
        if (likely > best) {
            best = likely;
            kept = choices[i];
        }
    }
    *slot = kept;
    return best;
}

static double choose_rate(struct covariance *covariance, const struct data *data, size_t param,
                          double best)
{
    double *rate = &covariance->rates[param], kept = *rate;
    bool *ordered = &covariance->ordered[param], kept_ordered = *ordered;
    int kinds = family_of(covariance)->params[param].value_count >= MANY_VALUES ? 2 : 1;

    for (int kind = 0; kind < kinds; kind++)
        for (size_t i = 0; i < AT_COUNT(rates); i++) {
            double likely;

            *rate = rates[i];
            *ordered = kind == 1;
            fill_table(covariance, param);
            likely = likelihood(covariance, data);
            if (likely > best) {
                best = likely;
                kept = rates[i];
                kept_ordered = *ordered;
            }
        }
    *rate = kept;
    *ordered = kept_ordered;
    fill_table(covariance, param);
    return best;
}

/* Choose shares, rates and noise that maximise the likelihood of these configs' values (by
 * config). */
static void covariance_fit(struct covariance *covariance, const size_t *configs,
                           const double *values, size_t count)
{
    struct data data = {configs, values, count, NULL};
    double best;

    data.lower = at_alloc_array(count, count * sizeof *data.lower);
    best = likelihood(covariance, &data);
    best =
        choose(covariance, &data, &covariance->alone, alone_shares, AT_COUNT(alone_shares), best);
    best = choose(covariance, &data, &covariance->family, family_shares, AT_COUNT(family_shares),
                  best);
    best = choose(covariance, &data, &covariance->noise, noises, AT_COUNT(noises), best);
    for (size_t i = 0; i < family_of(covariance)->param_count; i++)
        best = choose_rate(covariance, &data, i, best);
    free(data.lower);
}

/* The covariance is fitted first after this many results, then each time the results have
 * grown by half. At most FIT_POINTS are used, because fitting takes cubic time. */
enum { FIRST_FIT = 8, FIT_POINTS = 80 };

/* The amplitude is that of the results together with this many of amplitude 1. */
static const double amplitude_doubt = 4;

static double *lower_row(const struct gp *gp, size_t row)
{
    return &gp->lower[row * GP_POINTS_MAX];
}

static float *solved_row(const struct gp *gp, size_t candidate)
{
    return &gp->solved[candidate * GP_POINTS_MAX];
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

static void gp_init(struct gp *gp, const struct at_landscape *land, size_t region)
{
    enum { MOST = GP_POINTS_MAX };

    *gp = (struct gp){.land = land, .amplitude = 1, .next_fit = FIRST_FIT};
    covariance_init(&gp->covariance, land, region);
    gp->points = at_alloc_array(MOST, sizeof *gp->points);
    gp->residual = at_alloc_array(MOST, sizeof *gp->residual);
    gp->lower = at_alloc_array(MOST, MOST * sizeof *gp->lower);
}

static void gp_clear(struct gp *gp)
{
    free(gp->covariance.tables);
    free(gp->points);
    free(gp->residual);
    free(gp->lower);
    free(gp->candidates);
    free(gp->solved);
}

/* ---- candidates ---- */

/* Compute a candidate's row from the beginning, by forward substitution. */
static void solve_candidate(struct gp *gp, size_t candidate)
{
    float *solved = solved_row(gp, candidate);
    double variance = 1;

    for (size_t i = 0; i < gp->point_count; i++) {
        const double *lower = lower_row(gp, i);
        double sum = covariance_of(&gp->covariance, gp->candidates[candidate].index, gp->points[i]);

        for (size_t j = 0; j < i; j++)
            sum -= lower[j] * (double)solved[j];
        solved[i] = (float)(sum / lower[i]);
        variance -= (double)solved[i] * (double)solved[i];
    }
    gp->candidates[candidate].variance = variance;
}

/* Make a config, which is no candidate yet, a candidate; returns its index. */
static size_t gp_consider(struct gp *gp, size_t index)
{
    size_t candidate = gp->candidate_count;

    gp->solved =
        at_grow(gp->solved, candidate, &gp->solved_capacity, GP_POINTS_MAX * sizeof *gp->solved);
    AT_PUSH(gp->candidates, gp->candidate_count, gp->candidate_capacity,
            (struct candidate){.index = index});
    solve_candidate(gp, candidate);
    return candidate;
}

/* ---- points ---- */

/* Append a point. The candidate's row becomes the new row of the factor, and each candidate's row
 * gets one more element. */
static void append(struct gp *gp, size_t candidate)
{
    size_t count = gp->point_count, index = gp->candidates[candidate].index;
    const float *own = solved_row(gp, candidate);
    double rest = fmax(gp->candidates[candidate].variance, 0) + gp->covariance.noise;
    double *lower = lower_row(gp, count);

    for (size_t i = 0; i < count; i++)
        lower[i] = (double)own[i];
    lower[count] = sqrt(rest);
    gp->points[count] = index;
    for (size_t i = 0; i < gp->candidate_count; i++) {
        float *solved = solved_row(gp, i);
        double with_point = covariance_of(&gp->covariance, gp->candidates[i].index, index);
        double value = (with_point - dot(solved, own, count)) / lower[count];

        solved[count] = (float)value;
        gp->candidates[i].variance -= value * value;
    }
    gp->point_count++;
}

/* ---- predictions ---- */

static size_t find_candidate(const struct gp *gp, size_t index)
{
    size_t candidate = 0;

    while (gp->candidates[candidate].index != index)
        candidate++;
    return candidate;
}

/* Fit the covariance again and rebuild the factor. */
static void fit(struct gp *gp, const double *values)
{
    size_t told[GP_POINTS_MAX] = {0}, count = 0, points = gp->point_count;

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
    covariance_fit(&gp->covariance, told, values, count);
    gp->point_count = 0;
    for (size_t i = 0; i < gp->candidate_count; i++)
        gp->candidates[i].variance = 1;
    for (size_t i = 0; i < points; i++)
        append(gp, find_candidate(gp, gp->points[i]));
}

/* Update the predictions with the measured values, by config. The prior has mean 0 and variance
 * 1. */
static void gp_update(struct gp *gp, const double *values)
{
    float residual[GP_POINTS_MAX] = {0};
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
        gp->candidates[i].mean = dot(solved_row(gp, i), residual, gp->point_count);
}

/* Return a candidate's predicted value after the last update, even if it became a candidate
 * since. */
static double gp_predict(const struct gp *gp, size_t candidate)
{
    const float *solved = solved_row(gp, candidate);
    double mean = 0;

    for (size_t i = 0; i < gp->point_count; i++)
        mean += (double)solved[i] * gp->residual[i];
    return mean;
}

/* Initial candidates: each family's share of the space, but at least FAMILY_CANDIDATES. In a larger
 * space the others become candidates as neighbours of good configs, so that the space's size costs
 * nothing. */
enum { CANDIDATES = 6144, FAMILY_CANDIDATES = 256 };

struct at_acquisition {
    const struct at_landscape *land;
    struct gp *gps; /* a Gaussian process per region */
    size_t *place;  /* by config: its candidate's index + 1; 0: none */
    double *values; /* by told config: slowness, centred and scaled */
    double center, scale;
    double steepness; /* of the values in the last update */
    double best_ns;   /* the best time in the last update, on which the values build; 0: none yet */
};

static void consider_region(struct at_acquisition *acquisition, size_t number, struct at_rng *rng)
{
    const struct at_region *region = &acquisition->land->regions[number];
    size_t most = region->count * CANDIDATES / acquisition->land->space->count;

    most = most < FAMILY_CANDIDATES ? FAMILY_CANDIDATES : most;
    if (region->count <= most)
        for (size_t i = 0; i < region->count; i++)
            at_acquisition_consider(acquisition, region->first + i);
    while (acquisition->gps[number].candidate_count < most &&
           acquisition->gps[number].candidate_count < region->count)
        at_acquisition_consider(acquisition, region->first + at_rng_below(rng, region->count));
}

struct at_acquisition *at_acquisition_create(const struct at_landscape *land, uint64_t seed)
{
    struct at_acquisition *acquisition = at_alloc(sizeof *acquisition);
    struct at_rng rng = {seed};

    *acquisition = (struct at_acquisition){.land = land, .scale = 1};
    acquisition->gps = at_alloc_array(land->region_count, sizeof *acquisition->gps);
    acquisition->place = at_alloc_array(land->space->count, sizeof *acquisition->place);
    acquisition->values = at_alloc_array(land->space->count, sizeof *acquisition->values);
    for (size_t i = 0; i < land->region_count; i++) {
        gp_init(&acquisition->gps[i], land, i);
        consider_region(acquisition, i, &rng);
    }
    return acquisition;
}

void at_acquisition_free(struct at_acquisition *acquisition)
{
    if (!acquisition)
        return;
    for (size_t i = 0; i < acquisition->land->region_count; i++)
        gp_clear(&acquisition->gps[i]);
    free(acquisition->gps);
    free(acquisition->place);
    free(acquisition->values);
    free(acquisition);
}

static struct gp *process_of(const struct at_acquisition *acquisition, size_t index)
{
    return &acquisition->gps[acquisition->land->region_of[index]];
}

void at_acquisition_consider(struct at_acquisition *acquisition, size_t index)
{
    if (!acquisition->place[index])
        acquisition->place[index] = gp_consider(process_of(acquisition, index), index) + 1;
}

bool at_acquisition_add(struct at_acquisition *acquisition, size_t index)
{
    struct gp *gp = process_of(acquisition, index);

    at_acquisition_consider(acquisition, index);
    if (gp->point_count == GP_POINTS_MAX)
        return false;
    append(gp, acquisition->place[index] - 1);
    return true;
}

/* ---- expected improvement ---- */

/* The modelled value: slowness against the best, on a scale on which twice and ten times as slow
 * are nearly the same. Predictions must be right for times near the best; fitting all times makes
 * them worse there. */
static double slowness(double time_ns, double best_ns, double steepness)
{
    return (1 - pow(best_ns / time_ns, steepness)) / steepness;
}

static void center_and_scale(struct at_acquisition *acquisition)
{
    const struct at_landscape *land = acquisition->land;
    double sum = 0, squares = 0, count = (double)land->told_count;

    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            sum += acquisition->values[i] =
                slowness(land->time_ns[i], land->time_ns[land->best], acquisition->steepness);
    acquisition->center = sum / count;
    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            squares += pow(acquisition->values[i] - acquisition->center, 2);
    acquisition->scale = squares > 0 ? sqrt(squares / count) : 1;
    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            acquisition->values[i] =
                (acquisition->values[i] - acquisition->center) / acquisition->scale;
}

void at_acquisition_update(struct at_acquisition *acquisition, double steepness)
{
    if (acquisition->land->best == SIZE_MAX)
        return;
    acquisition->steepness = steepness;
    center_and_scale(acquisition);
    acquisition->best_ns = acquisition->land->time_ns[acquisition->land->best];
    for (size_t i = 0; i < acquisition->land->region_count; i++)
        gp_update(&acquisition->gps[i], acquisition->values);
}

/* A candidate's predicted standard deviation, of values. */
static double deviation_of(const struct gp *gp, size_t candidate)
{
    return sqrt(fmax(gp->candidates[candidate].variance, 1e-9) * gp->amplitude);
}

struct at_prediction at_acquisition_predict(const struct at_acquisition *acquisition, size_t index)
{
    const struct gp *gp = process_of(acquisition, index);
    size_t place = acquisition->place[index];

    if (acquisition->best_ns == 0 || !place)
        return (struct at_prediction){0};
    return (struct at_prediction){
        .mean = acquisition->center + acquisition->scale * gp_predict(gp, place - 1),
        .deviation = acquisition->scale * deviation_of(gp, place - 1),
        .best_ns = acquisition->best_ns,
        .steepness = acquisition->steepness,
    };
}

double at_acquisition_expect(const struct at_acquisition *acquisition, size_t index)
{
    struct at_prediction prediction = at_acquisition_predict(acquisition, index);
    double rest = 1 - prediction.steepness * prediction.mean;

    return prediction.deviation > 0 && rest > 0
               ? prediction.best_ns / pow(rest, 1 / prediction.steepness)
               : 0;
}

double at_prediction_error(const struct at_prediction *prediction, double time_ns)
{
    double value = slowness(time_ns, prediction->best_ns, prediction->steepness);

    return (value - prediction->mean) / prediction->deviation;
}

/* The chance that a normal variable is below 0. */
static double chance_below(double mean, double deviation)
{
    return 0.5 * erfc(mean / deviation / sqrt(2));
}

/* The expectation of the part of a normal variable below 0: the expected improvement (Jones,
 * Schonlau and Welch, Journal of Global Optimization 13, 1998). */
static double expected_below(double mean, double deviation)
{
    double u = -mean / deviation;

    return -mean * chance_below(mean, deviation) + deviation * exp(-u * u / 2) / sqrt(2 * M_PI);
}

/* Insert an improvement in order among `count`, of which at most `most` are kept. Returns the new
 * count. */
static size_t rank(struct at_improvement *improvements, size_t count, size_t most,
                   struct at_improvement added)
{
    size_t place = count;

    if (count == most && added.gain <= improvements[most - 1].gain)
        return count;
    while (place > 0 && improvements[place - 1].gain < added.gain)
        place--;
    count += count < most;
    memmove(&improvements[place + 1], &improvements[place],
            (count - place - 1) * sizeof *improvements);
    improvements[place] = added;
    return count;
}

size_t at_acquisition_best(const struct at_acquisition *acquisition, const bool *wanted,
                           struct at_improvement *improvements, size_t most)
{
    const struct at_landscape *land = acquisition->land;
    /* The best time's slowness is 0. */
    double best_value = -acquisition->center / acquisition->scale;
    size_t count = 0;

    for (size_t i = 0; i < land->region_count; i++) {
        const struct gp *gp = &acquisition->gps[i];

        for (size_t j = 0; j < gp->candidate_count; j++) {
            size_t index = gp->candidates[j].index;
            double gain;

            if (land->asked[index] || (wanted && !wanted[index]))
                continue;
            gain = acquisition->scale *
                   expected_below(gp->candidates[j].mean - best_value, deviation_of(gp, j));
            count = rank(improvements, count, most, (struct at_improvement){index, gain});
        }
    }
    return count;
}

double at_acquisition_hopes(const struct at_acquisition *acquisition, double gain, double doubt)
{
    double wanted = slowness(1 - gain, 1, acquisition->steepness), sum = 0;
    double value = (wanted - acquisition->center) / acquisition->scale;

    for (size_t i = 0; i < acquisition->land->region_count; i++) {
        const struct gp *gp = &acquisition->gps[i];

        for (size_t j = 0; j < gp->candidate_count; j++)
            if (!acquisition->land->asked[gp->candidates[j].index])
                sum += chance_below(gp->candidates[j].mean - value, doubt * deviation_of(gp, j));
    }
    return sum;
}
