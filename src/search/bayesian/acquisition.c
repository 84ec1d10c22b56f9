/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/acquisition.h"

#include "base/memory.h"
#include "search/bayesian/gaussian_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Initial candidates: each family's share of the space, but at least FAMILY_CANDIDATES. In a larger
 * space the others become candidates as neighbours of good configs, so that the space's size costs
 * nothing. */
enum { CANDIDATES = 6144, FAMILY_CANDIDATES = 256 };

struct at_acquisition {
    const struct at_landscape *land;
    struct at_gp *gps; /* a Gaussian process per region */
    size_t *place;     /* by config: its candidate's index + 1; 0: none */
    double *values;    /* by told config: slowness, centred and scaled */
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
        at_gp_init(&acquisition->gps[i], land, i);
        consider_region(acquisition, i, &rng);
    }
    return acquisition;
}

void at_acquisition_free(struct at_acquisition *acquisition)
{
    if (!acquisition)
        return;
    for (size_t i = 0; i < acquisition->land->region_count; i++)
        at_gp_clear(&acquisition->gps[i]);
    free(acquisition->gps);
    free(acquisition->place);
    free(acquisition->values);
    free(acquisition);
}

static struct at_gp *process_of(const struct at_acquisition *acquisition, size_t index)
{
    return &acquisition->gps[acquisition->land->region_of[index]];
}

void at_acquisition_consider(struct at_acquisition *acquisition, size_t index)
{
    if (!acquisition->place[index])
        acquisition->place[index] = at_gp_consider(process_of(acquisition, index), index) + 1;
}

bool at_acquisition_add(struct at_acquisition *acquisition, size_t index)
{
    at_acquisition_consider(acquisition, index);
    return at_gp_add(process_of(acquisition, index), acquisition->place[index] - 1);
}

/* ---- expected improvement ---- */

/* The modelled value: slowness against the best, on a scale on which twice and ten times as slow
 * are nearly the same. Predictions must be right for times near the best; fitting all times makes
 * them worse there. */
static double slowness(double time_ns, double best_ns, double steepness)
{
    return (1 - pow(best_ns / time_ns, steepness)) / steepness;
}

/* The time with this slowness; 0: none has it. */
static double time_of_slowness(double value, double best_ns, double steepness)
{
    double rest = 1 - steepness * value;

    return rest > 0 ? best_ns / pow(rest, 1 / steepness) : 0;
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
        at_gp_update(&acquisition->gps[i], acquisition->values);
}

/* A candidate's predicted standard deviation, of values. */
static double deviation_of(const struct at_gp *gp, size_t candidate)
{
    return sqrt(fmax(gp->variance[candidate], 1e-9) * gp->amplitude);
}

double at_acquisition_expect(const struct at_acquisition *acquisition, size_t index)
{
    double mean;

    if (acquisition->best_ns == 0 || !acquisition->place[index])
        return 0;
    mean = at_gp_predict(process_of(acquisition, index), acquisition->place[index] - 1);
    return time_of_slowness(acquisition->center + acquisition->scale * mean, acquisition->best_ns,
                            acquisition->steepness);
}

struct at_prediction at_acquisition_predict(const struct at_acquisition *acquisition, size_t index)
{
    const struct at_gp *gp = process_of(acquisition, index);
    size_t place = acquisition->place[index];

    if (acquisition->best_ns == 0 || !place)
        return (struct at_prediction){0};
    return (struct at_prediction){
        .mean = acquisition->center + acquisition->scale * at_gp_predict(gp, place - 1),
        .deviation = acquisition->scale * deviation_of(gp, place - 1),
        .best_ns = acquisition->best_ns,
        .steepness = acquisition->steepness,
    };
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
        const struct at_gp *gp = &acquisition->gps[i];

        for (size_t j = 0; j < gp->candidate_count; j++) {
            size_t index = gp->candidates[j];
            double gain;

            if (land->asked[index] || (wanted && !wanted[index]))
                continue;
            gain =
                acquisition->scale * expected_below(gp->mean[j] - best_value, deviation_of(gp, j));
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
        const struct at_gp *gp = &acquisition->gps[i];

        for (size_t j = 0; j < gp->candidate_count; j++)
            if (!acquisition->land->asked[gp->candidates[j]])
                sum += chance_below(gp->mean[j] - value, doubt * deviation_of(gp, j));
    }
    return sum;
}
