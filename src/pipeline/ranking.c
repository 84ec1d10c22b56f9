/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/ranking.h"

#include <string.h>

size_t at_rank_best(const struct at_search *search, size_t *best, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < search->space.count; i++) {
        const struct at_candidate *candidate = &search->candidates[i];
        size_t place = count;

        if (!candidate->done || candidate->outcome != AT_CORRECT)
            continue;
        while (place > 0 && search->candidates[best[place - 1]].time_ns > candidate->time_ns)
            place--;
        if (place == most)
            continue;
        if (count < most)
            count++;
        memmove(best + place + 1, best + place, (count - 1 - place) * sizeof *best);
        best[place] = i;
    }
    return count;
}
