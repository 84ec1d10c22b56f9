/* SPDX-License-Identifier: Apache-2.0 */
/* Guided search: Bayesian optimisation. First it measures the initial design: likely configs and
 * some random ones. Then it takes the config with the greatest expected improvement
 * (acquisition.h), and every other time a config that coverage asks for (coverage.h). Where nothing
 * tells how much may be gained, it also takes neighbours of the fastest configs (surroundings.h).
 * It stops when the expected improvement is below the noise, or when the best reaches the copy
 * limit. doc/search.md says how its numbers were chosen. */
#include "base/memory.h"
#include "search/bayesian/acquisition.h"
#include "search/bayesian/calibration.h"
#include "search/bayesian/compiled.h"
#include "search/bayesian/coverage.h"
#include "search/bayesian/design.h"
#include "search/bayesian/patience.h"
#include "search/bayesian/surroundings.h"
#include "search/bayesian/turns.h"
#include "search/starts.h"

#include <math.h>
#include <stdlib.h>

/* Without a warm start, the first configs of a family are random, and so are the first ones of it
 * that coverage takes: until its Gaussian process is fitted, at eight results, those with the
 * greatest expected improvement may all be of one kind. */
enum { FAMILY_FIRST = 4, FAMILY_COVERED = 12 };

/* Configs in flight: few at first, when every result changes the predictions; one more per
 * WAITING_GROWS results, up to WAITING_MAX. The initial design depends on no result, so
 * WAITING_FIXED of it may be in flight. */
enum { WAITING_FIRST = 8, WAITING_GROWS = 8, WAITING_MAX = 16, WAITING_FIXED = 32 };

/* From COVERAGE_FROM results on, one config in COVERAGE_SHARE is one that coverage asks for. The
 * goal is smaller near the copy limit, where little can be gained. */
enum { COVERAGE_FROM = 20, COVERAGE_SHARE = 2 };
static const struct at_coverage_goal goal = {.family = 24, .value = 2};
static const struct at_coverage_goal goal_near_copy = {.family = 4};

/* In a space of several families of which nothing is known, the family of which most is expected
 * would have its values covered first. So of coverage's turns, one in FAMILY_TURNS is for a family,
 * by what is expected, and the others are for values (coverage.h), until VALUE_GOAL configs have
 * had each. */
enum { FAMILY_TURNS = 6, VALUE_GOAL = 3 };
static const struct at_coverage_goal goal_of_families = {.family = 24};

/* A random draw changes at most this many parameters of the best config. The Gaussian process may
 * have rejected a good pair of values because each is poor alone. */
enum { NEAR_PARAMS = 2 };

/* If nothing tells how much may be gained, the neighbours of the CENTRES fastest configs have turns
 * by what they have gained (turns.h); after SURROUNDINGS_FROM results without gain, two in
 * SURROUNDINGS_TURNS. */
enum { SURROUNDINGS_FROM = 30, SURROUNDINGS_TURNS = 4, CENTRES = 8 };

/* The scale of the modelled values (acquisition.h); the second if nothing tells how much may be
 * gained, and the best may be far from what is known. */
static const double steepness = 3, steepness_unbounded = 2;

/* If this problem was searched before under the same conditions, its winner only needs confirming.
 * If the winner's time repeats to 3 %, stop after this many results without improvement, initial
 * design included. Times measured at two moments may differ by that much. */
enum { PATIENCE_CONFIRMING = 24 };
static const double same_time = 0.03;

static const double least_gain = 0.005; /* least expected improvement, as a share of the time */

/* Nothing is hoped for if fewer configs than `hopeless` are expected to gain `real_gain`, by
 * predictions that are as wrong as those that were held out. */
static const double real_gain = 0.01, hopeless = 1;

static const char no_gain[] = "no gain is expected that noise would not hide";
static const char confirmed[] = "it confirms the winner of an earlier search";
static const char copy_reached[] = "the best is within 1 % of the copy limit";
static const char process_full[] = "its Gaussian process holds no more results";

/* Why a config is asked for: by the initial design, which knows no prediction; for what is expected
 * of it; or by a rule, whatever is expected. */
enum basis { DESIGN, EXPECTATION, RULE };

/* What is kept of a config that was asked for. */
struct request {
    enum basis basis;
    enum at_way way;               /* if it is not of the initial design */
    struct at_prediction held_out; /* its prediction, if that is a test */
};

struct guided {
    struct at_landscape land;
    struct at_starts starts;
    struct at_acquisition *acquisition;
    struct at_patience patience;
    size_t winner;    /* the winner of an earlier search of this problem */
    double winner_ns; /* its time, if it still holds; 0: it may not */
    struct at_compiled compiled;
    struct at_design design;
    bool *uncovered; /* by config: it is asked for; updated when needed */
    struct at_value_turns value_turns;
    size_t centre;            /* the config whose neighbours are candidates; SIZE_MAX: none yet */
    bool stale;               /* results have come in since the last update */
    struct request last;      /* the config that was asked for last */
    struct request *requests; /* by config */
    struct at_calibration calibration;
    struct at_turns turns;
    const char *reason;
};

/* Are there more likely configs than the families' defaults? The others are winners. */
static bool has_warm_start(const struct guided *guided)
{
    return guided->starts.count > guided->land.region_count;
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
                                            .searched_before = start->searched_before,
                                            .warm_start = has_warm_start(guided),
                                            .gained_ns = INFINITY};
    at_design_init(&guided->design, guided->land.region_count, guided->patience.warm_start,
                   guided->winner_ns > 0);
    guided->acquisition = at_acquisition_create(&guided->land, start->seed);
    at_value_turns_init(&guided->value_turns, &guided->land, start->seed);
    guided->uncovered = at_alloc_array(space->count, sizeof *guided->uncovered);
    guided->requests = at_alloc_array(space->count, sizeof *guided->requests);
    return guided;
}

static void update_acquisition(struct guided *guided)
{
    size_t neighbours[AT_NEIGHBOURS_MAX], count, best = guided->land.best;

    if (guided->centre != best) {
        count = at_landscape_neighbours(&guided->land, best, neighbours);
        for (size_t i = 0; i < count; i++)
            at_acquisition_consider(guided->acquisition, neighbours[i]);
        guided->centre = best;
    }
    if (guided->stale)
        at_acquisition_update(guided->acquisition, at_patience_is_unbounded(&guided->patience)
                                                       ? steepness_unbounded
                                                       : steepness);
    guided->stale = false;
}

/* Has the earlier winner its earlier time, and has the search found nothing better? */
static bool is_confirmed(const struct guided *guided)
{
    const struct at_landscape *land = &guided->land;

    return guided->winner_ns > 0 && land->told[guided->winner] &&
           fabs(land->time_ns[guided->winner] - guided->winner_ns) <=
               same_time * guided->winner_ns &&
           land->asked_count >= guided->patience.gained_at + PATIENCE_CONFIRMING;
}

/* List the configs with the greatest expected improvement, among the wanted ones (NULL: all). */
static size_t find_promising(struct guided *guided, const bool *wanted,
                             struct at_improvement improvements[AT_COMPILED_CHOICE])
{
    update_acquisition(guided);
    return at_acquisition_best(guided->acquisition, wanted, improvements,
                               guided->compiled.has ? AT_COMPILED_CHOICE : 1);
}

/* Mark what coverage asks for in this one of its turns, if `ahead` values are covered before.
 * False: nothing. Sets the region whose value is covered; SIZE_MAX: it is a family's turn. */
static bool find_uncovered(const struct guided *guided, size_t turn, size_t ahead, size_t *region)
{
    const struct at_landscape *land = &guided->land;
    bool near = at_patience_is_near_copy(&guided->patience), family = turn % FAMILY_TURNS == 0;

    *region = SIZE_MAX;
    if (near || land->region_count == 1 || guided->patience.warm_start)
        return at_coverage_mark(land, near ? goal_near_copy : goal, guided->uncovered);
    if (family && at_coverage_mark(land, goal_of_families, guided->uncovered))
        return true;
    *region = at_value_turns_mark(&guided->value_turns, land, VALUE_GOAL, ahead, guided->uncovered);
    return *region != SIZE_MAX ||
           (!family && at_coverage_mark(land, goal_of_families, guided->uncovered));
}

/* Take the config with the greatest expected improvement among those that coverage asks for. If
 * none of them is a candidate, as in a large space, take the first. */
static bool take_uncovered(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count, region;

    if (!find_uncovered(guided, land->asked_count / COVERAGE_SHARE, 0, &region))
        return false;
    if (region != SIZE_MAX)
        guided->value_turns.taken[region]++;
    count = find_promising(guided, guided->uncovered, improvements);
    *index = count > 0 ? at_compiled_choose(&guided->compiled, improvements, count) : 0;
    while (!guided->uncovered[*index])
        ++*index;
    return at_design_take_instead(&guided->design, land, &guided->starts.rng, FAMILY_COVERED,
                                  index) ||
           at_landscape_take(land, *index);
}

/* Take a neighbour of the best config, unless that is near the copy limit. So a search ends with a
 * config that is better than all that differ in one parameter. */
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

/* Mark the neighbours of the fastest configs, if nothing tells how much may be gained; false: none.
 */
static bool find_surroundings(const struct guided *guided)
{
    return at_patience_is_unbounded(&guided->patience) &&
           at_surroundings_mark(&guided->land, CENTRES, guided->uncovered);
}

static bool is_turn_of_surroundings(const struct guided *guided)
{
    size_t asked = guided->land.asked_count, turn = asked % SURROUNDINGS_TURNS;

    return asked >= guided->patience.gained_at + SURROUNDINGS_FROM
               ? turn == 0 || turn == SURROUNDINGS_TURNS - 1
               : at_turns_go_around(&guided->turns);
}

/* Take the neighbour of the fastest configs with the greatest expected improvement, if it is their
 * turn. */
static bool take_surroundings(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count;

    if (!is_turn_of_surroundings(guided) || !find_surroundings(guided))
        return false;
    for (size_t i = 0; i < land->space->count; i++)
        if (guided->uncovered[i])
            at_acquisition_consider(guided->acquisition, i);
    count = find_promising(guided, guided->uncovered, improvements);
    *index = at_compiled_choose(&guided->compiled, improvements, count);
    guided->last.way = AT_WAY_AROUND;
    return at_landscape_take(land, *index);
}

/* Take this config by what is expected, unless too little is known of its family. */
static bool take_of_family(struct guided *guided, size_t *index)
{
    if (at_design_take_instead(&guided->design, &guided->land, &guided->starts.rng, FAMILY_FIRST,
                               index)) {
        guided->last.basis = DESIGN;
        return true;
    }
    return at_landscape_take(&guided->land, *index);
}

/* Has the search gone on long enough without improvement? */
static bool is_over(const struct guided *guided)
{
    size_t results = guided->land.asked_count;

    return at_patience_is_over(&guided->patience, results) ||
           (at_patience_may_end(&guided->patience, results) &&
            at_acquisition_hopes(guided->acquisition, real_gain,
                                 at_calibration_doubt(&guided->calibration)) < hopeless);
}

/* Take a config by expected improvement. False: none is worth an evaluation for now; or ever, if no
 * result is missing. */
static bool take_by_improvement(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count = find_promising(guided, NULL, improvements);

    if (count > 0 && (improvements[0].gain >= least_gain || !is_over(guided))) {
        guided->last.basis = EXPECTATION;
        *index = at_compiled_choose(&guided->compiled, improvements, count);
        return take_of_family(guided, index);
    }
    if (take_uncovered(guided, index) || take_neighbour(guided, index))
        return true;
    if (!at_compiled_should_wait(&guided->compiled, land) && land->told_count < land->space->count)
        guided->reason = no_gain;
    return false;
}

static bool take(struct guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;

    guided->last = (struct request){.basis = DESIGN, .way = AT_WAY_MODEL};
    if (at_starts_has_likely(&guided->starts))
        return at_starts_next(&guided->starts, land, index);
    if (at_design_has_random(&guided->design))
        return at_design_take_random(&guided->design, land, &guided->starts.rng, index);
    if (land->best == SIZE_MAX) /* no correct result yet */
        return at_landscape_draw(land, &guided->starts.rng, index);
    guided->last.basis = RULE;
    if (take_surroundings(guided, index))
        return true;
    if (land->told_count >= COVERAGE_FROM && land->asked_count % COVERAGE_SHARE == 0 &&
        take_uncovered(guided, index))
        return true;
    if (at_patience_leaves_to_chance(&guided->patience, land->asked_count) &&
        at_landscape_draw_near(land, &guided->starts.rng, land->best, NEAR_PARAMS, index))
        return true;
    return take_by_improvement(guided, index);
}

static bool may_ask(struct guided *guided)
{
    const struct at_landscape *land = &guided->land;
    size_t most = WAITING_FIRST + land->told_count / WAITING_GROWS;

    if (land->best != SIZE_MAX &&
        at_patience_reaches_copy(&guided->patience, land->time_ns[land->best]))
        guided->reason = copy_reached;
    if (is_confirmed(guided)) {
        if (!at_compiled_should_wait(&guided->compiled, land))
            guided->reason = confirmed;
        return false;
    }
    if (most > WAITING_MAX)
        most = WAITING_MAX;
    if (at_starts_has_likely(&guided->starts) || at_design_has_random(&guided->design))
        most = WAITING_FIXED;
    return !guided->reason && at_landscape_waiting(land) < most;
}

static bool ask(void *state, size_t *index)
{
    struct guided *guided = state;

    if (!may_ask(guided) || !take(guided, index))
        return false;
    if (guided->last.basis == RULE)
        guided->last.held_out = at_acquisition_predict(guided->acquisition, *index);
    if (guided->last.basis != DESIGN)
        guided->turns.taken[guided->last.way]++;
    guided->requests[*index] = guided->last;
    if (!at_acquisition_add(guided->acquisition, *index))
        guided->reason = process_full;
    return true;
}

static double expect(const void *state, size_t index)
{
    const struct guided *guided = state;

    return guided->last.basis == DESIGN ? 0 : at_acquisition_expect(guided->acquisition, index);
}

/* Add an index once. */
static void add_once(size_t *indices, size_t *count, size_t index)
{
    for (size_t i = 0; i < *count; i++)
        if (indices[i] == index)
            return;
    indices[(*count)++] = index;
}

/* List what coverage would choose in its next turns, at most `most`; returns how many. */
static size_t expect_uncovered(const struct guided *guided, struct at_improvement *wanted,
                               size_t most)
{
    size_t turn = guided->land.asked_count / COVERAGE_SHARE + 1, count = 0, ahead = 0, region;

    for (size_t i = 0; i < most / 2 && find_uncovered(guided, turn + i, ahead, &region); i++) {
        count += at_acquisition_best(guided->acquisition, guided->uncovered, &wanted[count], 1);
        ahead += region != SIZE_MAX;
    }
    return count;
}

/* Alternate between the greatest expected improvement, what coverage asks for, and the surroundings
 * of the fastest configs. */
static size_t likely_next(const void *state, size_t *indices, size_t most)
{
    const struct guided *guided = state;
    struct at_improvement expected[AT_NEXT_MAX], wanted[AT_NEXT_MAX], near[AT_NEXT_MAX];
    size_t count = 0, expected_count, wanted_count = 0, near_count = 0;

    if (guided->land.best == SIZE_MAX)
        return 0;
    most = most < AT_NEXT_MAX ? most : AT_NEXT_MAX;
    expected_count = at_acquisition_best(guided->acquisition, NULL, expected, most);
    wanted_count = expect_uncovered(guided, wanted, most);
    if (find_surroundings(guided))
        near_count = at_acquisition_best(guided->acquisition, guided->uncovered, near, most);
    for (size_t i = 0; i < most; i++) {
        if (i < expected_count && count < most)
            add_once(indices, &count, expected[i].index);
        if (i < wanted_count && count < most)
            add_once(indices, &count, wanted[i].index);
        if (i < near_count && count < most)
            add_once(indices, &count, near[i].index);
    }
    return count;
}

/* Learn from a result how good its prediction was, and which way gains. */
static void learn(struct guided *guided, size_t index)
{
    const struct request *request = &guided->requests[index];
    double time_ns = guided->land.time_ns[index];
    bool gained = at_patience_tell(&guided->patience, time_ns, guided->land.told_count);

    if (gained && request->basis != DESIGN)
        guided->turns.gained[request->way]++;
    if (request->held_out.deviation > 0)
        at_calibration_tell(&guided->calibration, at_prediction_error(&request->held_out, time_ns));
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct guided *guided = state;

    if (!guided->land.asked[index])
        at_acquisition_add(guided->acquisition, index);
    at_landscape_tell(&guided->land, index, outcome, time_ns);
    learn(guided, index);
    guided->stale = true;
}

static const char *reason(const void *state)
{
    return ((const struct guided *)state)->reason;
}

static void destroy(void *state)
{
    struct guided *guided = state;

    at_acquisition_free(guided->acquisition);
    at_value_turns_clear(&guided->value_turns);
    at_starts_clear(&guided->starts);
    at_landscape_clear(&guided->land);
    free(guided->uncovered);
    free(guided->requests);
    free(guided);
}

const struct at_strategy at_strategy_guided = {
    .name = "guided",
    .summary = "picks the highest expected improvement under a Gaussian process; stops by itself",
    .create = create,
    .ask = ask,
    .expect = expect,
    .likely_next = likely_next,
    .tell = tell,
    .reason = reason,
    .destroy = destroy,
};
