/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/ways.h"

#include "search/bayesian/surroundings.h"

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
 * of the fastest configs; before, they have turns by what they have gained (turns.h). */
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

size_t at_guided_promising(struct at_guided *guided, const bool *wanted,
                           struct at_improvement improvements[AT_COMPILED_CHOICE])
{
    update_acquisition(guided);
    return at_acquisition_best(guided->acquisition, wanted, improvements,
                               guided->compiled.has ? AT_COMPILED_CHOICE : 1);
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
bool at_guided_take_uncovered(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count, region;

    if (!find_uncovered(guided, count_turns(guided, land->asked_count), 0, &region))
        return false;
    if (region != SIZE_MAX)
        guided->value_turns.taken[region]++;
    count = at_guided_promising(guided, guided->uncovered, improvements);
    *index = count > 0 ? at_compiled_choose(&guided->compiled, improvements, count) : 0;
    while (!guided->uncovered[*index])
        ++*index;
    return at_design_take_instead(&guided->design, land, &guided->starts.rng,
                                  (size_t)guided->numbers.covered, index) ||
           at_landscape_take(land, *index);
}

bool at_guided_is_coverage_due(const struct at_guided *guided)
{
    size_t asked = guided->land.asked_count;

    return guided->land.told_count >= COVERAGE_FROM && asked > 0 &&
           count_turns(guided, asked) != count_turns(guided, asked - 1);
}

bool at_guided_take_neighbour(struct at_guided *guided, size_t *index)
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

bool at_guided_take_surroundings(struct at_guided *guided, size_t *index)
{
    struct at_landscape *land = &guided->land;
    struct at_improvement improvements[AT_COMPILED_CHOICE];
    size_t count;

    if (!is_turn_of_surroundings(guided) || !find_surroundings(guided))
        return false;
    for (size_t i = 0; i < land->space->count; i++)
        if (guided->uncovered[i])
            at_acquisition_consider(guided->acquisition, i);
    count = at_guided_promising(guided, guided->uncovered, improvements);
    *index = at_compiled_choose(&guided->compiled, improvements, count);
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

size_t at_guided_next(const struct at_guided *guided, size_t *indices, size_t most)
{
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
