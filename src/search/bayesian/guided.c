/* SPDX-License-Identifier: Apache-2.0 */
/* Guided search: Bayesian optimisation. First it measures the initial design: likely configs and
 * some random ones. Then it takes the config with the greatest expected improvement
 * (acquisition.h), and every other time a config that coverage asks for (coverage.h). Where nothing
 * tells how much may be gained, it also takes neighbours of the fastest configs (surroundings.h).
 * It stops when the expected improvement is below the noise, when it has long gained nothing, or
 * when the best reaches the copy limit. search/numbers.h has the numbers that were chosen by
 * replay. */
#include "base/memory.h"
#include "search/bayesian/ways.h"

#include <math.h>
#include <stdlib.h>

/* Configs in flight: few at first, when every result changes the predictions; one more per
 * WAITING_GROWS results, up to WAITING_MAX. The initial design depends on no result, so
 * WAITING_FIXED of it may be in flight. */
enum { WAITING_FIRST = 8, WAITING_GROWS = 8, WAITING_MAX = 16, WAITING_FIXED = 32 };

/* A random draw changes at most this many parameters of the best config. The Gaussian process may
 * have rejected a good pair of values because each is poor alone. */
enum { NEAR_PARAMS = 2 };

/* If this problem was searched before under the same conditions, its winner only needs confirming.
 * If the winner's time repeats to 3 %, stop after this many results without improvement, initial
 * design included. Times measured at two moments may differ by that much. */
enum { PATIENCE_CONFIRMING = 24 };
static const double same_time = 0.03;

static const double least_gain = 0.005; /* least expected improvement, as a share of the time */

/* No gain is expected if fewer configs than `hopeless` are expected to gain `real_gain`. The
 * predictions are taken to be as wrong as those that were held out. */
static const double real_gain = 0.01, hopeless = 1;

static const char no_gain[] = "no gain is expected that noise would not hide";
static const char confirmed[] = "it confirms the winner of an earlier search";
static const char gains_nothing[] = "it has long gained nothing";
static const char copy_reached[] = "the best is within 1 % of the copy limit";
static const char process_full[] = "its Gaussian process holds no more results";

/* Are there more likely configs than the families' defaults? The others are winners. */
static bool has_warm_start(const struct at_guided *guided)
{
    return guided->starts.count > guided->land.region_count;
}

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct at_guided *guided = at_alloc(sizeof *guided);

    *guided = (struct at_guided){.numbers = start->numbers ? *start->numbers : at_numbers_chosen,
                                 .winner = start->winner,
                                 .winner_ns = start->winner_ns,
                                 .compiled = start->compiled,
                                 .centre = SIZE_MAX};
    at_landscape_init(&guided->land, space);
    at_starts_init(&guided->starts, start);
    guided->patience = (struct at_patience){.numbers = &guided->numbers,
                                            .copy_ns = start->copy_ns,
                                            .searched_before = start->searched_before,
                                            .warm_start = has_warm_start(guided),
                                            .gained_ns = INFINITY};
    at_design_init(&guided->design, &guided->numbers, guided->land.region_count,
                   guided->patience.warm_start, guided->winner_ns > 0);
    guided->acquisition = at_acquisition_create(&guided->land, start->seed);
    at_value_turns_init(&guided->value_turns, &guided->land, start->seed);
    guided->uncovered = at_alloc_array(space->count, sizeof *guided->uncovered);
    guided->requests = at_alloc_array(space->count, sizeof *guided->requests);
    return guided;
}

/* Has the earlier winner its earlier time, and has the search found nothing better? */
static bool is_confirmed(const struct at_guided *guided)
{
    const struct at_landscape *land = &guided->land;

    return guided->winner_ns > 0 && land->told[guided->winner] &&
           fabs(land->time_ns[guided->winner] - guided->winner_ns) <=
               same_time * guided->winner_ns &&
           land->asked_count >= guided->patience.gained_at + PATIENCE_CONFIRMING;
}

/* Take this config by its expected improvement, unless its family has too few results. */
static bool take_of_family(struct at_guided *guided, size_t *index)
{
    if (at_design_take_instead(&guided->design, &guided->land, &guided->starts.rng,
                               at_design_first(&guided->numbers, guided->land.region_count),
                               index)) {
        guided->last.basis = AT_BASIS_DESIGN;
        return true;
    }
    return at_landscape_take(&guided->land, *index);
}

/* Has the search gone on long enough without improvement? */
static bool is_over(const struct at_guided *guided)
{
    size_t results = guided->land.asked_count;

    return at_patience_is_over(&guided->patience, results) ||
           (at_patience_may_end(&guided->patience, results) &&
            at_acquisition_hopes(guided->acquisition, real_gain,
                                 at_calibration_doubt(&guided->calibration)) < hopeless);
}

/* Take a config by expected improvement. False: none is worth an evaluation for now; or ever, if no
 * result is missing. */
static bool take_by_improvement(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count = at_guided_promising(guided, NULL, improvements);

    if (count > 0 && (improvements[0].gain >= least_gain || !is_over(guided))) {
        guided->last.basis = AT_BASIS_EXPECTATION;
        *index = at_compiled_choose(&guided->compiled, improvements, count);
        return take_of_family(guided, index);
    }
    if (at_guided_take_uncovered(guided, index) || at_guided_take_neighbour(guided, index))
        return true;
    if (!at_compiled_should_wait(&guided->compiled, land) && land->told_count < land->space->count)
        guided->reason = no_gain;
    return false;
}

static bool take(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;

    guided->last = (struct at_request){.basis = AT_BASIS_DESIGN, .way = AT_WAY_MODEL};
    if (at_starts_has_likely(&guided->starts))
        return at_starts_next(&guided->starts, land, index);
    if (at_design_has_random(&guided->design))
        return at_design_take_random(&guided->design, land, &guided->starts.rng, index);
    if (land->best == SIZE_MAX) /* no correct result yet */
        return at_landscape_draw(land, &guided->starts.rng, index);
    guided->last.basis = AT_BASIS_RULE;
    if (at_guided_take_surroundings(guided, index))
        return true;
    if (at_guided_is_coverage_due(guided) && at_guided_take_uncovered(guided, index))
        return true;
    if (at_patience_leaves_to_chance(&guided->patience, land->asked_count) &&
        at_landscape_draw_near(land, &guided->starts.rng, land->best, NEAR_PARAMS, index))
        return true;
    return take_by_improvement(guided, index);
}

static bool may_ask(struct at_guided *guided)
{
    const struct at_landscape *land = &guided->land;
    size_t most = WAITING_FIRST + land->told_count / WAITING_GROWS;

    if (land->best != SIZE_MAX &&
        at_patience_reaches_copy(&guided->patience, land->time_ns[land->best]))
        guided->reason = copy_reached;
    else if (at_patience_is_exhausted(&guided->patience, land->asked_count))
        guided->reason = gains_nothing;
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
    struct at_guided *guided = state;

    if (!may_ask(guided) || !take(guided, index))
        return false;
    if (guided->last.basis == AT_BASIS_RULE)
        guided->last.held_out = at_acquisition_predict(guided->acquisition, *index);
    if (guided->last.basis != AT_BASIS_DESIGN)
        guided->turns.taken[guided->last.way]++;
    guided->requests[*index] = guided->last;
    if (!at_acquisition_add(guided->acquisition, *index))
        guided->reason = process_full;
    return true;
}

static double expect(const void *state, size_t index)
{
    const struct at_guided *guided = state;

    return guided->last.basis == AT_BASIS_DESIGN
               ? 0
               : at_acquisition_expect(guided->acquisition, index);
}

/* Learn from a result how good its prediction was, and which way gains. */
static void learn(struct at_guided *guided, size_t index)
{
    const struct at_request *request = &guided->requests[index];
    double time_ns = guided->land.time_ns[index];
    bool gained = at_patience_tell(&guided->patience, time_ns, guided->land.told_count);

    if (gained && request->basis != AT_BASIS_DESIGN)
        guided->turns.gained[request->way]++;
    if (request->held_out.deviation > 0)
        at_calibration_tell(&guided->calibration, at_prediction_error(&request->held_out, time_ns));
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct at_guided *guided = state;

    if (!guided->land.asked[index])
        at_acquisition_add(guided->acquisition, index);
    at_landscape_tell(&guided->land, index, outcome, time_ns);
    learn(guided, index);
    guided->stale = true;
}

static size_t likely_next(const void *state, size_t *indices, size_t most)
{
    return at_guided_next(state, indices, most);
}

static const char *reason(const void *state)
{
    return ((const struct at_guided *)state)->reason;
}

static void destroy(void *state)
{
    struct at_guided *guided = state;

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
