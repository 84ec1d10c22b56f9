/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/newest.h"

#include "base/integer.h"
#include "base/memory.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

bool at_profile_next(const struct at_profile *profile, struct at_placed_entry *at)
{
    const struct at_device_record *records = profile->devices.items;

    for (at->record = at->record ? at->record : records;
         at->record < records + profile->devices.count; at->record++, at->entry = NULL) {
        struct at_entry *entries = at->record->problems.items;

        at->entry = at->entry ? at->entry + 1 : entries;
        if (at->entry < entries + at->record->problems.count)
            return true;
    }
    return false;
}

bool at_same_place(const struct at_device_record *a, const struct at_device_record *b)
{
    return at_place_compare(a, b) == 0;
}

bool at_profile_has(const struct at_profile *profile, const struct at_device_record *place,
                    const char *problem)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        if (strcmp(at.entry->problem, problem) == 0 && at_same_place(at.record, place))
            return true;
    return false;
}

size_t at_profile_models(const struct at_profile *profile)
{
    const struct at_device_record *records = profile->devices.items;
    size_t models = 0;

    for (size_t i = 0; i < profile->devices.count; i++) {
        size_t j = 0;

        while (at_model_compare(&records[j].device, &records[i].device) != 0)
            j++;
        models += j == i;
    }
    return models;
}

size_t at_profile_entries(const struct at_profile *profile)
{
    const struct at_device_record *records = profile->devices.items;
    size_t count = 0;

    for (size_t i = 0; i < profile->devices.count; i++)
        count += records[i].problems.count;
    return count;
}

/* ---- removing entries ---- */

static void drop_entry(struct at_entry *entry)
{
    at_schema_clear(&at_entry_schema, entry);
    *entry = (struct at_entry){0};
}

/* Close the gaps that dropped entries have left. */
static void close_gaps(struct at_device_record *record)
{
    struct at_entry *entries = record->problems.items;
    size_t stay = 0;

    for (size_t i = 0; i < record->problems.count; i++)
        if (entries[i].problem)
            entries[stay++] = entries[i];
    record->problems.count = stay;
}

static void drop_record(struct at_list *records, size_t index)
{
    struct at_device_record *items = records->items;
    struct at_profile dropped = {.devices = {at_memdup(&items[index], sizeof *items), 1}};

    at_profile_clear(&dropped);
    records->count--;
    memmove(&items[index], &items[index + 1], (records->count - index) * sizeof *items);
}

/* Remove what has nothing any more. */
static void sweep(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = profile->devices.count; i-- > 0;) {
        close_gaps(&records[i]);
        if (records[i].problems.count == 0 && records[i].groups.count == 0)
            drop_record(&profile->devices, i);
    }
}

void at_profile_filter(struct at_profile *profile,
                       bool (*stays)(const struct at_device_record *record,
                                     const struct at_entry *entry, const void *state),
                       const void *state)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        if (!stays(at.record, at.entry, state))
            drop_entry(at.entry);
    sweep(profile);
}

/* ---- the newest ---- */

static int by_problem(const struct at_placed_entry *a, const struct at_placed_entry *b)
{
    int order = at_place_compare(a->record, b->record);

    return order ? order : strcmp(a->entry->problem, b->entry->problem);
}

/* The newest of a problem's entries comes last; of equally new ones the one in the later record. */
static int by_newness(const void *left, const void *right)
{
    const struct at_placed_entry *a = left, *b = right;
    int order = by_problem(a, b);

    if (order == 0)
        order = at_integer_compare(at_entry_is_measured(a->entry), at_entry_is_measured(b->entry));
    if (order == 0)
        order = at_software_compare(&a->record->environment, &b->record->environment);
    return order ? order : (a->record > b->record) - (a->record < b->record);
}

static bool has_place_twice(const struct at_profile *profile)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++)
        for (size_t j = 0; j < i; j++)
            if (at_same_place(&records[i], &records[j]))
                return true;
    return false;
}

void at_profile_keep_newest(struct at_profile *profile)
{
    struct at_placed_entry *all, at = {0};
    size_t count = 0;

    if (!has_place_twice(profile))
        return;
    all = at_alloc_array(at_profile_entries(profile), sizeof *all);
    while (at_profile_next(profile, &at))
        all[count++] = at;
    qsort(all, count, sizeof *all, by_newness);
    for (size_t i = 0; i + 1 < count; i++)
        if (by_problem(&all[i], &all[i + 1]) == 0)
            drop_entry(all[i].entry);
    at_free(all);
    sweep(profile);
}

enum at_status at_profile_read(struct at_profile *profile, const char *path, struct at_error *err)
{
    enum at_status status = at_profile_read_whole(profile, path, err);

    if (status == AT_OK)
        at_profile_keep_newest(profile);
    return status;
}
