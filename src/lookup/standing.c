/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/standing.h"

#include "device/relation.h"
#include "space/point.h"

#include <string.h>

/* Fields of a key, the first to decide the highest. */
enum { OTHER_PROBLEM_SHIFT, POLICY_SHIFT, PREDICTED_SHIFT, GAP_SHIFT, TIER_SHIFT = 32 };

static enum at_tier tier_of(enum at_relation relation)
{
    switch (relation) {
    case AT_SAME_DEVICE:
        return AT_TIER_SHAPE;
    case AT_SAME_CHIP:
        return AT_TIER_CHIP;
    case AT_SAME_ARCHITECTURE:
        return AT_TIER_ARCHITECTURE;
    default:
        return AT_TIER_OTHER;
    }
}

struct at_standing at_standing_of(const struct at_kind *kind, const struct at_query *query)
{
    const struct at_device_info *home = &kind->record->device;
    enum at_relation relation = at_device_relation(home, query->device);
    uint64_t gap = (uint64_t)at_architecture_gap(home, query->device) & 0xffffff;
    uint64_t other_policy = strcmp(kind->record->policy.name, query->policy) != 0;

    return (struct at_standing){
        .key = (uint64_t)tier_of(relation) << TIER_SHIFT | gap << GAP_SHIFT |
               (uint64_t)at_device_is_emulated(home) << PREDICTED_SHIFT |
               other_policy << POLICY_SHIFT | (uint64_t)1 << OTHER_PROBLEM_SHIFT,
        .same_device = relation == AT_SAME_DEVICE,
        .alike = at_point_devices_alike(home, query->device),
    };
}

uint64_t at_standing_key_of_same(const struct at_standing *standing)
{
    uint64_t key = standing->key & ~((uint64_t)1 << OTHER_PROBLEM_SHIFT);

    return standing->same_device ? key - ((uint64_t)(AT_TIER_SHAPE - AT_TIER_EXACT) << TIER_SHIFT)
                                 : key;
}

enum at_tier at_standing_tier(uint64_t key)
{
    return (enum at_tier)(key >> TIER_SHIFT);
}
