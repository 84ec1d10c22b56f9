/* SPDX-License-Identifier: Apache-2.0 */
/* Guided search: first what is likely from elsewhere and a few configs from anywhere, then always
 * the one of which most is expected by a model of what has been measured (model.h), every other
 * time of what the model has seen too little of (coverage.h). It stops when there is no gain to be
 * expected that noise would not hide, or when a plain copy is no faster. Its numbers were chosen by
 * autotune replay on tests/recordings. */
#include "base/memory.h"
#include "search/bayesian/acquisition.h"
#include "search/bayesian/compiled.h"
#include "search/bayesian/coverage.h"
#include "search/bayesian/patience.h"
#include "search/starts.h"

#include <math.h>
#include <stdlib.h>

/* From anywhere, of each family and in all, besides what is likely, before the model has a say;
 * fewer where winners of other problems are known. */
enum { FAMILY_SCOUTS = 2, SCOUTS = 10, FAMILY_SCOUTS_KNOWING = 1 };

/* On their way at a time: few while each result changes the model's mind, then one more for so many
 * results, up to a compile worker's worth each. What is to be tried whatever the results waits for
 * none. */
enum { WAITING_FIRST = 8, WAITING_GROWS = 8, WAITING_MAX = 16, WAITING_FIXED = 32 };

/* With so many results, one config in so many is one that should be looked at (coverage.h): fewer,
 * where the best is near the copy limit and there is little to gain. */
enum { COVERAGE_FROM = 20, COVERAGE_SHARE = 2 };
static const struct at_looks looks = {.family = 24, .value = 2};
static const struct at_looks looks_near_copy = {.family = 4, .value = 1};

/* What chance draws differs from the best in at most so many parameters: what two of them together
 * are worth, a model may have given up for what either is alone. */
enum { NEAR_PARAMS = 2 };

/* Where nothing has changed since an earlier search of the very problem, so few results without a
 * gain are enough, those from which a search starts among them, whatever more is expected, if the
 * winner's time is met again to within a few percent, as two windows of time may differ by
 * (doc/measurement.md). */
enum { RESULTS_CONFIRMING = 24 };
static const double same_time = 0.03;

static const double least_gain = 0.005; /* expected of the most promising */

static const char no_gain[] = "no gain is expected that noise would not hide";
static const char confirmed[] = "it confirms the winner of an earlier search";
static const char copy_reached[] = "the best is within 1 % of the copy limit";
static const char model_full[] = "its model holds no more results";

struct guided {
    struct at_landscape land;
    struct at_starts starts;
    struct at_acquisition *acquisition;
    struct at_patience patience;
    size_t winner;    /* what won an earlier search of this very problem, and */
    double winner_ns; /* its time, if that still holds; 0: it may not */
    struct at_compiled compiled;
    size_t scout_count, scouts; /* to be sent out, and sent */
    bool *wanted;  /* by config: to be looked at; brought up to date when it is needed */
    size_t centre; /* whose neighbours the model considers; SIZE_MAX: nobody's yet */
    bool stale;    /* results have come in since the model was brought up to date */
    const char *reason;
};

/* Are there more starts than the families have defaults? The others are winners. */
static bool is_knowing(const struct guided *guided)
{
    return guided->starts.count > guided->land.region_count;
}

static size_t count_scouts(const struct guided *guided)
{
    size_t families = guided->land.region_count;

    if (guided->winner_ns > 0)
        return 0;
    if (guided->patience.knowing)
        return FAMILY_SCOUTS_KNOWING * families;
    return FAMILY_SCOUTS * families > SCOUTS ? FAMILY_SCOUTS * families : SCOUTS;
}

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct guided *guided = at_alloc(sizeof *guided);

    *guided = (struct guided){.winner = start->winner,
                              .winner_ns = start->winner_ns,
                              .compiled = start->compiled,
                              .centre = SIZE_MAX};
    at_landscape_init(&guided->land, space);
    at_starts_init(&guided->starts, start);
    guided->patience = (struct at_patience){.copy_ns = start->copy_ns,
                                            .known = start->known,
                                            .knowing = is_knowing(guided),
                                            .gained_ns = INFINITY};
    guided->scout_count = count_scouts(guided);
    guided->acquisition = at_acquisition_create(&guided->land, start->seed);
    guided->wanted = at_alloc_array(space->count, sizeof *guided->wanted);
    return guided;
}

static void refresh_model(struct guided *guided)
{
    size_t neighbours[AT_NEIGHBOURS_MAX], count, best = guided->land.best;

    if (guided->centre != best) {
        count = at_landscape_neighbours(&guided->land, best, neighbours);
        for (size_t i = 0; i < count; i++)
            at_acquisition_consider(guided->acquisition, neighbours[i]);
        guided->centre = best;
    }
    if (guided->stale)
        at_acquisition_update(guided->acquisition);
    guided->stale = false;
}

/* Is what won an earlier search what it was then, and has nothing come of looking further? */
static bool is_confirmed(const struct guided *guided)
{
    const struct at_landscape *land = &guided->land;

    return guided->winner_ns > 0 && land->told[guided->winner] &&
           fabs(land->time_ns[guided->winner] - guided->winner_ns) <=
               same_time * guided->winner_ns &&
           land->asked_count >= guided->patience.gained_at + RESULTS_CONFIRMING;
}

/* The configs of which most is expected; of the wanted ones, unless that is NULL. */
static size_t find_promising(struct guided *guided, const bool *wanted,
                             struct at_improvement improvements[AT_COMPILED_CHOICE])
{
    refresh_model(guided);
    return at_acquisition_best(guided->acquisition, wanted, improvements,
                               guided->compiled.has ? AT_COMPILED_CHOICE : 1);
}

/* Brings up to date what should be looked at; false: there is nothing. */
static bool find_looks(const struct guided *guided)
{
    bool near = at_patience_is_near_copy(&guided->patience);

    return at_coverage_mark(&guided->land, near ? looks_near_copy : looks, guided->wanted);
}

/* Takes the most promising one of those that should be looked at; or just the first of them, where
 * the space is so large that the model has none of them. */
static bool take_look(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count;

    if (!find_looks(guided))
        return false;
    count = find_promising(guided, guided->wanted, improvements);
    *index = count > 0 ? at_compiled_choose(&guided->compiled, improvements, count) : 0;
    while (!guided->wanted[*index])
        ++*index;
    return at_landscape_take(land, *index);
}

/* Takes a neighbour of the best, unless it is near the copy limit: what a search ends with is
 * better than all that differ from it in one parameter. */
static bool take_neighbour(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    size_t neighbours[AT_NEIGHBOURS_MAX], count;

    if (at_patience_is_near_copy(&guided->patience))
        return false;
    count = at_landscape_neighbours(land, land->best, neighbours);
    for (size_t i = 0; i < count; i++) {
        *index = neighbours[i];
        if (at_landscape_take(land, *index))
            return true;
    }
    return false;
}

/* False: nothing is worth an evaluation for now, or ever if no result is awaited. */
static bool take_by_model(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count = find_promising(guided, NULL, improvements);

    if (count > 0 && (improvements[0].gain >= least_gain ||
                      !at_patience_is_over(&guided->patience, land->asked_count))) {
        *index = at_compiled_choose(&guided->compiled, improvements, count);
        return at_landscape_take(land, *index);
    }
    if (take_look(guided, index) || take_neighbour(guided, index))
        return true;
    if (!at_compiled_awaits(&guided->compiled, land) && land->told_count < land->space->count)
        guided->reason = no_gain;
    return false;
}

/* One of each family in turn, so that none is judged by a single config. */
static bool take_scout(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    const struct at_region *region = &land->regions[guided->scouts++ % land->region_count];

    *index = region->first + at_rng_below(&guided->starts.rng, region->count);
    return at_landscape_take(land, *index) || at_landscape_draw(land, &guided->starts.rng, index);
}

static bool has_scouts(const struct guided *guided)
{
    return guided->scouts < guided->scout_count && guided->land.region_count > 0;
}

static bool take(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;

    if (at_starts_likely(&guided->starts))
        return at_starts_next(&guided->starts, land, index);
    if (has_scouts(guided))
        return take_scout(guided, index);
    if (land->best == SIZE_MAX) /* nothing to model yet */
        return at_landscape_draw(land, &guided->starts.rng, index);
    if (land->told_count >= COVERAGE_FROM && land->asked_count % COVERAGE_SHARE == 0 &&
        take_look(guided, index))
        return true;
    if (at_patience_leaves_to_chance(&guided->patience, land->asked_count) &&
        at_landscape_draw_near(land, &guided->starts.rng, land->best, NEAR_PARAMS, index))
        return true;
    return take_by_model(guided, index);
}

static bool may_ask(struct guided *guided)
{
    const struct at_landscape *land = &guided->land;
    size_t most = WAITING_FIRST + land->told_count / WAITING_GROWS;

    if (land->best != SIZE_MAX &&
        at_patience_reaches_copy(&guided->patience, land->time_ns[land->best]))
        guided->reason = copy_reached;
    if (is_confirmed(guided)) {
        if (!at_compiled_awaits(&guided->compiled, land))
            guided->reason = confirmed;
        return false;
    }
    if (most > WAITING_MAX)
        most = WAITING_MAX;
    if (at_starts_likely(&guided->starts) || has_scouts(guided))
        most = WAITING_FIXED;
    return !guided->reason && at_landscape_waiting(land) < most;
}

static bool ask(void *state, size_t *index)
{
    struct guided *guided = state;

    if (!may_ask(guided) || !take(guided, index))
        return false;
    if (!at_acquisition_add(guided->acquisition, *index))
        guided->reason = model_full;
    return true;
}

/* Adds a config to those that are foreseen, once. */
static void precompile_one(size_t *indices, size_t *count, size_t index)
{
    for (size_t i = 0; i < *count; i++)
        if (indices[i] == index)
            return;
    indices[(*count)++] = index;
}

/* What should be looked at and what the model would have, by turns. */
static size_t foresee(const void *state, size_t *indices, size_t most)
{
    const struct guided *guided = state;
    struct at_improvement expected[AT_NEXT_MAX], wanted[AT_NEXT_MAX];
    size_t count = 0, expected_count, wanted_count = 0;

    if (guided->land.best == SIZE_MAX)
        return 0;
    most = most < AT_NEXT_MAX ? most : AT_NEXT_MAX;
    expected_count = at_acquisition_best(guided->acquisition, NULL, expected, most);
    if (find_looks(guided))
        wanted_count = at_acquisition_best(guided->acquisition, guided->wanted, wanted, most);
    for (size_t i = 0; i < most; i++) {
        if (i < expected_count && count < most)
            precompile_one(indices, &count, expected[i].index);
        if (i < wanted_count && count < most)
            precompile_one(indices, &count, wanted[i].index);
    }
    return count;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct guided *guided = state;

    if (!guided->land.asked[index])
        at_acquisition_add(guided->acquisition, index);
    at_landscape_tell(&guided->land, index, outcome, time_ns);
    guided->stale = true;
    if (outcome == AT_CORRECT)
        at_patience_tell(&guided->patience, time_ns, guided->land.told_count);
}

static const char *reason(const void *state)
{
    return ((const struct guided *)state)->reason;
}

static void destroy(void *state)
{
    struct guided *guided = state;

    at_acquisition_free(guided->acquisition);
    at_starts_clear(&guided->starts);
    at_landscape_clear(&guided->land);
    free(guided->wanted);
    free(guided);
}

const struct at_strategy at_strategy_guided = {
    .name = "guided",
    .summary = "picks the highest expected improvement under a Gaussian process; stops by itself",
    .create = create,
    .ask = ask,
    .likely_next = foresee,
    .tell = tell,
    .reason = reason,
    .destroy = destroy,
};
