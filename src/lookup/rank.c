/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/rank.h"

#include "device/relation.h"

#include <string.h>

/* Fields of a rank, the last to decide first. */
enum { OTHER_PROBLEM_SHIFT, POLICY_SHIFT, PREDICTED_SHIFT, GAP_SHIFT, TIER_SHIFT = 32 };

enum at_tier at_tier_of(const struct at_device_info *tuned, const struct at_device_info *device,
                        bool same_problem)
{
    switch (at_device_relation(tuned, device)) {
    case AT_SAME_DEVICE:
        return same_problem ? AT_TIER_EXACT : AT_TIER_SHAPE;
    case AT_SAME_CHIP:
        return AT_TIER_CHIP;
    case AT_SAME_ARCHITECTURE:
        return AT_TIER_ARCHITECTURE;
    default:
        return AT_TIER_OTHER;
    }
}

uint64_t at_rank_of(const struct at_device_record *record, bool emulated,
                    const struct at_query *query, bool same_problem)
{
    enum at_tier tier = at_tier_of(&record->device, query->device, same_problem);
    bool together = tier == AT_TIER_CHIP && !query->strict; /* with the entries of this model */
    uint64_t gap = (uint64_t)at_architecture_gap(&record->device, query->device) & 0xffffff;
    uint64_t other_policy = strcmp(record->policy.name, query->policy) != 0;

    return (uint64_t)(together ? AT_TIER_SHAPE : tier) << TIER_SHIFT | gap << GAP_SHIFT |
           (uint64_t)emulated << PREDICTED_SHIFT | other_policy << POLICY_SHIFT |
           (uint64_t)(together || !same_problem) << OTHER_PROBLEM_SHIFT;
}

float at_rank_premium(const struct at_device_record *record, const struct at_query *query)
{
    return at_device_relation(&record->device, query->device) == AT_SAME_CHIP ? 16 : 0;
}

enum at_tier at_rank_tier(uint64_t rank)
{
    return (enum at_tier)(rank >> TIER_SHIFT);
}

bool at_rank_is_of_others(uint64_t rank)
{
    return rank >> OTHER_PROBLEM_SHIFT & 1;
}
