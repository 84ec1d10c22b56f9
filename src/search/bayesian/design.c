/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/design.h"

#include "search/starts.h"

#include <math.h>

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

bool at_design_has_random(const struct at_design *design)
{
    return design->taken < design->wanted;
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

/* Count the configs of a region that were taken, and those with each value of a parameter. */
static size_t count_taken(const struct at_landscape *land, const struct at_region *region,
                          size_t with[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX])
{
    size_t taken = 0;

    for (size_t i = region->first; i < region->first + region->count; i++) {
        const uint8_t *levels = at_landscape_levels(land, i);

        taken += land->asked[i];
        for (size_t j = 0; land->asked[i] && j < region->family->param_count; j++)
            with[j][levels[j]]++;
    }
    return taken;
}

/* How rare a config's values are among those that were taken. */
static double rarity(const uint8_t *levels, size_t params,
                     size_t with[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX])
{
    double sum = 0;

    for (size_t i = 0; i < params; i++)
        sum += 1 / (1 + (double)with[i][levels[i]]);
    return sum;
}

bool at_design_take_instead(const struct at_design *design, struct at_landscape *land,
                            struct at_rng *rng, size_t first, size_t *index)
{
    const struct at_region *region = &land->regions[land->region_of[*index]];
    size_t with[AT_PARAMS_MAX][AT_PARAM_VALUES_MAX] = {{0}}, rarest = SIZE_MAX;
    double most = 0;

    if (design->warm_start || count_taken(land, region, with) >= first)
        return false;
    for (int i = 0; i < design->draws; i++) {
        size_t drawn = region->first + at_rng_below(rng, region->count);
        double rare = rarity(at_landscape_levels(land, drawn), region->family->param_count, with);

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
