/* SPDX-License-Identifier: Apache-2.0 */
/* The report for programs, as JSON within the page, and for pull requests, as Markdown. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "report/sections.h"
#include "schema/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- its data, as JSON ---- */

/* A problem, and a device. Texts and the winner's parts are the profile's. */
struct datum {
    char *problem;
    struct at_result_record winner;
    int64_t copy_time_ns, default_time_ns, old_time_ns, evaluations;
};
struct device_data {
    char *name, *kind, *policy, *driver, *times;
    struct at_list problems; /* of struct datum */
};
struct data {
    char *profile;
    struct at_list devices; /* of struct device_data */
};

#define WINNER(member, field_kind) AT_FIELD(datum, #member, winner.member, .kind = (field_kind))

static const struct at_field datum_fields[] = {
    AT_WRITTEN(datum, problem, AT_FIELD_TEXT),
    WINNER(family, AT_FIELD_CHARS),
    WINNER(parameters, AT_FIELD_NAMED_INTS),
    WINNER(time_ns, AT_FIELD_INT),
    WINNER(time_low_ns, AT_FIELD_INT),
    WINNER(time_high_ns, AT_FIELD_INT),
    WINNER(spread_permille, AT_FIELD_INT),
    WINNER(bandwidth_MB_per_s, AT_FIELD_INT),
    WINNER(of_copy_permille, AT_FIELD_INT),
    AT_WRITTEN(datum, copy_time_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, default_time_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, old_time_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, evaluations, AT_FIELD_INT),
};
static const struct at_schema datum_schema = AT_SCHEMA("a problem", datum, datum_fields);

static const struct at_field device_fields[] = {
    AT_WRITTEN(device_data, name, AT_FIELD_TEXT),
    AT_WRITTEN(device_data, kind, AT_FIELD_TEXT),
    AT_WRITTEN(device_data, policy, AT_FIELD_TEXT),
    AT_WRITTEN(device_data, driver, AT_FIELD_TEXT),
    AT_WRITTEN(device_data, times, AT_FIELD_TEXT),
    AT_WRITTEN(device_data, problems, AT_FIELD_OBJECTS, .object = &datum_schema),
};
static const struct at_schema device_schema = AT_SCHEMA("a device", device_data, device_fields);

static const struct at_field data_fields[] = {
    AT_WRITTEN(data, profile, AT_FIELD_TEXT),
    AT_WRITTEN(data, devices, AT_FIELD_OBJECTS, .object = &device_schema),
};
static const struct at_schema data_schema = AT_SCHEMA("a report", data, data_fields);

static struct device_data make_device_data(const struct at_report_device *device)
{
    struct datum *problems = at_alloc_array(device->count, sizeof *problems);

    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_row *row = &device->rows[i];

        problems[i] = (struct datum){.problem = row->entry->problem,
                                     .winner = *row->winner,
                                     .copy_time_ns = row->entry->copy.time_ns,
                                     .default_time_ns = row->entry->fallback.time_ns,
                                     .old_time_ns = row->old ? row->old->winner.time_ns : 0,
                                     .evaluations = at_evaluations_total(&row->entry->evaluations)};
    }
    return (struct device_data){.name = (char *)device->record->device.name,
                                .kind = (char *)device->record->device.kind,
                                .policy = (char *)device->record->policy.name,
                                .driver = (char *)device->record->environment.driver,
                                .times = device->predicted ? "predicted" : "measured",
                                .problems = {problems, device->count}};
}

/* JSON whose text cannot end a script element. The profile was read, so that it can be written. */
static void print_json(const struct data *data, FILE *out)
{
    struct at_text_stream stream;
    struct at_error err;
    char *text;

    at_schema_write_json_line(&data_schema, data, at_text_open(&stream), &err);
    text = at_text_close(&stream, NULL);
    for (const char *c = text; *c; c++)
        if (*c == '<' || *c == '>' || *c == '&')
            at_put(out, "\\u%04x", (unsigned)*c);
        else
            putc(*c, out);
    free(text);
}

void at_report_data(const struct at_report *report, FILE *out)
{
    struct device_data *devices = at_alloc_array(report->device_count, sizeof *devices);
    const struct data data = {(char *)report->profile_name, {devices, report->device_count}};

    for (size_t i = 0; i < report->device_count; i++)
        devices[i] = make_device_data(&report->devices[i]);
    at_put(out, "<script type=\"application/json\" id=\"data\">");
    print_json(&data, out);
    at_put(out, "</script>\n");
    for (size_t i = 0; i < report->device_count; i++)
        free(devices[i].problems.items);
    free(devices);
}

/* ---- Markdown: a table for pull requests and job summaries ---- */

static void print_markdown(const char *text, FILE *out)
{
    for (const char *c = text; *c; c++)
        if (strchr("\\`*_{}[]<>#|~!&@", *c))
            fprintf(out, "&#%d;", *c);
        else
            putc(*c, out);
}

/* As code, with ? for what would end it or its cell. */
static void print_code(const char *text, FILE *out)
{
    putc('`', out);
    for (const char *c = text; *c; c++)
        putc(*c == '`' || *c == '|' ? '?' : *c, out);
    putc('`', out);
}

static void print_heading(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    fputs("### ", out);
    print_markdown(device->record->device.name, out);
    at_put(out, "\n\n%zu problem%s: %.1f %% of the copy limit in the geometric mean; worst ",
           device->count, device->count == 1 ? "" : "s", 100 * device->of_copy);
    print_code(worst->entry->problem, out);
    at_put(out, " with %.1f %%", worst->percent);
    if (device->over_default > 0)
        at_put(out, "; %.2f times as fast as the default configs", device->over_default);
    at_put(out, ".");
    if (device->predicted)
        at_put(out, " Emulated: %p.", at_emulated_times(&device->record->device));
    at_put(out, "\n\n");
}

static void print_row(const struct at_report *report, const struct at_report_row *row, FILE *out)
{
    static const char *const verdicts[] = {
        [AT_REPORT_SLOWER] = " ■ slower", [AT_REPORT_FASTER] = " ▲ faster", [AT_REPORT_ALIKE] = ""};
    const struct at_result_record *winner = row->winner, *old = &row->entry->fallback;

    fputs("| ", out);
    print_code(row->entry->problem, out);
    fputs(" | ", out);
    print_markdown(winner->family, out);
    at_put(out, " | %a | %jd | %.1f | ", (double)winner->time_ns,
           (intmax_t)((winner->bandwidth_MB_per_s + 500) / 1000), row->percent);
    at_put(out, old->time_ns > 0 ? "%.2fx |" : "– |",
           (double)old->time_ns / (double)winner->time_ns);
    if (report->baseline && row->old)
        at_put(out, " %+.1f %%%s |", row->change.permille / 10, verdicts[row->change.verdict]);
    at_put(out, report->baseline && !row->old ? " new |\n" : "\n");
}

static void print_changes(const struct at_report *report, FILE *out)
{
    const size_t *counts = report->verdicts;
    size_t slower = counts[AT_REPORT_SLOWER], faster = counts[AT_REPORT_FASTER];
    size_t alike = counts[AT_REPORT_ALIKE];

    fputs("Against ", out);
    print_code(report->baseline_name, out);
    at_put(out, ": of %zu problems in both, **%zu slower**, **%zu faster**, %zu alike.\n\n",
           slower + faster + alike, slower, faster, alike);
}

void at_report_markdown(const struct at_report *report, FILE *out)
{
    if (report->baseline)
        print_changes(report, out);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        if (device->count == 0)
            continue;
        print_heading(device, out);
        at_put(out, "| problem | kernel | %s | GB/s | %% of copy | over default |%s\n",
               device->unit, report->baseline ? " over old |" : "");
        at_put(out, "|---|---|--:|--:|--:|--:|%s\n", report->baseline ? "--:|" : "");
        for (size_t j = 0; j < device->count; j++)
            print_row(report, &device->rows[j], out);
        at_put(out, "\n");
    }
}
