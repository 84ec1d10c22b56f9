/* SPDX-License-Identifier: Apache-2.0 */
/* The page's data as JSON, for other tools. Its keys are the profile's. */
#include "report/html.h"
#include "report/sections.h"
#include "schema/schema.h"

#include <inttypes.h>

static const char *const columns[] = {
    "problem",         "family",          "parameters",         "time_ns",          "time_low_ns",
    "time_high_ns",    "spread_permille", "bandwidth_MB_per_s", "of_copy_permille", "copy_time_ns",
    "default_time_ns", "old_time_ns",     "evaluations",
};

static void print_row(const struct at_report_row *row, FILE *out)
{
    const struct at_entry *entry = row->entry;
    const struct at_named_int *parameters = entry->winner.parameters.items;
    const int64_t numbers[] = {
        entry->winner.time_ns,
        entry->winner.time_low_ns,
        entry->winner.time_high_ns,
        entry->winner.spread_permille,
        entry->winner.bandwidth_MB_per_s,
        entry->winner.of_copy_permille,
        entry->copy.time_ns,
        entry->fallback.time_ns,
        row->old ? row->old->winner.time_ns : 0,
        at_evaluations_total(&entry->evaluations),
    };

    putc('[', out);
    at_html_json(out, entry->problem);
    putc(',', out);
    at_html_json(out, entry->winner.family);
    fputs(",{", out);
    for (size_t i = 0; i < entry->winner.parameters.count; i++) {
        if (i > 0)
            putc(',', out);
        at_html_json(out, parameters[i].name);
        fprintf(out, ":%" PRId64, parameters[i].value);
    }
    putc('}', out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fprintf(out, ",%" PRId64, numbers[i]);
    putc(']', out);
}

static void print_device(const struct at_report_device *device, FILE *out)
{
    fputs("{\"name\":", out);
    at_html_json(out, device->record->device.name);
    fputs(",\"kind\":", out);
    at_html_json(out, device->record->device.kind);
    fputs(",\"policy\":", out);
    at_html_json(out, device->record->policy.name);
    fputs(",\"driver\":", out);
    at_html_json(out, device->record->environment.driver);
    fprintf(out, ",\"times\":\"%s\",\"columns\":[", device->predicted ? "predicted" : "measured");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", columns[i]);
    fputs("],\"problems\":[\n", out);
    for (size_t i = 0; i < device->count; i++) {
        print_row(&device->rows[i], out);
        fputs(i + 1 < device->count ? ",\n" : "\n", out);
    }
    fputs("]}", out);
}

void at_report_data(const struct at_report *report, FILE *out)
{
    fputs("<script type=\"application/json\" id=\"data\">{\"profile\":", out);
    at_html_json(out, report->profile_name);
    fputs(",\"devices\":[", out);
    for (size_t i = 0; i < report->device_count; i++) {
        if (i > 0)
            putc(',', out);
        print_device(&report->devices[i], out);
    }
    fputs("]}</script>\n", out);
}
