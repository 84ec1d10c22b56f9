/* SPDX-License-Identifier: Apache-2.0 */
/* The page: what stands at its top, and its sections in order. And the report as Markdown. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "report/sections.h"
#include "schema/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double percent(int64_t permille)
{
    return (double)permille / 10;
}

/* ---- the title, and what was found ---- */

static void print_title(const struct at_report *report, FILE *out)
{
    at_put(out, "<header><p class=\"kicker\">autotune report</p><h1>%s</h1>\n<nav>",
           report->profile_name);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        if (report->device_count > 1)
            at_put(out, "<span>%s</span> ", device->record->device.name);
        at_put(out,
               "<a href=\"#d%zu-trust\">Trust</a> <a href=\"#d%zu-table\">Table</a> "
               "<a href=\"#d%zu-maps\">Maps</a> <a href=\"#d%zu-problems\">Problems</a> ",
               i, i, i, i);
        if (device->points > 0)
            at_put(out,
                   "<a href=\"#d%zu-parameters\">Parameters</a> <a href=\"#d%zu-run\">The run</a> ",
                   i, i);
    }
    at_put(out, "%p</nav></header>\n", report->baseline ? "<a href=\"#changes\">Changes</a>" : "");
}

static void print_lead(const struct at_report_device *device, FILE *out)
{
    const struct at_device_record *record = device->record;

    at_put(out,
           "<h2>%s</h2>\n<p class=\"lead\">%'jd transpose problem%s, %s caches. The <em>copy "
           "limit</em> is the fastest copy of as many bytes on this device: what a transpose can "
           "hope for.</p>\n",
           record->device.name, (intmax_t)device->count, device->count == 1 ? "" : "s",
           strcmp(record->policy.name, "warm") == 0 ? "warm" : "cold");
    if (device->predicted)
        at_put(out, "<p class=\"banner\"><b>Emulated:</b> %s.</p>\n",
               at_emulated_times(&record->device));
}

static void print_numbers(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    at_put(out,
           "<ul class=\"numbers\">\n<li><b>%.1f&#8239;%%</b><span>of the copy limit, geometric "
           "mean</span></li>\n<li><b>%.1f&#8239;%%</b><span>the worst problem, <a "
           "href=\"#%s\">%s</a></span></li>\n",
           100 * device->of_copy, percent(worst->entry->winner.of_copy_permille), worst->anchor,
           worst->entry->problem);
    if (device->over_default > 0)
        at_put(out,
               "<li><b>%.2f&#8239;×</b><span>as fast as the default configs, geometric "
               "mean</span></li>\n</ul>\n",
               device->over_default);
    else
        at_put(out, "<li><b>–</b><span>the default configs were not timed</span></li>\n</ul>\n");
}

static void print_worst(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    at_put(out,
           "<div><h3>Which problem is worst, and why?</h3>\n<p><b><a href=\"#%s\">%s</a>:</b> "
           "%.1f&#8239;%% of the copy limit, by the kernel %s.</p>\n",
           worst->anchor, worst->entry->problem, percent(worst->entry->winner.of_copy_permille),
           worst->entry->winner.family);
    at_report_remarks(device, worst, out);
    at_put(out, "</div>\n");
}

static void print_parameter(const struct at_report *report, const struct at_report_device *device,
                            FILE *out)
{
    at_put(out, "<div><h3>Which parameter matters?</h3>\n<p>");
    if (device->points > 0) {
        at_report_parameters_lead(report, device, out);
        at_put(out, " <a href=\"#d%zu-parameters\">All of them</a></p></div>\n", device->index);
    } else {
        at_put(out, "Only a journal tells.</p></div>\n");
    }
}

/* ---- more search ---- */

/* How the searches of a device ended, and what their later parts brought. */
struct ends {
    size_t counts[AT_ENDED_EXHAUSTED + 1];
    int64_t measured, legal;
    size_t searches; /* long enough to tell */
    double gain;     /* of their later halves, the geometric mean, less 1 */
    size_t late;     /* searches whose last quarter brought more than 1 % */
};

/* A later half that brought less than this much brought little. */
static const double little = 0.01;

/* The fastest time among the first `count` points; 0: none. */
static double best_of(const struct at_report_search *search, size_t count)
{
    double best = 0;

    for (size_t i = 0; i < count; i++)
        if (search->points[i].ns > 0 && (best == 0 || search->points[i].ns < best))
            best = search->points[i].ns;
    return best;
}

/* Add a search; *sum is of the logarithms of the gains. */
static void add_gain(struct ends *ends, const struct at_report_search *search, double *sum)
{
    double half, quarter, all;

    if (!search || search->count < 8 || search->best_index == search->count)
        return;
    all = best_of(search, search->count);
    half = best_of(search, search->count / 2);
    quarter = best_of(search, search->count - search->count / 4);
    if (half == 0 || quarter == 0)
        return;
    *sum += log(half / all);
    ends->late += quarter > 1.01 * all;
    ends->searches++;
}

static struct ends find_ends(const struct at_report_device *device)
{
    struct ends ends = {.measured = 0};
    double sum = 0;

    for (size_t i = 0; i < device->count; i++) {
        const struct at_entry *entry = device->rows[i].entry;

        ends.counts[entry->ended]++;
        ends.measured += at_evaluations_total(&entry->evaluations);
        ends.legal += entry->evaluations.configs;
        add_gain(&ends, device->rows[i].search, &sum);
    }
    if (ends.searches > 0)
        ends.gain = exp(sum / (double)ends.searches) - 1;
    return ends;
}

/* Settled searches expect no gain; whether they are right, only the journal can tell. */
static const char *verdict_of(const struct at_report_device *device, const struct ends *ends)
{
    if (ends->counts[AT_ENDED_EXHAUSTED] == device->count)
        return "Nothing:</b> every legal config was tried.";
    if (ends->counts[AT_ENDED_BUDGET] + ends->counts[AT_ENDED_INTERRUPTED] > 0)
        return "Maybe something:</b> searches were cut short.";
    if (ends->searches > 0 && (ends->gain > little || ends->late * 10 > ends->searches))
        return "Maybe something:</b> the searches still gained towards their ends.";
    if (ends->counts[AT_ENDED_UNKNOWN] == device->count)
        return "Not known:</b> the profile does not tell how the searches ended.";
    return "Probably little:</b> the searches ended because they expected no further gain or had "
           "tried everything.";
}

static void print_more(const struct at_report *report, const struct at_report_device *device,
                       FILE *out)
{
    const struct ends ends = find_ends(device);
    size_t unknown = ends.counts[AT_ENDED_UNKNOWN];

    at_put(out, "<div><h3>What would more search bring?</h3>\n<p><b>%p", verdict_of(device, &ends));
    if (unknown > 0 && unknown < device->count)
        at_put(out, " Of %zu the profile does not tell how they ended.", unknown);
    at_put(out,
           "</p><ul>\n<li>%'jd of %'jd legal configs were tried%s</li>\n<li>Searches that settled: "
           "%zu; that tried everything: %zu; cut short: %zu</li>\n",
           (intmax_t)ends.measured, (intmax_t)ends.legal,
           ends.legal == 0 || ends.measured == ends.legal
               ? ""
               : "; a better one may be among the others",
           ends.counts[AT_ENDED_SETTLED], ends.counts[AT_ENDED_EXHAUSTED],
           ends.counts[AT_ENDED_BUDGET] + ends.counts[AT_ENDED_INTERRUPTED]);
    if (ends.searches > 0)
        at_put(out,
               "<li>The later half of the evaluations made the best config faster by "
               "%.1f&#8239;%% in the geometric mean; the last quarter by more than 1&#8239;%% on "
               "%zu of %zu problems.</li>\n",
               100 * ends.gain, ends.late, ends.searches);
    if (device->points == 0)
        at_put(out, "<li>%p</li>\n",
               report->journal_count ? "The journals have no evaluation of these problems by this "
                                       "device and policy"
                                     : "<code>--journal</code> adds how each search went");
    at_put(out, "</ul></div>\n");
}

static void print_top(const struct at_report *report, const struct at_report_device *device,
                      FILE *out)
{
    print_lead(device, out);
    if (device->count > 0) {
        print_numbers(device, out);
        at_put(out, "<div class=\"columns\">\n");
        print_worst(device, out);
        at_report_trust(device, out);
        print_parameter(report, device, out);
        print_more(report, device, out);
        at_put(out, "</div>\n");
    }
    at_report_origin(device, out);
}

/* ---- its data, as JSON ---- */

/* A problem, and a device. Texts and parameters are the profile's. */
struct datum {
    char *problem, *family;
    struct at_list parameters;
    int64_t time_ns, time_low_ns, time_high_ns, spread_permille, bandwidth_MB_per_s;
    int64_t of_copy_permille, copy_time_ns, default_time_ns, old_time_ns, evaluations;
};
struct device_data {
    char *name, *kind, *policy, *driver, *times;
    struct at_list problems; /* of struct datum */
};
struct data {
    char *profile;
    struct at_list devices; /* of struct device_data */
};

static const struct at_field datum_fields[] = {
    AT_WRITTEN(datum, problem, AT_FIELD_TEXT),
    AT_WRITTEN(datum, family, AT_FIELD_TEXT),
    AT_WRITTEN(datum, parameters, AT_FIELD_NAMED_INTS),
    AT_WRITTEN(datum, time_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, time_low_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, time_high_ns, AT_FIELD_INT),
    AT_WRITTEN(datum, spread_permille, AT_FIELD_INT),
    AT_WRITTEN(datum, bandwidth_MB_per_s, AT_FIELD_INT),
    AT_WRITTEN(datum, of_copy_permille, AT_FIELD_INT),
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

static struct datum make_datum(const struct at_report_row *row)
{
    const struct at_result_record *winner = &row->entry->winner;

    return (struct datum){.problem = row->entry->problem,
                          .family = (char *)winner->family,
                          .parameters = winner->parameters,
                          .time_ns = winner->time_ns,
                          .time_low_ns = winner->time_low_ns,
                          .time_high_ns = winner->time_high_ns,
                          .spread_permille = winner->spread_permille,
                          .bandwidth_MB_per_s = winner->bandwidth_MB_per_s,
                          .of_copy_permille = winner->of_copy_permille,
                          .copy_time_ns = row->entry->copy.time_ns,
                          .default_time_ns = row->entry->fallback.time_ns,
                          .old_time_ns = row->old ? row->old->winner.time_ns : 0,
                          .evaluations = at_evaluations_total(&row->entry->evaluations)};
}

static struct device_data make_device_data(const struct at_report_device *device)
{
    struct datum *problems = at_alloc_array(device->count, sizeof *problems);

    for (size_t i = 0; i < device->count; i++)
        problems[i] = make_datum(&device->rows[i]);
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

static void print_data(const struct at_report *report, FILE *out)
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

/* ---- the page ---- */

static at_report_section *const sections[] = {at_report_table, at_report_maps, at_report_problems,
                                              at_report_parameters, at_report_timeline};

void at_report_html(const struct at_report *report, FILE *out)
{
    char *title = at_format("%s: autotune report", report->profile_name);

    at_html_begin(out, title);
    free(title);
    at_plot_shapes(out);
    print_title(report, out);
    at_put(out, "<main>\n");
    at_report_changes(report, out);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        at_put(out, "<section id=\"d%zu\">\n", i);
        print_top(report, device, out);
        for (size_t j = 0; j < AT_COUNT(sections) && device->count > 0; j++)
            sections[j](report, device, out);
        at_put(out, "</section>\n");
    }
    at_put(out, "</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
                " from a profile and its journals; no request leaves this page. Its data is in the "
                "page as JSON: <code>script#data</code>.</p></footer>\n");
    print_data(report, out);
    at_html_end(out);
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
    at_put(out, " with %.1f %%", percent(worst->entry->winner.of_copy_permille));
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
    const struct at_result_record *winner = &row->entry->winner, *old = &row->entry->fallback;

    fputs("| ", out);
    print_code(row->entry->problem, out);
    fputs(" | ", out);
    print_markdown(winner->family, out);
    at_put(out, " | %a | %jd | %.1f | ", (double)winner->time_ns,
           (intmax_t)((winner->bandwidth_MB_per_s + 500) / 1000),
           percent(winner->of_copy_permille));
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
