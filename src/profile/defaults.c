/* SPDX-License-Identifier: Apache-2.0 */
/* A profile's default configs: in memory each entry has its own, in a file each family's is written
 * once. */
#include "base/memory.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

bool at_same_parameters(const struct at_list *a, const struct at_list *b)
{
    const struct at_named_int *x = a->items, *y = b->items;

    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(x[i].name, y[i].name) != 0 || x[i].value != y[i].value)
            return false;
    return a->count == b->count;
}

static void clear_parameters(struct at_list *list)
{
    at_free(list->items);
    *list = (struct at_list){0};
}

static struct at_list copy_parameters(const struct at_list *list)
{
    return at_named_ints_copy(list->items, list->count);
}

static const struct at_default_record *find(const struct at_device_record *record,
                                            const char *family)
{
    const struct at_default_record *defaults = record->defaults.items;

    for (size_t i = 0; i < record->defaults.count; i++)
        if (strcmp(defaults[i].family, family) == 0)
            return &defaults[i];
    return NULL;
}

static int by_family(const void *left, const void *right)
{
    const struct at_default_record *a = left, *b = right;

    return strcmp(a->family, b->family);
}

/* ---- into the list ---- */

/* Do the defaults of this family have the same parameters in every entry? */
static bool all_agree(const struct at_device_record *record, const struct at_result_record *with)
{
    const struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++)
        if (strcmp(entries[i].fallback.family, with->family) == 0 &&
            !at_same_parameters(&entries[i].fallback.parameters, &with->parameters))
            return false;
    return true;
}

static void list_defaults(struct at_device_record *record)
{
    struct at_default_record *defaults = NULL;
    size_t capacity = 0;
    const struct at_entry *entries = record->problems.items;

    record->defaults = (struct at_list){0};
    for (size_t i = 0; i < record->problems.count; i++) {
        const struct at_result_record *fallback = &entries[i].fallback;
        struct at_default_record made = {0};

        if (fallback->parameters.count == 0 || find(record, fallback->family) ||
            record->defaults.count == AT_DEFAULTS_MAX || !all_agree(record, fallback))
            continue;
        strcpy(made.family, fallback->family);
        made.parameters = copy_parameters(&fallback->parameters);
        AT_PUSH(defaults, record->defaults.count, capacity, made);
        record->defaults.items = defaults;
    }
    if (record->defaults.count > 1)
        qsort(defaults, record->defaults.count, sizeof *defaults, by_family);
}

void at_defaults_gather(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        list_defaults(&records[i]);
        for (size_t j = 0; j < records[i].problems.count; j++)
            if (find(&records[i], entries[j].fallback.family))
                clear_parameters(&entries[j].fallback.parameters);
    }
}

/* ---- into the entries ---- */

static void clear_defaults(struct at_list *list)
{
    struct at_default_record *defaults = list->items;

    for (size_t i = 0; i < list->count; i++)
        clear_parameters(&defaults[i].parameters);
    at_free(defaults);
    *list = (struct at_list){0};
}

void at_defaults_spread(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++) {
            struct at_result_record *fallback = &entries[j].fallback;
            const struct at_default_record *found = find(&records[i], fallback->family);

            if (found && fallback->parameters.count == 0)
                fallback->parameters = copy_parameters(&found->parameters);
        }
        clear_defaults(&records[i].defaults);
    }
}
