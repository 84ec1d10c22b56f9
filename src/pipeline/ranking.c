/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/ranking.h"

#include <string.h>

size_t at_rank_best(const struct at_search *search, size_t *best, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < search->space.count; i++) {
        const struct at_config_result *result = &search->results[i];
        size_t place = count;

        if (!result->done || result->outcome != AT_CORRECT)
            continue;
        while (place > 0 && search->results[best[place - 1]].time_ns > result->time_ns)
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
