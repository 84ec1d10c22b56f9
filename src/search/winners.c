/* SPDX-License-Identifier: Apache-2.0 */
#include "search/winners.h"

#include "profile/identity.h"
#include "space/named.h"

static size_t recall_device(struct at_knowledge *knowledge, const struct at_device_record *record,
                            struct at_family *const *families, size_t family_count)
{
    const struct at_entry *entries = record->problems.items;
    size_t before = knowledge->count;

    for (size_t i = 0; i < record->problems.count; i++) {
        const struct at_result_record *winner = &entries[i].winner;
        struct at_problem problem;
        struct at_config config;

        if (at_problem_parse(&problem, entries[i].problem, NULL) == AT_OK &&
            at_config_from_names(&config, families, family_count, winner->family,
                                 &winner->parameters, NULL) == AT_OK)
            at_knowledge_add(knowledge, &problem, &config, false);
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
                    taken += recall_device(knowledge, &records[j], families, family_count);
        }
    return taken;
}
