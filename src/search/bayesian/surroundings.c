/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/surroundings.h"

#include <math.h>

/* List the fastest correct configs, fastest first, at most `most`; returns how many. */
static size_t find_fastest(const struct at_landscape *land, size_t most,
                           size_t fastest[AT_CENTRES_MAX])
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
    size_t fastest[AT_CENTRES_MAX], neighbours[AT_NEIGHBOURS_MAX];
    size_t count = find_fastest(land, centres < AT_CENTRES_MAX ? centres : AT_CENTRES_MAX, fastest);
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
