/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/warm_profiles.h"

#include "device/relation.h"
#include "profile/newest.h"
#include "space/named.h"

#include <string.h>

/* The result of a search of fewer configs may not be the best, unless it ended by itself. */
enum { SEARCHED_LEAST = 100 };

static bool is_searched(const struct at_entry *entry)
{
    return entry->ended == AT_ENDED_SETTLED || entry->ended == AT_ENDED_EXHAUSTED ||
           at_evaluations_total(&entry->evaluations) >= SEARCHED_LEAST;
}

/* Is everything unchanged that a time depends on besides the kernel? */
static bool is_unchanged(const struct at_device_record *record, const struct at_device_record *now)
{
    return at_device_relation(&now->device, &record->device) == AT_SAME_DEVICE &&
           memcmp(&record->environment, &now->environment, sizeof now->environment) == 0 &&
           strcmp(record->policy.name, now->policy.name) == 0;
}

struct reading {
    const struct at_session *session;
    const struct at_device_record *record, *now; /* record NULL: nothing is known of where it was */
};

/* Is the config's kernel the one that was measured? */
static bool is_same_kernel(const struct reading *reading, const struct at_winner *winner,
                           const char *measured)
{
    char hash[AT_SHORT_HASH_CHARS];

    at_session_hash_kernel(hash, reading->session, &winner->config, &winner->problem);
    return strcmp(hash, measured) == 0;
}

static bool read_winner(struct at_warm_start *warm_start, const struct reading *reading,
                        const struct at_entry *entry)
{
    const struct at_session_options *options = &reading->session->options;
    const struct at_result_record *found = &entry->winner;
    struct at_winner winner = {0};

    if (at_problem_parse(&winner.problem, entry->problem, NULL) != AT_OK ||
        at_config_from_names(&winner.config, options->families, options->family_count,
                             found->family, &found->parameters, NULL) != AT_OK)
        return false;
    if (reading->record &&
        at_device_relation(&reading->now->device, &reading->record->device) == AT_SAME_DEVICE &&
        is_searched(entry))
        winner.space = entry->evaluations.configs;
    if (winner.space > 0 && is_unchanged(reading->record, reading->now) &&
        is_same_kernel(reading, &winner, found->kernel))
        winner.time_ns = (double)found->time_ns;
    at_warm_start_add(warm_start, &winner);
    return true;
}

static void read_copy(struct at_warm_start *copies, const struct reading *reading,
                      const struct at_entry *entry)
{
    const struct at_session_options *options = &reading->session->options;
    struct at_winner copy = {0};
    struct at_problem problem;

    if (at_problem_parse(&problem, entry->problem, NULL) != AT_OK ||
        at_config_parse(&copy.config, options->families, options->family_count, entry->copy.method,
                        NULL) != AT_OK)
        return;
    copy.problem = at_problem_copy_of(&problem);
    if (reading->record && is_unchanged(reading->record, reading->now) &&
        is_same_kernel(reading, &copy, entry->copy.kernel))
        copy.time_ns = (double)entry->copy.time_ns;
    at_warm_start_add(copies, &copy);
}

static size_t read_entries(struct at_session *session, const struct reading *reading,
                           const struct at_list *list)
{
    const struct at_entry *entries = list->items;
    size_t taken = 0;

    for (size_t i = 0; i < list->count; i++) {
        taken += read_winner(&session->warm_start, reading, &entries[i]);
        read_copy(&session->copy_warm_start, reading, &entries[i]);
    }
    return taken;
}

size_t at_warm_profiles_read(struct at_session *session, const struct at_profiles *profiles,
                             const struct at_device_record *now)
{
    size_t taken = 0;

    for (int relation = AT_SAME_DEVICE; relation <= AT_SAME_ARCHITECTURE; relation++)
        for (size_t i = 0; i < profiles->count; i++) {
            const struct at_list *devices = &profiles->files[i].profile.devices;
            const struct at_device_record *records = devices->items;

            for (size_t j = 0; j < devices->count; j++)
                if ((int)at_device_relation(&now->device, &records[j].device) == relation)
                    taken += read_entries(session, &(struct reading){session, &records[j], now},
                                          &records[j].problems);
        }
    return taken;
}

void at_incumbents_read(struct at_session *session, const struct at_profile *profile,
                        const struct at_device_record *now)
{
    const struct reading reading = {.session = session};
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count && at_same_place(&records[i], now); j++)
            read_winner(&session->incumbents, &reading, &entries[j]);
    }
}

void at_warm_profiles_add(struct at_session *session, const struct at_list *entries)
{
    read_entries(session, &(struct reading){.session = session}, entries);
}
