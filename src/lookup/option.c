/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/option.h"

#include "space/space.h"

bool at_known_holds(struct at_known *known, int64_t elem_size)
{
    if (!((known->held | known->broken) & elem_size)) {
        if (at_config_require_inherent(&known->config, elem_size, NULL) == AT_OK)
            known->held |= elem_size;
        else
            known->broken |= elem_size;
    }
    return known->held & elem_size;
}

bool at_known_fit(const struct at_lookup *lookup, uint32_t number, struct at_point *point,
                  struct at_option *option)
{
    struct at_known *known = &lookup->configs[number];

    option->config = known->config;
    return at_known_holds(known, point->problem->elem_size) &&
           at_config_adapt(&option->config, point, &option->launch);
}

enum at_status at_default_find(const struct at_lookup *lookup, const struct at_query *query,
                               struct at_option *option, struct at_error *err)
{
    struct at_option found = {.mark = NULL};
    enum at_status status = at_space_default(&found.config, lookup->families, lookup->family_count,
                                             query->problem, query->device, err);

    if (status == AT_OK)
        status = at_config_launch(&found.config, query->problem, query->device, &found.launch, err);
    if (status == AT_OK)
        *option = found;
    return status;
}

void at_default_take(struct at_answer *answer, const struct at_option *option)
{
    answer->tier = AT_TIER_DEFAULT;
    answer->config = option->config;
    answer->launch = option->launch;
}
