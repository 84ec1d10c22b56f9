/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff.h"

#include "base/flow.h"
#include "base/memory.h"
#include "device/kind.h"
#include "device/relation.h"
#include "profile/internal.h"
#include "profile/newest.h"
#include "schema/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const change_names[] = {"removed", "added", "config", "time"};

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
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        if (strcmp(at.entry->problem, entry->problem) == 0 &&
            (!record || same_subject(at.record, record))) {
            *found = at.record;
            return at.entry;
        }
    return NULL;
}

static void compare(struct at_diff *diff, const struct at_profile *to,
                    const struct at_device_record *record, const struct at_entry *entry)
{
    struct at_difference difference = {.from_record = record, .from = entry};

    difference.to =
        at_diff_counterpart(to, diff->across ? NULL : record, entry, &difference.to_record);
    if (is_timed(&difference)) { /* a running mean */
        diff->timed++;
        diff->ratio *= pow(ratio(&difference) / diff->ratio, 1 / (double)diff->timed);
    }
    if (!difference.to)
        difference.change = AT_CHANGE_REMOVED;
    else if (!at_same_config(&entry->winner, &difference.to->winner))
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

    if (!at_diff_counterpart(from, diff->across ? NULL : record, entry, &found))
        AT_PUSH(diff->items, diff->count, diff->capacity, difference);
}

struct at_diff at_diff_make(const struct at_profile *from, const struct at_profile *to, bool across)
{
    struct at_diff diff = {.ratio = 1, .across = across};

    for (struct at_placed_entry at = {0}; at_profile_next(from, &at);)
        compare(&diff, to, at.record, at.entry);
    for (struct at_placed_entry at = {0}; at_profile_next(to, &at);)
        add_if_new(&diff, from, at.record, at.entry);
    return diff;
}

void at_diff_clear(struct at_diff *diff)
{
    free(diff->items);
    *diff = (struct at_diff){0};
}

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
    fprintf(out, "  %-8s %s", change_names[difference->change], problem_of(difference));
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

static void show_place(const struct at_device_record *record, FILE *out)
{
    const struct at_device_kind *kind = at_device_kind(&record->device);

    fprintf(out, "%s%s, %s%s%s", kind->label, record->device.name, record->policy.name,
            kind->predicted ? "; " : "", kind->predicted ? at_emulated_times(&record->device) : "");
}

static void show_heading(const struct at_difference *difference, FILE *out)
{
    const struct at_device_record *record = record_of(difference);

    show_place(record, out);
    if (difference->to && !same_heading(difference->to_record, record)) {
        fputs(" -> ", out);
        show_place(difference->to_record, out);
    }
    fputc('\n', out);
    if (difference->from && difference->to && !same_environment(difference))
        show_environment(difference, out);
}

static void show_diff(const struct at_diff *diff, FILE *out)
{
    const struct at_device_record *from = NULL, *to = NULL; /* of the last heading */
    size_t counts[4] = {0};

    for (size_t i = 0; i < diff->count; i++) {
        const struct at_difference *difference = &diff->items[i];
        const struct at_device_record *record = record_of(difference);
        const struct at_device_record *other = difference->to ? difference->to_record : record;

        if (i == 0 || !same_heading(from, record) || !same_heading(to, other)) {
            from = record;
            to = other;
            show_heading(difference, out);
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

/* ---- for programs ---- */

struct difference_record {
    const char *change, *device, *policy, *problem, *times, *verdict; /* borrowed */
    int64_t time_change_permille;
    struct at_entry from, to;      /* borrowed: do not clear */
    char *from_answer, *to_answer; /* of entries without measurements: "tile PAD=1 TILE=32" */
    /* For tables; the texts are borrowed, and a time is 0 where none is known. */
    const char *from_family, *to_family;
    int64_t from_ns, to_ns, slower_permille; /* slower_permille: INT64_MIN if unknown */
};

struct document {
    int64_t alike;
    struct at_list changes; /* of struct difference_record */
    int64_t mean_change_permille, timed;
};

static const struct at_field difference_fields[] = {
    AT_WRITTEN(difference_record, change, AT_FIELD_TEXT, AT_COLUMN(1, "change")),
    AT_WRITTEN(difference_record, device, AT_FIELD_TEXT, AT_COLUMN(2, "device")),
    AT_WRITTEN(difference_record, from, AT_FIELD_OBJECT, .object = &at_entry_schema, AT_OPTIONAL),
    AT_WRITTEN(difference_record, from_answer, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_ONLY_COLUMN(difference_record, from_family, AT_FIELD_TEXT, AT_COLUMN(5, "old kernel")),
    AT_ONLY_COLUMN(difference_record, from_ns, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(7, "old ns")),
    AT_WRITTEN(difference_record, policy, AT_FIELD_TEXT, AT_COLUMN(3, "policy")),
    AT_WRITTEN(difference_record, problem, AT_FIELD_TEXT, AT_COLUMN(4, "problem")),
    AT_ONLY_COLUMN(difference_record, slower_permille, AT_FIELD_INT, AT_OPTIONAL,
                   .absent = INT64_MIN, AT_COLUMN(9, "slower %", 10, 1)),
    AT_WRITTEN(difference_record, time_change_permille, AT_FIELD_INT),
    AT_WRITTEN(difference_record, times, AT_FIELD_TEXT, AT_COLUMN(11, "times")),
    AT_WRITTEN(difference_record, to, AT_FIELD_OBJECT, .object = &at_entry_schema, AT_OPTIONAL),
    AT_WRITTEN(difference_record, to_answer, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_ONLY_COLUMN(difference_record, to_family, AT_FIELD_TEXT, AT_COLUMN(6, "new kernel")),
    AT_ONLY_COLUMN(difference_record, to_ns, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(8, "new ns")),
    AT_WRITTEN(difference_record, verdict, AT_FIELD_TEXT, AT_COLUMN(10, "verdict")),
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

static void take_entry(const struct at_entry *entry, struct at_entry *measured, char **answer,
                       const char **family, int64_t *ns)
{
    if (!entry)
        return;
    *family = entry->winner.family;
    if (at_entry_is_measured(entry)) {
        *measured = *entry;
        *ns = entry->winner.time_ns;
    } else {
        *answer = at_config_text(&entry->winner);
    }
}

/* "measured", or "predicted" if a time is. */
static const char *times_of(const struct at_difference *difference)
{
    const struct at_device_kind *from = at_device_kind(&record_of(difference)->device);

    return difference->to && !from->predicted
               ? at_device_kind(&difference->to_record->device)->times
               : from->times;
}

static struct difference_record make_record(const struct at_difference *difference)
{
    const struct at_device_record *record = record_of(difference);
    struct difference_record made = {
        .change = change_names[difference->change],
        .device = record->device.name,
        .policy = record->policy.name,
        .problem = problem_of(difference),
        .times = times_of(difference),
        .verdict = at_difference_verdict(difference),
        .time_change_permille = at_difference_permille(difference),
    };

    made.slower_permille = *made.verdict ? made.time_change_permille : INT64_MIN;
    take_entry(difference->from, &made.from, &made.from_answer, &made.from_family, &made.from_ns);
    take_entry(difference->to, &made.to, &made.to_answer, &made.to_family, &made.to_ns);
    return made;
}

enum at_status at_diff_print(const struct at_diff *diff, enum at_output_format format, FILE *out,
                             struct at_error *err)
{
    struct difference_record *records = at_alloc_array(diff->count, sizeof *records);
    const struct document document = {
        .alike = (int64_t)diff->alike,
        .changes = {records, diff->count},
        .mean_change_permille = llround(1000 * (diff->ratio - 1)),
        .timed = (int64_t)diff->timed,
    };
    enum at_status status = AT_OK;

    for (size_t i = 0; i < diff->count; i++)
        records[i] = make_record(&diff->items[i]);
    if (format == AT_FORMAT_TABLE)
        show_diff(diff, out);
    else
        status = at_print(&document_schema, &document, format, out, err);
    for (size_t i = 0; i < diff->count; i++) {
        free(records[i].from_answer);
        free(records[i].to_answer);
    }
    free(records);
    return status;
}
