/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/coverage.h"

#include <math.h>

/* Values are covered in families whose best takes at most this many times the best time. */
static const double near_best = 1.04;

/* After n measured configs, a family's best is assumed to improve by at most hope / n: a sixth
 * after three, 2 % after 24. In the recordings, of families near the best, the best of 3, 6, 12 and
 * 24 random configs is within it of the family's best in 94, 92, 92 and 87 of 100 draws. */
static const double hope = 0.5;

/* What is covered of a family. */
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
