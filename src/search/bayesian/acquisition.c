/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/acquisition.h"

#include "base/memory.h"
#include "search/bayesian/gaussian_process.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Candidates at first, of each family as many as its share of the space, but so many at least. Of a
 * larger space the rest comes in as neighbours of what is good, so that its size costs nothing. */
enum { CANDIDATES = 6144, FAMILY_CANDIDATES = 256 };

struct at_model {
    const struct at_landscape *land;
    struct at_process *processes; /* by region */
    size_t *place;                /* by config: of its candidate, + 1; 0: none */
    double *values;               /* by config, of those told: centred and scaled */
    double center, scale;
};

static void consider_region(struct at_model *model, size_t number, struct at_rng *rng)
{
    const struct at_region *region = &model->land->regions[number];
    size_t most = region->count * CANDIDATES / model->land->space->count;

    most = most < FAMILY_CANDIDATES ? FAMILY_CANDIDATES : most;
    if (region->count <= most)
        for (size_t i = 0; i < region->count; i++)
            at_model_consider(model, region->first + i);
    while (model->processes[number].candidate_count < most &&
           model->processes[number].candidate_count < region->count)
        at_model_consider(model, region->first + at_rng_below(rng, region->count));
}

struct at_model *at_model_create(const struct at_landscape *land, uint64_t seed)
{
    struct at_model *model = at_alloc(sizeof *model);
    struct at_rng rng = {seed};

    *model = (struct at_model){.land = land, .scale = 1};
    model->processes = at_alloc_array(land->region_count, sizeof *model->processes);
    model->place = at_alloc_array(land->space->count, sizeof *model->place);
    model->values = at_alloc_array(land->space->count, sizeof *model->values);
    for (size_t i = 0; i < land->region_count; i++) {
        at_process_init(&model->processes[i], land, i);
        consider_region(model, i, &rng);
    }
    return model;
}

void at_model_free(struct at_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->land->region_count; i++)
        at_process_clear(&model->processes[i]);
    free(model->processes);
    free(model->place);
    free(model->values);
    free(model);
}

static struct at_process *process_of(const struct at_model *model, size_t index)
{
    return &model->processes[model->land->region_of[index]];
}

void at_model_consider(struct at_model *model, size_t index)
{
    if (!model->place[index])
        model->place[index] = at_process_consider(process_of(model, index), index) + 1;
}

bool at_model_add(struct at_model *model, size_t index)
{
    at_model_consider(model, index);
    return at_process_add(process_of(model, index), model->place[index] - 1);
}

/* ---- belief ---- */

/* What is modelled: how much slower than the best, on a scale on which twice as slow and ten times
 * as slow are much the same. It is about times near the best that the model is to be right, and one
 * that had to explain all of them would believe in wonders. */
static const double steepness = 3;

static double slowness(const struct at_landscape *land, size_t index)
{
    return (1 - pow(land->time_ns[land->best] / land->time_ns[index], steepness)) / steepness;
}

static void center_and_scale(struct at_model *model)
{
    const struct at_landscape *land = model->land;
    double sum = 0, squares = 0, count = (double)land->told_count;

    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            sum += model->values[i] = slowness(land, i);
    model->center = sum / count;
    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            squares += pow(model->values[i] - model->center, 2);
    model->scale = squares > 0 ? sqrt(squares / count) : 1;
    for (size_t i = 0; i < land->space->count; i++)
        if (land->told[i])
            model->values[i] = (model->values[i] - model->center) / model->scale;
}

void at_model_update(struct at_model *model)
{
    if (model->land->best == SIZE_MAX)
        return;
    center_and_scale(model);
    for (size_t i = 0; i < model->land->region_count; i++)
        at_process_update(&model->processes[i], model->values);
}

/* The expectation of the part of a normal variable that lies below 0 (Jones, Schonlau and Welch,
 * Journal of Global Optimization 13, 1998: expected improvement). */
static double expected_below(double mean, double deviation)
{
    double u = -mean / deviation;

    return -mean * 0.5 * erfc(-u / sqrt(2)) + deviation * exp(-u * u / 2) / sqrt(2 * M_PI);
}

/* Puts a promise in its place among count of at most so many; returns how many there are then. */
static size_t rank(struct at_promise *promises, size_t count, size_t most, struct at_promise added)
{
    size_t place = count;

    if (count == most && added.gain <= promises[most - 1].gain)
        return count;
    while (place > 0 && promises[place - 1].gain < added.gain)
        place--;
    count += count < most;
    memmove(&promises[place + 1], &promises[place], (count - place - 1) * sizeof *promises);
    promises[place] = added;
    return count;
}

size_t at_model_promising(const struct at_model *model, const bool *wanted,
                          struct at_promise *promises, size_t most)
{
    const struct at_landscape *land = model->land;
    /* The best time's slowness is 0. */
    double best_value = -model->center / model->scale;
    size_t count = 0;

    for (size_t i = 0; i < land->region_count; i++) {
        const struct at_process *process = &model->processes[i];

        for (size_t j = 0; j < process->candidate_count; j++) {
            double variance = fmax(process->variance[j], 1e-9) * process->amplitude, gain;
            size_t index = process->candidates[j];

            if (land->asked[index] || (wanted && !wanted[index]))
                continue;
            gain = model->scale * expected_below(process->mean[j] - best_value, sqrt(variance));
            count = rank(promises, count, most, (struct at_promise){index, gain});
        }
    }
    return count;
}
