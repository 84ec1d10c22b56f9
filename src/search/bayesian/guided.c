/* SPDX-License-Identifier: Apache-2.0 */
/* Guided search: Bayesian optimisation. First it measures the initial design: likely configs and
 * some random ones. Then it takes the config with the greatest expected improvement
 * (acquisition.h), and every other time a config that coverage asks for (coverage.h). Where nothing
 * tells how much may be gained, it also takes neighbours of the fastest configs.
 * It stops when the expected improvement is below the noise, when it has long gained nothing, or
 * when the best reaches the copy limit. search/numbers.h has the numbers that were chosen by
 * replay. */
#include "search/bayesian/guided.h"

#include "base/memory.h"
#include "search/bayesian/acquisition.h"
#include "search/bayesian/coverage.h"
#include "search/landscape.h"
#include "search/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Results in a row without improvement after which the search may stop; a Gaussian process may be
 * sure and wrong. The more may be gained, the more results. Fewest if this problem was searched
 * before: its winner only needs confirming. Most if nothing tells how much may be gained. Otherwise
 * fewest if the best is within near_copy of the copy limit, more with a warm start, and most
 * without one. Less than `noise` is no improvement: medians of five trains repeat to some 5 in 1000
 * (doc/measurement.md). */
enum {
    PATIENCE_LEAST = 30,
    PATIENCE_WARM = 60,
    PATIENCE_UNBOUNDED_WARM = 120,
    PATIENCE_COLD = 120
};

static const double near_copy = 1.04;

/* Beyond this many times the copy limit, the limit does not tell how much can be gained. On a
 * recorded cast of an H200, some searches end in a family whose best takes 1.33 times the limit,
 * and another one's takes 1.19 times: 60 of 60 came within 1 % of the best, and with 1.5 only 49.
 * On 23 recorded moves as many do as with 1.5, in as many evaluations. */
static const double far_from_copy = 1.25;

static const double noise = 0.003;

/* When patience is over, a search continues for expected gains and for coverage, up to this many
 * such results. On the recordings of an H200 as many searches come within 1 % of the best as
 * without this end, and fewer with 120. */
enum { EXHAUSTED = 150 };

/* After CHANCE_FROM such results, one config in CHANCE_SHARE is drawn at random. */
enum { CHANCE_FROM = 60, CHANCE_SHARE = 2 };

/* The copy limit is reached when the best is within this share of it. Launches shorter than
 * short_ns are short. */
static const double copy_share = 0.01, short_ns = 20000;

bool at_patience_tell(struct at_patience *patience, double time_ns, size_t results)
{
    if (!(time_ns < patience->gained_ns * (1 - noise)))
        return false;
    patience->gained_ns = time_ns;
    patience->gained_at = results;
    return true;
}

bool at_patience_is_short(const struct at_patience *patience)
{
    return patience->gained_ns < short_ns;
}

bool at_patience_is_near_copy(const struct at_patience *patience)
{
    return !at_patience_is_short(patience) && patience->gained_ns < near_copy * patience->copy_ns;
}

bool at_patience_is_unbounded(const struct at_patience *patience)
{
    return !patience->searched_before &&
           (patience->copy_ns == 0 || (!at_patience_is_short(patience) &&
                                       patience->gained_ns > far_from_copy * patience->copy_ns));
}

bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns)
{
    return patience->copy_ns >= short_ns && best_ns <= patience->copy_ns * (1 + copy_share);
}

static size_t count_enough(const struct at_patience *patience)
{
    bool unbounded = at_patience_is_unbounded(patience);

    return patience->searched_before            ? PATIENCE_LEAST
           : unbounded && patience->warm_start  ? PATIENCE_UNBOUNDED_WARM
           : unbounded                          ? (size_t)patience->numbers->patience
           : at_patience_is_near_copy(patience) ? PATIENCE_LEAST
           : patience->warm_start               ? PATIENCE_WARM
                                                : PATIENCE_COLD;
}

bool at_patience_is_over(const struct at_patience *patience, size_t results)
{
    return results >= patience->gained_at + count_enough(patience);
}

bool at_patience_may_end(const struct at_patience *patience, size_t results)
{
    /* With a bound, the last few evaluations are worth it: good configs that are left look
     * hopeless. */
    return at_patience_is_unbounded(patience) &&
           results >= patience->gained_at + (size_t)patience->numbers->hopeless;
}

bool at_patience_is_exhausted(const struct at_patience *patience, size_t results)
{
    return !at_patience_is_unbounded(patience) && results >= patience->gained_at + EXHAUSTED;
}

bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results)
{
    return !patience->searched_before && !at_patience_is_unbounded(patience) &&
           at_patience_is_short(patience) && results >= patience->gained_at + CHANCE_FROM &&
           results % CHANCE_SHARE == 0;
}

/* The number of improvements to choose from. */
enum { COMPILED_CHOICE = 64 };

enum { CENTRES_MAX = 16 };

/* Before there are gains, each way counts as having had so many. */
enum { ASSUMED = 1 };

bool at_turns_go_around(const struct at_turns *turns)
{
    return turns->taken[AT_WAY_AROUND] * (turns->gained[AT_WAY_MODEL] + ASSUMED) <=
           turns->taken[AT_WAY_MODEL] * (turns->gained[AT_WAY_AROUND] + ASSUMED);
}

/* List the fastest correct configs, fastest first, at most `most`; returns how many. */
static size_t find_fastest(const struct at_landscape *land, size_t most,
                           size_t fastest[CENTRES_MAX])
{
    const double *time_ns = land->time_ns;
    size_t count = 0;

    for (size_t i = 0; i < land->space->count; i++) {
        size_t place;

        if (!land->told[i] || isinf(time_ns[i]))
            continue;
        if (count == most && time_ns[i] >= time_ns[fastest[count - 1]])
            continue;
        count += count < most;
        for (place = count - 1; place > 0 && time_ns[fastest[place - 1]] > time_ns[i]; place--)
            fastest[place] = fastest[place - 1];
        fastest[place] = i;
    }
    return count;
}

bool at_surroundings_mark(const struct at_landscape *land, size_t centres, bool *wanted)
{
    size_t fastest[CENTRES_MAX], neighbours[AT_NEIGHBOURS_MAX];
    size_t count = find_fastest(land, centres < CENTRES_MAX ? centres : CENTRES_MAX, fastest);
    bool any = false;

    for (size_t i = 0; i < land->space->count; i++)
        wanted[i] = false;
    for (size_t i = 0; i < count; i++) {
        size_t around = at_landscape_neighbours(land, fastest[i], neighbours);

        for (size_t j = 0; j < around; j++)
            any |= wanted[neighbours[j]] = !land->asked[neighbours[j]];
    }
    return any;
}

/* A compiled config is chosen if its expected improvement is at least this share of the greatest.
 * In replays of second runs, with the time that compiling takes, 492 of 528 searches came within 1
 * % with this choice and 489 without it. The GPU waited 36 times the time of an evaluation for the
 * compiler instead of 98 times. */
static const double choice_share = 0.2;

/* Up to this many missing results are not waited for. */
enum { FEW_RESULTS = 4 };

static bool has(const struct at_compiled *compiled, size_t index)
{
    return !compiled->has || compiled->has(compiled->state, index);
}

/* Choose among improvements, sorted greatest first: the first compiled config, if not much less is
 * expected of it than of the greatest; else the greatest. */
static size_t choose(const struct at_compiled *compiled, const struct at_improvement *improvements,
                     size_t count)
{
    for (size_t i = 0; i < count && improvements[i].gain >= choice_share * improvements[0].gain;
         i++)
        if (has(compiled, improvements[i].index))
            return improvements[i].index;
    return improvements[0].index;
}

bool at_compiled_should_wait(const struct at_compiled *compiled, const struct at_landscape *land)
{
    size_t waiting = at_landscape_waiting(land);

    if (land->asked_count == land->space->count) /* then nothing is left to ask for */
        return waiting > 0;
    for (size_t i = 0; i < land->space->count && waiting > 0 && waiting <= FEW_RESULTS; i++)
        if (land->asked[i] && !land->told[i] && has(compiled, i))
            return true;
    return waiting > FEW_RESULTS;
}

/* From COVERAGE_FROM results on, one config in COVERAGE_SHARE is one that coverage asks for. The
 * goal is smaller near the copy limit, where little can be gained. */
enum { COVERAGE_FROM = 20, COVERAGE_SHARE = 2 };
static const struct at_coverage_goal goal = {.family = 24, .value = 2};
static const struct at_coverage_goal goal_near_copy = {.family = 4};

/* In a space of several families of which nothing is known, the family of which most is expected
 * would have its values covered first. So coverage has numbers.cover of COVER_OF turns, and of
 * these, one in numbers.family_turns is for a family, by what is expected, and the others are for
 * values (coverage.h), until numbers.values configs have had each. */
enum { COVER_OF = 6 };
static const struct at_coverage_goal goal_of_families = {.family = 24};

/* After numbers.around results without gain, two turns in SURROUNDINGS_TURNS are for the neighbours
 * of the fastest configs; before, they have turns by what they have gained. */
enum { SURROUNDINGS_TURNS = 4 };

/* The scale of the modelled values (acquisition.h); the second if nothing tells how much may be
 * gained, and the best may be far from what is known. */
static const double steepness = 3, steepness_unbounded = 2;

static void update_acquisition(struct at_guided *guided)
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

/* List the configs with the greatest expected improvement, among the wanted ones (NULL: all). */
static size_t promising(struct at_guided *guided, const bool *wanted,
                        struct at_improvement improvements[COMPILED_CHOICE])
{
    update_acquisition(guided);
    return at_acquisition_best(guided->acquisition, wanted, improvements,
                               guided->compiled.has ? COMPILED_CHOICE : 1);
}

static bool covers_values(const struct at_guided *guided)
{
    return guided->land.region_count > 1 && !guided->patience.warm_start &&
           !at_patience_is_near_copy(&guided->patience);
}

/* Return how many turns coverage has had when so many configs are asked for. */
static size_t count_turns(const struct at_guided *guided, size_t asked)
{
    return covers_values(guided) ? asked * (size_t)guided->numbers.cover / COVER_OF
                                 : asked / COVERAGE_SHARE;
}

/* Mark what coverage asks for in this one of its turns, if `ahead` values are covered before.
 * False: nothing. Sets the region whose value is covered; SIZE_MAX: it is a family's turn. */
static bool find_uncovered(const struct at_guided *guided, size_t turn, size_t ahead,
                           size_t *region)
{
    const struct at_landscape *land = &guided->land;
    bool near = at_patience_is_near_copy(&guided->patience),
         family = turn % (size_t)guided->numbers.family_turns == 0;

    *region = SIZE_MAX;
    if (!covers_values(guided))
        return at_coverage_mark(land, near ? goal_near_copy : goal, guided->uncovered);
    if (family && at_coverage_mark(land, goal_of_families, guided->uncovered))
        return true;
    *region = at_value_turns_mark(&guided->value_turns, land, (size_t)guided->numbers.values, ahead,
                                  guided->uncovered);
    return *region != SIZE_MAX ||
           (!family && at_coverage_mark(land, goal_of_families, guided->uncovered));
}

/* If none of the uncovered is a candidate, as in a large space, it is the first. */
static bool take_uncovered(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[COMPILED_CHOICE];
    size_t count, region;

    if (!find_uncovered(guided, count_turns(guided, land->asked_count), 0, &region))
        return false;
    if (region != SIZE_MAX)
        guided->value_turns.taken[region]++;
    count = promising(guided, guided->uncovered, improvements);
    *index = count > 0 ? choose(&guided->compiled, improvements, count) : 0;
    while (!guided->uncovered[*index])
        ++*index;
    return at_design_take_instead(&guided->design, land, &guided->land.rng,
                                  (size_t)guided->numbers.covered, index) ||
           at_landscape_take(land, *index);
}

bool at_guided_is_coverage_due(const struct at_guided *guided)
{
    size_t asked = guided->land.asked_count;

    return guided->land.told_count >= COVERAGE_FROM && asked > 0 &&
           count_turns(guided, asked) != count_turns(guided, asked - 1);
}

/* Take a neighbour of the best config, unless that is near the copy limit. So a search ends with a
 * config that is better than all that differ in one parameter. */
static bool take_neighbour(struct at_guided *guided, size_t *index)
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
static bool find_surroundings(const struct at_guided *guided)
{
    return at_patience_is_unbounded(&guided->patience) &&
           at_surroundings_mark(&guided->land, (size_t)guided->numbers.centres, guided->uncovered);
}

static bool is_turn_of_surroundings(const struct at_guided *guided)
{
    size_t asked = guided->land.asked_count, turn = asked % SURROUNDINGS_TURNS;

    return asked >= guided->patience.gained_at + (size_t)guided->numbers.around
               ? turn == 0 || turn == SURROUNDINGS_TURNS - 1
               : at_turns_go_around(&guided->turns);
}

/* Take the neighbour of the fastest configs with the greatest expected improvement, if it is their
 * turn. */
static bool take_surroundings(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[COMPILED_CHOICE];
    size_t count;

    if (!is_turn_of_surroundings(guided) || !find_surroundings(guided))
        return false;
    for (size_t i = 0; i < land->space->count; i++)
        if (guided->uncovered[i])
            at_acquisition_consider(guided->acquisition, i);
    count = promising(guided, guided->uncovered, improvements);
    *index = choose(&guided->compiled, improvements, count);
    guided->last.way = AT_WAY_AROUND;
    return at_landscape_take(land, *index);
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
static size_t expect_uncovered(const struct at_guided *guided, struct at_improvement *wanted,
                               size_t most)
{
    size_t turn = count_turns(guided, guided->land.asked_count) + 1, count = 0, ahead = 0, region;

    for (size_t i = 0; i < most / 2 && find_uncovered(guided, turn + i, ahead, &region); i++) {
        count += at_acquisition_best(guided->acquisition, guided->uncovered, &wanted[count], 1);
        ahead += region != SIZE_MAX;
    }
    return count;
}

/* Predict what is taken next, likeliest first, at most `most`: by turns of the greatest expected
 * improvement, coverage, and the surroundings of the fastest configs. Returns how many. */
static size_t likely_next(const void *state, size_t *indices, size_t most)
{
    const struct at_guided *guided = state;
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

/* Each error weighs this much of the next one, so the last thirty or so count: the predictions
 * become better as the search goes on. */
static const double memory = 0.97;

/* Before there are errors, predictions are as good as they seem: that many errors of 1. */
static const double assumed = 4;

/* Errors have heavier tails than a normal variable with their variance. */
static const double tails = 1.5;

void at_calibration_tell(struct at_calibration *calibration, double error)
{
    calibration->squares = memory * calibration->squares + error * error;
    calibration->weight = memory * calibration->weight + 1;
}

double at_calibration_doubt(const struct at_calibration *calibration)
{
    return tails * sqrt((assumed + calibration->squares) / (assumed + calibration->weight));
}

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
 * predictions are taken to be as wrong as those that were held out. So each of thousands of poor
 * configs has a small chance, and their sum is seldom below 1. On five public spaces searches end
 * after 402 results instead of 445 with 1, and 198 of 200 come within 1 % instead of 199. */
static const double real_gain = 0.01, hopeless = 20;

static const char no_gain[] = "no gain is expected that noise would not hide";
static const char confirmed[] = "it confirms the winner of an earlier search";
static const char gains_nothing[] = "it has long gained nothing";
static const char copy_reached[] = "the best is within 1 % of the copy limit";
static const char process_full[] = "its Gaussian process holds no more results";

/* Are there more likely configs than the families' defaults? The others are winners. */
static bool has_warm_start(const struct at_guided *guided)
{
    return guided->land.likely_count > guided->land.region_count;
}

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct at_guided *guided = at_alloc(sizeof *guided);

    *guided = (struct at_guided){.numbers = start->numbers ? *start->numbers : at_numbers_chosen,
                                 .winner = start->winner,
                                 .winner_ns = start->winner_ns,
                                 .compiled = start->compiled,
                                 .centre = SIZE_MAX};
    at_landscape_begin(&guided->land, space, start);
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
    if (at_design_take_instead(&guided->design, &guided->land, &guided->land.rng,
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
    struct at_improvement improvements[COMPILED_CHOICE];
    size_t count = promising(guided, NULL, improvements);

    if (count > 0 && (improvements[0].gain >= least_gain || !is_over(guided))) {
        guided->last.basis = AT_BASIS_EXPECTATION;
        *index = choose(&guided->compiled, improvements, count);
        return take_of_family(guided, index);
    }
    if (take_uncovered(guided, index) || take_neighbour(guided, index))
        return true;
    if (!at_compiled_should_wait(&guided->compiled, land) && land->told_count < land->space->count)
        guided->reason = no_gain;
    return false;
}

static bool take(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;

    guided->last = (struct at_request){.basis = AT_BASIS_DESIGN, .way = AT_WAY_MODEL};
    if (at_landscape_has_likely(&guided->land))
        return at_landscape_start(&guided->land, index);
    if (at_design_has_random(&guided->design))
        return at_design_take_random(&guided->design, land, &guided->land.rng, index);
    if (land->best == SIZE_MAX) /* no correct result yet */
        return at_landscape_draw(land, &guided->land.rng, index);
    guided->last.basis = AT_BASIS_RULE;
    if (take_surroundings(guided, index))
        return true;
    if (at_guided_is_coverage_due(guided) && take_uncovered(guided, index))
        return true;
    if (at_patience_leaves_to_chance(&guided->patience, land->asked_count) &&
        at_landscape_draw_near(land, &guided->land.rng, land->best, NEAR_PARAMS, index))
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
    if (at_landscape_has_likely(&guided->land) || at_design_has_random(&guided->design))
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

static const char *reason(const void *state)
{
    return ((const struct at_guided *)state)->reason;
}

static void destroy(void *state)
{
    struct at_guided *guided = state;

    at_acquisition_free(guided->acquisition);
    at_value_turns_clear(&guided->value_turns);
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
