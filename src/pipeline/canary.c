/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/canary.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Times of one kernel from two periods differ by 1 to 3 % on a quiet H200. */
static const double drift_share = 0.03;

static const double under_copy = 0.95, under_best = 0.80;

void at_canary_touch(struct at_canary *canary, size_t index)
{
    AT_PUSH(canary->touched, canary->count, canary->capacity, index);
}

bool at_canary_drifted(struct at_canary *canary, double now_ns, size_t **touched, size_t *count)
{
    bool drifted = canary->reference_ns > 0 &&
                   fabs(now_ns - canary->reference_ns) > drift_share * canary->reference_ns;

    if (drifted || canary->reference_ns <= 0)
        canary->reference_ns = now_ns;
    if (!drifted) {
        canary->count = 0;
        return false;
    }
    *touched = canary->touched;
    *count = canary->count;
    canary->touched = NULL;
    canary->count = canary->capacity = 0;
    return true;
}

void at_canary_clear(struct at_canary *canary)
{
    free(canary->touched);
    *canary = (struct at_canary){0};
}

bool at_is_suspicious(double time_ns, double copy_ns, double best_ns)
{
    if (best_ns > 0 && time_ns >= best_ns)
        return false;
    return time_ns < under_copy * copy_ns || time_ns < under_best * best_ns;
}
