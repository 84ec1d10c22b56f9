/* SPDX-License-Identifier: Apache-2.0 */
#include "search/winners.h"

#include "profile/identity.h"
#include "space/named.h"

/* What a search of fewer configs has found, such as one on a budget, may not be the best. */
enum { SEARCHED_LEAST = 100 };

static bool is_searched(const struct at_evaluations *e)
{
    return e->correct + e->compile + e->launch + e->timeout + e->crash + e->wrong + e->oom >=
           SEARCHED_LEAST;
}

static size_t recall_device(struct at_knowledge *knowledge, const struct at_device_record *record,
                            bool same_device, struct at_family *const *families,
                            size_t family_count)
{
    const struct at_entry *entries = record->problems.items;
    size_t before = knowledge->count;

    for (size_t i = 0; i < record->problems.count; i++) {
        const struct at_result_record *found = &entries[i].winner;
        struct at_winner winner = {0};

        if (same_device && is_searched(&entries[i].evaluations))
            winner.space = entries[i].evaluations.space;
        if (at_problem_parse(&winner.problem, entries[i].problem, NULL) == AT_OK &&
            at_config_from_names(&winner.config, families, family_count, found->family,
                                 &found->parameters, NULL) == AT_OK)
            at_knowledge_add(knowledge, &winner);
    }
    return knowledge->count - before;
}

size_t at_knowledge_recall(struct at_knowledge *knowledge, const struct at_profiles *profiles,
                           const struct at_device_info *device, struct at_family *const *families,
                           size_t family_count)
{
    size_t taken = 0;

    for (int relation = AT_SAME_DEVICE; relation <= AT_SAME_ARCHITECTURE; relation++)
        for (size_t i = 0; i < profiles->count; i++) {
            const struct at_list *devices = &profiles->files[i].profile.devices;
            const struct at_device_record *records = devices->items;

            for (size_t j = 0; j < devices->count; j++)
                if ((int)at_device_relation(device, &records[j].device) == relation)
                    taken += recall_device(knowledge, &records[j], relation == AT_SAME_DEVICE,
                                           families, family_count);
        }
    return taken;
}
