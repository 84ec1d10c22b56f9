/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a plain table, with a row per problem, for spreadsheets and pull requests. */
#include "base/memory.h"
#include "profile/show.h"

static const struct at_table_column columns[] = {
    {"device", true},
    {"times", true},
    {"problem", true},
    {"kernel", true},
    {"config", true},
    {"time us", false},
    {"GB/s", false},
    {"% of copy", false},
    {"spread %", false},
    {"over default", false},
    {"configs measured", false},
    {"ended", true},
};

static const char *const ended_names[] = {
    [AT_ENDED_UNKNOWN] = "",
    [AT_ENDED_SETTLED] = "settled",
    [AT_ENDED_BUDGET] = "budget",
    [AT_ENDED_INTERRUPTED] = "interrupted",
    [AT_ENDED_EXHAUSTED] = "exhausted",
};

static void add_config(struct at_table *table, const struct at_result_record *winner)
{
    const struct at_named_int *parameters = winner->parameters.items;
    char *config = at_strdup("");

    for (size_t i = 0; i < winner->parameters.count; i++) {
        char *longer = at_format("%s%s%s=%jd", config, i > 0 ? " " : "", parameters[i].name,
                                 (intmax_t)parameters[i].value);

        at_free(config);
        config = longer;
    }
    at_table_add(table, "%s", config);
    at_free(config);
}

static void add_entry(struct at_table *table, const struct at_device_record *record,
                      const struct at_entry *entry)
{
    const struct at_result_record *winner = &entry->winner;
    bool known = at_entry_is_measured(entry);
    char cell[AT_SHOW_CELL_CHARS];

    at_table_add(table, "%s", record->device.name);
    at_table_add(table, "%s",
                 at_device_is_emulated(&record->device) ? "predicted" : record->policy.name);
    at_table_add(table, "%s", entry->problem);
    at_table_add(table, "%s", winner->family);
    add_config(table, winner);
    at_table_add(table, "%s", known ? at_show_fixed(cell, winner->time_ns, 1000, 2) : "");
    at_table_add(table, "%s",
                 known ? at_show_fixed(cell, winner->bandwidth_MB_per_s, 1000, 0) : "");
    at_table_add(table, "%s", at_show_fixed(cell, winner->of_copy_permille, 10, 1));
    at_table_add(table, "%s", known ? at_show_fixed(cell, winner->spread_permille, 10, 1) : "");
    at_table_add(table, "%s",
                 entry->fallback.time_ns
                     ? at_show_fixed(cell, entry->fallback.time_ns, winner->time_ns, 2)
                     : "");
    if (known)
        at_table_add(table, "%jd", (intmax_t)at_evaluations_total(&entry->evaluations));
    else
        at_table_add(table, "%s", "");
    at_table_add(table, "%s", ended_names[entry->ended]);
}

void at_profile_tabulate(const struct at_profile *profile, enum at_table_form form, FILE *out)
{
    const struct at_device_record *devices = profile->devices.items;
    struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = devices[i].problems.items;

        for (size_t j = 0; j < devices[i].problems.count; j++)
            add_entry(&table, &devices[i], &entries[j]);
    }
    at_table_print(&table, form, out);
    at_table_clear(&table);
}
