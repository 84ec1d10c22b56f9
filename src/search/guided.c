/* SPDX-License-Identifier: Apache-2.0 */
/* Guided search: first what is likely from elsewhere and a few configs from anywhere, then always
 * the one of which most is expected by a model of what has been measured (model.h), and at last
 * what lies next to the best. It stops when there is no gain to be expected that noise would not
 * hide, or when a plain copy is no faster. Its numbers were chosen by autotune replay on
 * tests/recordings. */
#include "base/memory.h"
#include "search/model.h"
#include "search/starts.h"

#include <stdlib.h>

/* From anywhere, besides what is likely, before the model has a say. */
enum { SCOUTS = 10 };

/* On their way at a time: few while each result changes the model's mind, then one more for so many
 * results, up to a compile worker's worth each. */
enum { WAITING_FIRST = 8, WAITING_GROWS = 8, WAITING_MAX = 16 };

/* A model of fewer results than this may be sure of what is not so. */
enum { LEAST_RESULTS = 80 };

/* The neighbours of so many of the best are measured before the search stops, whatever is expected
 * of them: what decides between the last percents is least like what the model has seen. */
enum { POLISHED = 8 };

/* Of the best time. Medians of five trains repeat to some 5 in 1000 (doc/measurement.md). */
static const double least_gain = 0.0005;

/* The copy limit is reached when the best is within this share of it. */
static const double copy_share = 0.01;

static const char no_gain[] = "no gain is expected that noise would not hide";
static const char copy_reached[] = "the best is within 1 % of the copy limit";
static const char model_full[] = "its model holds no more results";

struct guided {
    struct at_landscape land;
    struct at_starts starts;
    struct at_model *model;
    double copy_ns;
    size_t centre; /* whose neighbours the model considers; SIZE_MAX: nobody's yet */
    bool stale;    /* results have come in since the model was brought up to date */
    const char *reason;
};

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct guided *guided = at_alloc(sizeof *guided);

    *guided = (struct guided){.copy_ns = start->copy_ns, .centre = SIZE_MAX};
    at_landscape_init(&guided->land, space);
    at_starts_init(&guided->starts, start);
    guided->model = at_model_create(&guided->land, start->seed);
    return guided;
}

static void refresh_model(struct guided *guided)
{
    size_t neighbours[AT_NEIGHBOURS_MAX], count, best = guided->land.best;

    if (guided->centre != best) {
        count = at_landscape_neighbours(&guided->land, best, neighbours);
        for (size_t i = 0; i < count; i++)
            at_model_consider(guided->model, neighbours[i]);
        guided->centre = best;
    }
    if (guided->stale)
        at_model_update(guided->model);
    guided->stale = false;
}

/* The fastest so many configs, fastest first; returns how many there are. */
static size_t find_best(const struct at_landscape *land, size_t best[POLISHED])
{
    size_t count = 0;

    for (size_t i = 0; i < land->space->count; i++) {
        size_t place = count;

        if (!land->told[i])
            continue;
        while (place > 0 && land->time_ns[i] < land->time_ns[best[place - 1]])
            place--;
        if (place == POLISHED)
            continue;
        count += count < POLISHED;
        for (size_t j = count - 1; j > place; j--)
            best[j] = best[j - 1];
        best[place] = i;
    }
    return count;
}

static bool take_neighbour(struct guided *guided, size_t *index)
{
    size_t best[POLISHED] = {0}, count = find_best(&guided->land, best);
    size_t neighbours[AT_NEIGHBOURS_MAX];

    for (size_t i = 0; i < count; i++) {
        size_t around = at_landscape_neighbours(&guided->land, best[i], neighbours);

        for (size_t j = 0; j < around; j++)
            if (at_landscape_take(&guided->land, neighbours[j])) {
                *index = neighbours[j];
                return true;
            }
    }
    return false;
}

/* False: nothing is worth an evaluation for now, or ever if no result is awaited. */
static bool take_by_model(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    double gain;

    refresh_model(guided);
    *index = at_model_most_promising(guided->model, &gain);
    if (*index != SIZE_MAX && (gain >= least_gain || land->asked_count < LEAST_RESULTS))
        return at_landscape_take(land, *index);
    if (take_neighbour(guided, index))
        return true;
    if (at_landscape_waiting(land) == 0 && land->told_count < land->space->count)
        guided->reason = no_gain;
    return false;
}

static bool take(struct guided *guided, size_t *index)
{
    const struct at_landscape *land = &guided->land;

    if (at_starts_likely(&guided->starts) || land->best == SIZE_MAX ||
        land->asked_count < guided->starts.count + SCOUTS)
        return at_starts_next(&guided->starts, &guided->land, index);
    return take_by_model(guided, index);
}

static bool may_ask(struct guided *guided)
{
    const struct at_landscape *land = &guided->land;
    size_t most = WAITING_FIRST + land->told_count / WAITING_GROWS;

    if (land->best != SIZE_MAX && land->time_ns[land->best] <= guided->copy_ns * (1 + copy_share))
        guided->reason = copy_reached;
    return !guided->reason &&
           at_landscape_waiting(land) < (most < WAITING_MAX ? most : WAITING_MAX);
}

static bool ask(void *state, size_t *index)
{
    struct guided *guided = state;

    if (!may_ask(guided) || !take(guided, index))
        return false;
    if (!at_model_add(guided->model, *index))
        guided->reason = model_full;
    return true;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct guided *guided = state;

    if (!guided->land.asked[index])
        at_model_add(guided->model, index);
    at_landscape_tell(&guided->land, index, outcome, time_ns);
    guided->stale = true;
}

static const char *reason(const void *state)
{
    return ((const struct guided *)state)->reason;
}

static void destroy(void *state)
{
    struct guided *guided = state;

    at_model_free(guided->model);
    at_starts_clear(&guided->starts);
    at_landscape_clear(&guided->land);
    free(guided);
}

const struct at_strategy at_strategy_guided = {
    .name = "guided",
    .summary = "the most promising by a model of what has been measured; stops by itself",
    .create = create,
    .ask = ask,
    .tell = tell,
    .reason = reason,
    .destroy = destroy,
};
