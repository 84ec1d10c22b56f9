/* SPDX-License-Identifier: Apache-2.0 */
#include "search/coverage.h"

/* Which values of a family's parameters its configs taken so far have. */
struct tried {
    bool level[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX];
};

static void find_tried(const struct at_landscape *land, const struct at_region *region,
                       struct tried *tried)
{
    *tried = (struct tried){0};
    for (size_t i = region->first; i < region->first + region->count; i++) {
        const uint8_t *levels = at_landscape_levels(land, i);

        if (land->asked[i])
            for (size_t j = 0; j < region->family->param_count; j++)
                tried->level[j][levels[j]] = true;
    }
}

/* The family's fastest; SIZE_MAX: none is known. */
static size_t find_best(const struct at_landscape *land, const struct at_region *region)
{
    size_t best = SIZE_MAX;

    for (size_t i = region->first; i < region->first + region->count; i++)
        if (land->told[i] && (best == SIZE_MAX || land->time_ns[i] < land->time_ns[best]))
            best = i;
    return best;
}

static bool has_new_value(const uint8_t *levels, const struct tried *tried, size_t params)
{
    for (size_t i = 0; i < params; i++)
        if (!tried->level[i][levels[i]])
            return true;
    return false;
}

static size_t find_untried(const struct at_landscape *land, const struct at_region *region,
                           size_t best)
{
    struct tried tried;
    size_t found = SIZE_MAX, least = SIZE_MAX;

    find_tried(land, region, &tried);
    for (size_t i = region->first; i < region->first + region->count; i++) {
        size_t differing = at_landscape_differing(land, i, best);

        if (differing >= least ||
            !has_new_value(at_landscape_levels(land, i), &tried, region->family->param_count))
            continue;
        found = i;
        least = differing;
    }
    return found;
}

bool at_coverage_take(struct at_landscape *land, double within, size_t *index)
{
    for (size_t i = 0; i < land->region_count && land->best != SIZE_MAX; i++) {
        size_t best = find_best(land, &land->regions[i]);

        if (best == SIZE_MAX || !(land->time_ns[best] <= within * land->time_ns[land->best]))
            continue;
        *index = find_untried(land, &land->regions[i], best);
        if (*index != SIZE_MAX)
            return at_landscape_take(land, *index);
    }
    return false;
}
