/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/coverage.h"

#include "base/hash.h"
#include "base/memory.h"
#include "search/landscape.h"

#include <math.h>
#include <stdlib.h>

/* With a warm start, the initial design has this many random configs of each family. */
enum { FAMILY_RANDOM_WARM = 1 };

/* Random configs at first where there is one family alone. */
enum { ONE_FAMILY = 4 };

size_t at_design_first(const struct at_numbers *numbers, size_t families)
{
    return families == 1 ? ONE_FAMILY : (size_t)numbers->first;
}

void at_design_init(struct at_design *design, const struct at_numbers *numbers, size_t families,
                    bool warm_start, bool confirms)
{
    *design = (struct at_design){.warm_start = warm_start, .draws = numbers->draws};
    if (!confirms && families > 0)
        design->wanted = warm_start      ? FAMILY_RANDOM_WARM * families
                         : families == 1 ? ONE_FAMILY
                                         : (size_t)numbers->random;
}

/* Draw a family. The chances grow as the roots of the sizes. */
static size_t draw_family(const struct at_landscape *land, struct at_rng *rng)
{
    double sum = 0, drawn;
    size_t family = 0;

    for (size_t i = 0; i < land->region_count; i++)
        sum += sqrt((double)land->regions[i].count);
    drawn = sum * at_rng_fraction(rng);
    for (; family + 1 < land->region_count; family++) {
        drawn -= sqrt((double)land->regions[family].count);
        if (drawn < 0)
            break;
    }
    return family;
}

bool at_design_take_random(struct at_design *design, struct at_landscape *land, struct at_rng *rng,
                           size_t *index)
{
    size_t turn = design->taken++;
    const struct at_region *region =
        &land->regions[design->warm_start ? turn % land->region_count : draw_family(land, rng)];

    *index = region->first + at_rng_below(rng, region->count);
    return at_landscape_take(land, *index) || at_landscape_draw(land, rng, index);
}

/* The covered part of a family. */
struct seen {
    size_t configs;
    double best_ns;                                   /* of the told ones; INFINITY: none */
    size_t level[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX]; /* configs with a parameter's value */
};

static void see(struct seen *seen, const struct at_landscape *land, const struct at_region *region)
{
    *seen = (struct seen){.best_ns = INFINITY};
    for (size_t i = region->first; i < region->first + region->count; i++) {
        const uint8_t *levels = at_landscape_levels(land, i);

        if (!land->asked[i])
            continue;
        seen->configs++;
        for (size_t j = 0; j < region->family->param_count; j++)
            seen->level[j][levels[j]]++;
        if (land->told[i])
            seen->best_ns = fmin(seen->best_ns, land->time_ns[i]);
    }
}

/* How rare a config's values are among those that were taken. */
static double rarity(const struct seen *seen, const uint8_t *levels, size_t params)
{
    double sum = 0;

    for (size_t i = 0; i < params; i++)
        sum += 1 / (1 + (double)seen->level[i][levels[i]]);
    return sum;
}

bool at_design_take_instead(const struct at_design *design, struct at_landscape *land,
                            struct at_rng *rng, size_t first, size_t *index)
{
    const struct at_region *region = &land->regions[land->region_of[*index]];
    struct seen seen;
    size_t rarest = SIZE_MAX;
    double most = 0;

    if (design->warm_start)
        return false;
    see(&seen, land, region);
    if (seen.configs >= first)
        return false;
    for (int i = 0; i < design->draws; i++) {
        size_t drawn = region->first + at_rng_below(rng, region->count);
        double rare = rarity(&seen, at_landscape_levels(land, drawn), region->family->param_count);

        if (land->asked[drawn] || rare <= most)
            continue;
        rarest = drawn;
        most = rare;
    }
    if (rarest == SIZE_MAX)
        return false;
    *index = rarest;
    return at_landscape_take(land, rarest);
}

/* Values are covered in families whose best takes at most this many times the best time. */
static const double near_best = 1.04;

/* After n measured configs, a family's best is assumed to improve by at most hope / n: a sixth
 * after three, 2 % after 24. In the recordings, this held for 94, 92, 92 and 87 of 100 draws of 3,
 * 6, 12 and 24 random configs. */
static const double hope = 0.5;

static bool has_rare_value(const struct seen *seen, const uint8_t *levels, size_t params,
                           size_t least)
{
    for (size_t i = 0; i < params; i++)
        if (seen->level[i][levels[i]] < least)
            return true;
    return false;
}

static bool mark_region(const struct at_landscape *land, const struct at_region *region,
                        struct at_coverage_goal goal, bool *wanted)
{
    struct seen seen;
    double behind;
    bool hopeful, near, any = false;

    see(&seen, land, region);
    behind = seen.best_ns / land->time_ns[land->best];
    near = behind <= near_best;
    hopeful = seen.configs < goal.family && behind <= 1 + hope / (double)seen.configs;
    for (size_t i = region->first; i < region->first + region->count; i++) {
        wanted[i] = !land->asked[i] &&
                    (hopeful || (near && has_rare_value(&seen, at_landscape_levels(land, i),
                                                        region->family->param_count, goal.value)));
        any |= wanted[i];
    }
    return any;
}

bool at_coverage_mark(const struct at_landscape *land, struct at_coverage_goal goal, bool *wanted)
{
    bool any = false;

    for (size_t i = 0; i < land->region_count && land->best != SIZE_MAX; i++)
        any |= mark_region(land, &land->regions[i], goal, wanted);
    return any;
}

/* ---- turns of values ---- */

/* A value of a parameter that is next in its family. */
struct value {
    size_t region, param, level;
    double turn; /* of the family: how many turns it has had for its size */
};

void at_value_turns_init(struct at_value_turns *turns, const struct at_landscape *land,
                         uint64_t seed)
{
    *turns = (struct at_value_turns){.seed = seed};
    turns->taken = at_alloc_array(land->region_count, sizeof *turns->taken);
}

void at_value_turns_clear(struct at_value_turns *turns)
{
    free(turns->taken);
    *turns = (struct at_value_turns){0};
}

/* Find the first value, in the order of the turns, that configs to ask for have and that fewer than
 * `goal` have had. */
static bool find_value(const struct at_value_turns *turns, const struct at_landscape *land,
                       size_t number, size_t goal, struct value *value)
{
    const struct at_region *region = &land->regions[number];
    struct seen seen;
    uint64_t first = UINT64_MAX;

    see(&seen, land, region);
    if (seen.best_ns > near_best * land->time_ns[land->best])
        return false;
    for (size_t i = region->first; i < region->first + region->count; i++)
        for (size_t j = 0; j < region->family->param_count && !land->asked[i]; j++) {
            size_t level = at_landscape_levels(land, i)[j],
                   key[] = {number, j, level, turns->taken[number]};
            uint64_t place;

            if (seen.level[j][level] >= goal)
                continue;
            place = at_hash64(key, sizeof key, turns->seed);
            if (place >= first)
                continue;
            first = place;
            value->param = j;
            value->level = level;
        }
    value->region = number;
    value->turn = (double)(turns->taken[number] + 1) / (double)region->count;
    return first < UINT64_MAX;
}

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;

    return x->turn != y->turn ? (x->turn > y->turn) - (x->turn < y->turn)
                              : (x->region > y->region) - (x->region < y->region);
}

size_t at_value_turns_mark(const struct at_value_turns *turns, const struct at_landscape *land,
                           size_t goal, size_t ahead, bool *wanted)
{
    struct value *values = at_alloc_array(land->region_count, sizeof *values), next;
    size_t count = 0;

    for (size_t i = 0; i < land->region_count && land->best != SIZE_MAX; i++)
        count += find_value(turns, land, i, goal, &values[count]);
    qsort(values, count, sizeof *values, compare_values);
    next = count > 0 ? values[ahead % count] : (struct value){.region = SIZE_MAX};
    free(values);
    for (size_t i = 0; i < land->space->count && count > 0; i++)
        wanted[i] = land->region_of[i] == next.region && !land->asked[i] &&
                    at_landscape_levels(land, i)[next.param] == next.level;
    return next.region;
}
