/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/design.h"

#include "search/starts.h"

#include <math.h>

/* Random configs of the initial design: with a warm start so many of each family; without one so
 * many in all, of large families above all. */
enum { FAMILY_RANDOM_WARM = 1, RANDOM_COLD = 4 };

void at_design_init(struct at_design *design, size_t families, bool warm_start, bool confirms)
{
    *design = (struct at_design){.warm_start = warm_start};
    if (!confirms && families > 0)
        design->wanted = warm_start ? FAMILY_RANDOM_WARM * families : RANDOM_COLD;
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

bool at_design_take_instead(const struct at_design *design, struct at_landscape *land,
                            struct at_rng *rng, size_t first, size_t *index)
{
    const struct at_region *region = &land->regions[land->region_of[*index]];
    size_t asked = 0, drawn;

    for (size_t i = 0; i < region->count; i++)
        asked += land->asked[region->first + i];
    if (design->warm_start || asked >= first)
        return false;
    drawn = region->first + at_rng_below(rng, region->count);
    if (!at_landscape_take(land, drawn))
        return false;
    *index = drawn;
    return true;
}
