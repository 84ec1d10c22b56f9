/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a difference between profiles, for people and as JSON. */
#include "base/flow.h"
#include "base/memory.h"
#include "profile/diff.h"
#include "profile/internal.h"
#include "schema/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, DETAIL_INDENT = 4 };

/* ---- for people ---- */

static const struct at_device_record *record_of(const struct at_difference *difference)
{
    return difference->from_record ? difference->from_record : difference->to_record;
}

static const char *problem_of(const struct at_difference *difference)
{
    return difference->from ? difference->from->problem : difference->to->problem;
}

static void show_change(struct at_flow *flow, const char *what, const char *from, const char *to)
{
    if (strcmp(from, to) != 0)
        at_flow_add(flow, "%s %s -> %s", what, *from ? from : "-", *to ? to : "-");
}

static void show_environment(const struct at_difference *difference, FILE *out)
{
    const struct at_environment *from = &difference->from_record->environment;
    const struct at_environment *to = &difference->to_record->environment;
    struct at_flow flow = at_flow_begin(out, WIDTH, DETAIL_INDENT, "");

    show_change(&flow, "driver", from->driver, to->driver);
    show_change(&flow, "CUDA", from->cuda_driver, to->cuda_driver);
    show_change(&flow, "NVRTC", from->nvrtc, to->nvrtc);
    if (strcmp(from->nvrtc, to->nvrtc) == 0)
        show_change(&flow, "NVRTC build", from->nvrtc_identity, to->nvrtc_identity);
    show_change(&flow, "autotune", from->autotune, to->autotune);
    show_change(&flow, "templates", from->templates, to->templates);
    at_flow_end(&flow);
}

static bool same_environment(const struct at_difference *difference)
{
    return memcmp(&difference->from_record->environment, &difference->to_record->environment,
                  sizeof(struct at_environment)) == 0;
}

/* Parameters are sorted by name in both. */
static void show_parameters(const struct at_list *from, const struct at_list *to, FILE *out)
{
    const struct at_named_int *a = from->items, *b = to->items;
    struct at_flow flow = at_flow_begin(out, WIDTH, DETAIL_INDENT, "");
    size_t i = 0, j = 0;

    while (i < from->count || j < to->count) {
        int order = i == from->count ? 1 : j == to->count ? -1 : strcmp(a[i].name, b[j].name);

        if (order < 0)
            at_flow_add(&flow, "-%s=%jd", a[i].name, (intmax_t)a[i].value);
        else if (order > 0)
            at_flow_add(&flow, "+%s=%jd", b[j].name, (intmax_t)b[j].value);
        else if (a[i].value != b[j].value)
            at_flow_add(&flow, "%s=%jd->%jd", a[i].name, (intmax_t)a[i].value,
                        (intmax_t)b[j].value);
        i += order <= 0;
        j += order >= 0;
    }
    at_flow_end(&flow);
}

/* "131052 ns"; an answer has no time. */
static void show_time(const char *before, const struct at_entry *entry, FILE *out)
{
    if (at_entry_is_measured(entry))
        fprintf(out, "%s%jd ns", before, (intmax_t)entry->winner.time_ns);
    else
        fprintf(out, "%snot measured", before);
}

static void show_times(const struct at_difference *difference, FILE *out)
{
    const char *verdict = at_difference_verdict(difference);

    show_time(": ", difference->from, out);
    show_time(" -> ", difference->to, out);
    if (*verdict)
        fprintf(out, ", %+.1f %% (%s)", (double)at_difference_permille(difference) / 10, verdict);
    fprintf(out, ", %jd.%jd %% -> %jd.%jd %% of copy\n",
            (intmax_t)difference->from->winner.of_copy_permille / 10,
            (intmax_t)difference->from->winner.of_copy_permille % 10,
            (intmax_t)difference->to->winner.of_copy_permille / 10,
            (intmax_t)difference->to->winner.of_copy_permille % 10);
}

static void show_difference(const struct at_difference *difference, FILE *out)
{
    fprintf(out, "  %-8s %s", at_change_names[difference->change], problem_of(difference));
    if (!difference->from || !difference->to) {
        fputc('\n', out);
        return;
    }
    show_times(difference, out);
    if (difference->change != AT_CHANGE_CONFIG)
        return;
    if (strcmp(difference->from->winner.family, difference->to->winner.family) != 0)
        fprintf(out, "    %s -> %s\n", difference->from->winner.family,
                difference->to->winner.family);
    show_parameters(&difference->from->winner.parameters, &difference->to->winner.parameters, out);
}

static bool same_heading(const struct at_device_record *a, const struct at_device_record *b)
{
    return strcmp(a->device.name, b->device.name) == 0 &&
           strcmp(a->policy.name, b->policy.name) == 0 &&
           strcmp(a->device.kind, b->device.kind) == 0;
}

static void add_time(struct at_table *table, const struct at_entry *entry)
{
    if (entry && at_entry_is_measured(entry))
        at_table_add(table, "%jd", (intmax_t)entry->winner.time_ns);
    else
        at_table_add(table, "%s", "");
}

void at_diff_show(const struct at_diff *diff, FILE *out)
{
    size_t counts[4] = {0};

    for (size_t i = 0; i < diff->count; i++) {
        const struct at_difference *difference = &diff->items[i];
        const struct at_device_record *record = record_of(difference);

        if (i == 0 || !same_heading(record_of(difference - 1), record)) {
            bool emulated = at_device_is_emulated(&record->device);

            fprintf(out, "%s, %s%s%s\n", record->device.name, record->policy.name,
                    emulated ? "; " : "", emulated ? at_emulated_times(&record->device) : "");
            if (difference->from && difference->to && !same_environment(difference))
                show_environment(difference, out);
        }
        counts[difference->change]++;
        show_difference(difference, out);
    }
    fprintf(out,
            "%zu with another config, %zu with another time, %zu removed, %zu added, %zu alike\n",
            counts[AT_CHANGE_CONFIG], counts[AT_CHANGE_TIME], counts[AT_CHANGE_REMOVED],
            counts[AT_CHANGE_ADDED], diff->alike);
    if (diff->timed > 0)
        fprintf(out, "the times of the %zu problems in both changed by %+.1f %% on average\n",
                diff->timed, 100 * (diff->ratio - 1));
}

void at_diff_tabulate(const struct at_diff *diff, enum at_table_form form, FILE *out)
{
    static const struct at_table_column columns[] = {
        {"change", true},     {"device", true},     {"policy", true},  {"problem", true},
        {"old kernel", true}, {"new kernel", true}, {"old ns", false}, {"new ns", false},
        {"slower %", false},  {"verdict", true},
    };
    struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};

    for (size_t i = 0; i < diff->count; i++) {
        const struct at_difference *d = &diff->items[i];
        const char *verdict = at_difference_verdict(d);

        at_table_add(&table, "%s", at_change_names[d->change]);
        at_table_add(&table, "%s", record_of(d)->device.name);
        at_table_add(&table, "%s", record_of(d)->policy.name);
        at_table_add(&table, "%s", problem_of(d));
        at_table_add(&table, "%s", d->from ? d->from->winner.family : "");
        at_table_add(&table, "%s", d->to ? d->to->winner.family : "");
        add_time(&table, d->from);
        add_time(&table, d->to);
        if (*verdict)
            at_table_add(&table, "%.1f", (double)at_difference_permille(d) / 10);
        else
            at_table_add(&table, "%s", "");
        at_table_add(&table, "%s", verdict);
    }
    at_table_print(&table, form, out);
    at_table_clear(&table);
}

/* ---- as JSON ---- */

struct difference_record {
    char change[16], device[128], policy[16], problem[160], verdict[8];
    int64_t time_change_permille;
    struct at_entry from, to;      /* borrowed: do not clear */
    char *from_answer, *to_answer; /* of entries without measurements: "tile PAD=1 TILE=32" */
};

struct document {
    int64_t alike;
    struct at_list changes; /* of struct difference_record */
    int64_t mean_change_permille, timed;
};

static const struct at_field difference_fields[] = {
    AT_WRITTEN(difference_record, change, AT_FIELD_CHARS),
    AT_WRITTEN(difference_record, device, AT_FIELD_CHARS),
    AT_WRITTEN(difference_record, from, AT_FIELD_OBJECT, .object = &at_entry_schema, AT_OPTIONAL),
    AT_WRITTEN(difference_record, from_answer, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_WRITTEN(difference_record, policy, AT_FIELD_CHARS),
    AT_WRITTEN(difference_record, problem, AT_FIELD_CHARS),
    AT_WRITTEN(difference_record, time_change_permille, AT_FIELD_INT),
    AT_WRITTEN(difference_record, to, AT_FIELD_OBJECT, .object = &at_entry_schema, AT_OPTIONAL),
    AT_WRITTEN(difference_record, to_answer, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_WRITTEN(difference_record, verdict, AT_FIELD_CHARS),
};
static const struct at_schema difference_schema =
    AT_SCHEMA("a difference", difference_record, difference_fields);

static const struct at_field document_fields[] = {
    AT_WRITTEN(document, alike, AT_FIELD_INT),
    AT_WRITTEN(document, changes, AT_FIELD_OBJECTS, .object = &difference_schema),
    AT_WRITTEN(document, mean_change_permille, AT_FIELD_INT),
    AT_WRITTEN(document, timed, AT_FIELD_INT),
};
static const struct at_schema document_schema = AT_SCHEMA("differences", document, document_fields);

static void take_entry(const struct at_entry *entry, struct at_entry *measured, char **answer)
{
    if (entry && at_entry_is_measured(entry))
        *measured = *entry;
    else if (entry)
        *answer = at_config_text(&entry->winner);
}

static struct difference_record make_record(const struct at_difference *difference)
{
    const struct at_device_record *record = record_of(difference);
    struct difference_record made = {.time_change_permille = at_difference_permille(difference)};

    snprintf(made.change, sizeof made.change, "%s", at_change_names[difference->change]);
    snprintf(made.device, sizeof made.device, "%s", record->device.name);
    snprintf(made.policy, sizeof made.policy, "%s", record->policy.name);
    snprintf(made.problem, sizeof made.problem, "%s", problem_of(difference));
    snprintf(made.verdict, sizeof made.verdict, "%s", at_difference_verdict(difference));
    take_entry(difference->from, &made.from, &made.from_answer);
    take_entry(difference->to, &made.to, &made.to_answer);
    return made;
}

enum at_status at_diff_write_json(const struct at_diff *diff, FILE *out, struct at_error *err)
{
    struct difference_record *records = at_alloc_array(diff->count, sizeof *records);
    const struct document document = {
        .alike = (int64_t)diff->alike,
        .changes = {records, diff->count},
        .mean_change_permille = llround(1000 * (diff->ratio - 1)),
        .timed = (int64_t)diff->timed,
    };
    enum at_status status;

    for (size_t i = 0; i < diff->count; i++)
        records[i] = make_record(&diff->items[i]);
    status = at_schema_write_json(&document_schema, &document, out, err);
    for (size_t i = 0; i < diff->count; i++) {
        free(records[i].from_answer);
        free(records[i].to_answer);
    }
    free(records);
    return status;
}
