/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff.h"

#include "base/memory.h"
#include "device/relation.h"
#include "profile/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const at_change_names[] = {"removed", "added", "config", "time"};

static bool is_timed(const struct at_difference *difference)
{
    return difference->from && difference->to && at_entry_is_measured(difference->from) &&
           at_entry_is_measured(difference->to);
}

static double ratio(const struct at_difference *difference)
{
    return (double)difference->to->winner.time_ns / (double)difference->from->winner.time_ns;
}

int64_t at_difference_permille(const struct at_difference *difference)
{
    return is_timed(difference) ? llround(1000 * (ratio(difference) - 1)) : 0;
}

/* A spread is the interquartile range over the median. 1 is for rounding. */
bool at_difference_is_clear(const struct at_difference *difference)
{
    int64_t spreads =
        difference->from->winner.spread_permille + difference->to->winner.spread_permille + 1;

    return llabs(at_difference_permille(difference)) > spreads;
}

const char *at_difference_verdict(const struct at_difference *difference)
{
    if (!is_timed(difference))
        return "";
    if (!at_difference_is_clear(difference))
        return "alike";
    return at_difference_permille(difference) > 0 ? "slower" : "faster";
}

static bool same_subject(const struct at_device_record *a, const struct at_device_record *b)
{
    return strcmp(a->policy.name, b->policy.name) == 0 &&
           strcmp(a->device.kind, b->device.kind) == 0 &&
           at_device_relation(&a->device, &b->device) == AT_SAME_DEVICE;
}

const struct at_entry *at_diff_counterpart(const struct at_profile *profile,
                                           const struct at_device_record *record,
                                           const struct at_entry *entry,
                                           const struct at_device_record **found)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count && same_subject(&records[i], record); j++)
            if (strcmp(entries[j].problem, entry->problem) == 0) {
                *found = &records[i];
                return &entries[j];
            }
    }
    return NULL;
}

static void compare(struct at_diff *diff, const struct at_profile *to,
                    const struct at_device_record *record, const struct at_entry *entry)
{
    struct at_difference difference = {.from_record = record, .from = entry};

    difference.to = at_diff_counterpart(to, record, entry, &difference.to_record);
    if (is_timed(&difference)) { /* a running mean */
        diff->timed++;
        diff->ratio *= pow(ratio(&difference) / diff->ratio, 1 / (double)diff->timed);
    }
    if (!difference.to)
        difference.change = AT_CHANGE_REMOVED;
    else if (strcmp(entry->winner.family, difference.to->winner.family) != 0 ||
             !at_same_parameters(&entry->winner.parameters, &difference.to->winner.parameters))
        difference.change = AT_CHANGE_CONFIG;
    else if (at_difference_is_clear(&difference))
        difference.change = AT_CHANGE_TIME;
    else {
        diff->alike++;
        return;
    }
    AT_PUSH(diff->items, diff->count, diff->capacity, difference);
}

static void add_if_new(struct at_diff *diff, const struct at_profile *from,
                       const struct at_device_record *record, const struct at_entry *entry)
{
    struct at_difference difference = {.change = AT_CHANGE_ADDED, .to_record = record, .to = entry};
    const struct at_device_record *found;

    if (!at_diff_counterpart(from, record, entry, &found))
        AT_PUSH(diff->items, diff->count, diff->capacity, difference);
}

static void for_entries(struct at_diff *diff, const struct at_profile *of,
                        const struct at_profile *other,
                        void (*take)(struct at_diff *, const struct at_profile *,
                                     const struct at_device_record *, const struct at_entry *))
{
    const struct at_device_record *records = of->devices.items;

    for (size_t i = 0; i < of->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++)
            take(diff, other, &records[i], &entries[j]);
    }
}

struct at_diff at_diff_make(const struct at_profile *from, const struct at_profile *to)
{
    struct at_diff diff = {.ratio = 1};

    for_entries(&diff, from, to, compare);
    for_entries(&diff, to, from, add_if_new);
    return diff;
}

void at_diff_clear(struct at_diff *diff)
{
    free(diff->items);
    *diff = (struct at_diff){0};
}
