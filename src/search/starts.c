/* SPDX-License-Identifier: Apache-2.0 */
#include "search/starts.h"

#include "base/memory.h"

#include <stdlib.h>

void at_starts_init(struct at_starts *starts, const struct at_start *start)
{
    *starts = (struct at_starts){.rng = {start->seed}, .count = start->likely_count};
    if (start->likely_count > 0)
        starts->likely = at_memdup(start->likely, start->likely_count * sizeof *starts->likely);
}

void at_starts_clear(struct at_starts *starts)
{
    free(starts->likely);
    *starts = (struct at_starts){0};
}

bool at_starts_has_likely(const struct at_starts *starts)
{
    return starts->next < starts->count;
}

bool at_starts_next(struct at_starts *starts, struct at_landscape *land, size_t *index)
{
    while (at_starts_has_likely(starts)) {
        *index = starts->likely[starts->next++];
        if (at_landscape_take(land, *index))
            return true;
    }
    return at_landscape_draw(land, &starts->rng, index);
}

void at_shuffle(struct at_rng *rng, size_t *items, size_t count)
{
    for (size_t left = count; left > 1; left--) { /* Fisher and Yates */
        size_t drawn = at_rng_below(rng, left), kept = items[left - 1];

        items[left - 1] = items[drawn];
        items[drawn] = kept;
    }
}

double at_rng_fraction(struct at_rng *rng)
{
    return (double)(at_rng_next(rng) >> 11) * 0x1p-53;
}
