/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its title, what stands at the top of each device, and its sections in order. */
#include "report/page.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "schema/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Spreads from here on are worth a look: 3 %. LISTED: problems that a line names. */
enum { SPREAD_PERMILLE = 30, LISTED = 6 };

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
    size_t small = device->means.small, large = device->means.large;

    at_put(out,
           "<ul class=\"numbers\">\n<li><b>%.1f&#8239;%%</b><span>of the copy limit, geometric "
           "mean",
           100 * at_means_of_copy(&device->means));
    if (small > 0 && large > 0)
        at_put(out,
               " of %zu problems. %zu small one%s left out, with %.1f&#8239;%%: the L2 cache holds "
               "the data, or the launch takes most of the time",
               large, small, small == 1 ? " is" : "s are", 100 * at_means_of_small(&device->means));
    else if (small > 0)
        at_put(out,
               ". All problems are small: the L2 cache holds the data, or the launch takes most "
               "of the time, so a copy limits them little");
    at_put(out,
           "</span></li>\n<li><b>%.1f&#8239;%%</b><span>the worst problem, <a "
           "href=\"#%s\">%s</a></span></li>\n",
           worst->percent, worst->anchor, worst->entry->problem);
    if (device->means.defaults > 0)
        at_put(out,
               "<li><b>%.2f&#8239;×</b><span>as fast as the default configs, geometric "
               "mean</span></li>\n</ul>\n",
               at_means_over_default(&device->means));
    else
        at_put(out, "<li><b>–</b><span>the default configs were not timed</span></li>\n</ul>\n");
}

static void print_worst(const struct at_report *report, const struct at_report_device *device,
                        FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    at_put(out,
           "<div><h3>Which problem is worst, and why?</h3>\n<p><b><a href=\"#%s\">%s</a>:</b> "
           "%.1f&#8239;%% of the copy limit, by the kernel %s.</p>\n",
           worst->anchor, worst->entry->problem, worst->percent, worst->winner->family);
    at_report_remarks(report, device, worst, out);
    if (!worst->costs)
        at_report_explain(worst, "Which line of the kernel costs most", out);
    at_put(out, "</div>\n");
}

/* `lead`: what the journals tell. */
static void print_parameter(const struct at_report_device *device, const char *lead, FILE *out)
{
    if (device->points > 0)
        at_put(out,
               "<div><h3>Which parameter matters?</h3>\n<p>%p <a href=\"#d%zu-parameters\">All of "
               "them</a></p></div>\n",
               lead, device->index);
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

static bool is_cut(const struct at_entry *entry)
{
    return entry->ended == AT_ENDED_BUDGET || entry->ended == AT_ENDED_INTERRUPTED;
}

/* The command that searches longer where a search was cut short. */
static void print_longer(const struct at_report *report, const struct at_report_device *device,
                         FILE *out)
{
    const struct at_report_row **cut = at_alloc_array(device->count, sizeof *cut);
    size_t count = 0;

    for (size_t i = 0; i < device->count; i++)
        if (is_cut(device->rows[i].entry))
            cut[count++] = &device->rows[i];
    if (count > 0)
        at_report_retune(report, device, cut, count, true,
                         "What was cut short, searched until it settles", out);
    free(cut);
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
    if (device->points == 0 && report->journal_count > 0)
        at_put(out, "<li>The journals have no evaluation of these problems by this device and "
                    "policy</li>\n");
    at_put(out, "</ul>\n");
    print_longer(report, device, out);
    at_put(out, "</div>\n");
}

/* ---- is the run to be trusted? ---- */

/* Begin a line of what was checked; returns 1 if it speaks against the run. */
static size_t begin_check(FILE *out, bool good)
{
    at_put(out, "<li class=\"%s\"><b>%s</b> ", good ? "good" : "doubt", good ? "✓" : "!");
    return !good;
}

/* From the profile and, where it saw none, from what the journals saw. */
static size_t check_throttling(const struct at_report_device *device, FILE *out)
{
    const struct at_report_throttling *seen = &device->throttling;
    const char *words = device->conditions.throttle;
    bool known = words[0] != '\0', none = strcmp(words, "none") == 0;
    size_t doubts = begin_check(out, known && none && seen->throttled == 0);

    at_put(out, "%s%s", known ? "Throttling: " : "Throttling is not known",
           none && seen->throttled > 0 ? "" : words);
    if (seen->throttled > 0)
        at_put(out, "%sat %zu of the journal's %zu looks at the device", none ? "" : "; ",
               seen->throttled, seen->looks);
    at_put(out, "</li>\n");
    return doubts;
}

static size_t check_conditions(const struct at_report_device *device, FILE *out)
{
    const struct at_conditions *seen = &device->conditions;
    const struct {
        const char *what;
        int64_t amount;
        const char *unit;
    } troubles[] = {
        {"Time at the power limit", seen->capped_ms, " ms"},
        {"Time slowed by heat or the power supply", seen->slowed_ms, " ms"},
        {"Other processes on the device", seen->other_processes, ""},
        {"Drifts of the canary, a kernel that never changes", seen->drifts, ""},
    };
    size_t doubts = check_throttling(device, out);

    for (size_t i = 0; i < AT_COUNT(troubles); i++)
        if (troubles[i].amount > 0) {
            doubts += begin_check(out, false);
            at_put(out, "%s: %'jd%s</li>\n", troubles[i].what, (intmax_t)troubles[i].amount,
                   troubles[i].unit);
        }
    if (seen->remeasured > 0 || seen->discarded_samples > 0) {
        begin_check(out, true);
        at_put(
            out,
            "%'jd configs were measured again after drifts, %'jd samples after low clocks</li>\n",
            (intmax_t)seen->remeasured, (intmax_t)seen->discarded_samples);
    }
    return doubts;
}

static size_t check_outcomes(const struct at_report_device *device, FILE *out)
{
    int64_t counts[AT_OUTCOMES] = {0}, failed = 0;
    size_t doubts;

    for (size_t i = 0; i < device->count; i++)
        for (int j = 0; j < AT_OUTCOMES; j++)
            counts[j] += device->rows[i].entry->evaluations.counts[j];
    for (int i = 0; i < AT_OUTCOMES; i++)
        failed += i == AT_CORRECT ? 0 : counts[i];
    doubts = begin_check(out, failed == 0);
    at_put(out, "%'jd configs gave the right result in every bit", (intmax_t)counts[AT_CORRECT]);
    for (int i = 0; i < AT_OUTCOMES; i++)
        if (i != AT_CORRECT && counts[i] > 0)
            at_put(out, "; %'jd ended as <i>%s</i>", (intmax_t)counts[i], at_outcome_names[i]);
    at_put(out, failed ? ", and were not chosen</li>\n" : "</li>\n");
    return doubts;
}

/* What is checked of each row. */
static const struct check {
    enum { SPREAD, CUT, ABOVE_COPY, SPILLED } kind;
    const char *none, *one, *some; /* the last two after the number; none NULL: say nothing */
} checks[] = {
    {SPREAD, "No winner's samples spread by more than 3 %",
     "winner's samples spread by more than 3 %", "winners' samples spread by more than 3 %"},
    {CUT, "No search was cut short by a budget or a signal",
     "search was cut short by a budget or a signal",
     "searches were cut short by a budget or a signal"},
    {ABOVE_COPY, NULL, "winner is faster than the copy limit, so that limit is too low",
     "winners are faster than their copy limits, so those limits are too low"},
    {SPILLED, NULL, "winner spills registers", "winners spill registers"},
};

static bool is_hit(const struct at_report_row *row, const struct check *check)
{
    switch (check->kind) {
    case SPREAD:
        return row->winner->spread_permille > SPREAD_PERMILLE;
    case CUT:
        return is_cut(row->entry);
    case ABOVE_COPY:
        return row->winner->of_copy_permille > 1000 && !row->small;
    default:
        return row->winner->spill_bytes > 0;
    }
}

static size_t check_rows(const struct at_report_device *device, const struct check *check,
                         FILE *out)
{
    size_t hits = 0, listed = 0, doubts;

    for (size_t i = 0; i < device->count; i++)
        hits += is_hit(&device->rows[i], check);
    if (hits == 0 && !check->none)
        return 0;
    doubts = begin_check(out, hits == 0);
    if (hits == 0)
        at_put(out, "%s", check->none);
    else
        at_put(out, "%'jd %s: ", (intmax_t)hits, hits == 1 ? check->one : check->some);
    for (size_t i = 0; i < device->count && listed < LISTED; i++)
        if (is_hit(&device->rows[i], check))
            at_put(out, "%s<a href=\"#%s\">%s</a>", listed++ ? ", " : "", device->rows[i].anchor,
                   device->rows[i].entry->problem);
    at_put(out, "%s</li>\n", hits > listed ? ", …" : "");
    return doubts;
}

/* Returns how many lines speak against the run. */
static size_t check_all(const struct at_report_device *device, FILE *out)
{
    size_t doubts = begin_check(out, !device->predicted);

    at_put(out, device->predicted
                    ? "Times are predicted, not measured</li>\n"
                    : "Winners were timed anew, side by side, after the search</li>\n");
    if (!device->predicted)
        doubts += check_conditions(device, out);
    doubts += check_outcomes(device, out);
    for (size_t i = 0; i < AT_COUNT(checks); i++)
        doubts += check_rows(device, &checks[i], out);
    return doubts;
}

static void print_trust(const struct at_report_device *device, FILE *out)
{
    struct at_text_stream stream;
    size_t doubts = check_all(device, at_text_open(&stream));
    char *text = at_text_close(&stream, NULL);

    at_put(out, "<div><h3 id=\"d%zu-trust\">Is this run to be trusted?</h3>\n<p><b>",
           device->index);
    if (doubts == 0)
        at_put(out, "Yes:</b> nothing that was checked speaks against it.</p>\n");
    else
        at_put(out, "With care:</b> %zu point%s below, marked !, speak%s against it.</p>\n", doubts,
               doubts == 1 ? "" : "s", doubts == 1 ? "s" : "");
    at_put(out, "<ul class=\"checks\">\n%p</ul></div>\n", text);
    free(text);
}

/* ---- how it was made ---- */

static void print_device(const struct at_device_info *device, FILE *out)
{
    at_put(out, "<dt>device</dt><dd>%s, compute capability %jd.%jd, %jd multiprocessors, %.1f GiB",
           device->name, (intmax_t)(device->compute_capability / 10),
           (intmax_t)(device->compute_capability % 10), (intmax_t)device->multiprocessors,
           (double)device->memory_bytes / (1 << 30));
    if (device->peak_bandwidth_MB_per_s > 0)
        at_put(out, ", memory peak %'jd GB/s by clock and width",
               (intmax_t)((device->peak_bandwidth_MB_per_s + 500) / 1000));
    at_put(out, "</dd>\n");
}

static void print_software(const struct at_environment *software, FILE *out)
{
    const char *const parts[][2] = {{"autotune ", software->autotune},
                                    {", driver ", software->driver},
                                    {", CUDA ", software->cuda_driver},
                                    {", NVRTC ", software->nvrtc}};

    at_put(out, "<dt>software</dt><dd>");
    for (size_t i = 0; i < AT_COUNT(parts); i++)
        if (parts[i][1][0])
            at_put(out, "%s%s", parts[i][0], parts[i][1]);
    at_put(out, "</dd>\n");
}

static void print_policy(const struct at_report_device *device, FILE *out)
{
    const struct at_policy_record *policy = &device->record->policy;

    at_put(out, "<dt>policy</dt><dd>%s", policy->name);
    if (!device->predicted)
        at_put(out,
               ": trains of %.0f µs%s, %jd samples a config in the search, %jd a finalist in the "
               "shoot-out",
               (double)policy->train_ns / 1000,
               policy->buffer_bytes ? " through more bytes than the L2 cache holds" : "",
               (intmax_t)policy->search_samples, (intmax_t)policy->shootout_samples);
    at_put(out, "</dd>\n");
}

static void print_conditions(const struct at_conditions *seen, FILE *out)
{
    const char *before = "<dt>conditions</dt><dd>";

    if (!seen->clock_sm_max_khz && !seen->power_max_mW && !seen->temperature_max_c)
        return;
    if (seen->clock_sm_max_khz) {
        at_put(out, "%pSM clock %.0f to %.0f MHz", before, (double)seen->clock_sm_min_khz / 1000,
               (double)seen->clock_sm_max_khz / 1000);
        before = ", ";
    }
    if (seen->power_max_mW) {
        at_put(out, "%pat most %.0f W", before, (double)seen->power_max_mW / 1000);
        before = ", ";
    }
    if (seen->temperature_max_c)
        at_put(out, "%pat most %jd °C", before, (intmax_t)seen->temperature_max_c);
    at_put(out, "</dd>\n");
}

static void print_dates(const struct at_report_device *device, FILE *out)
{
    const int64_t moments[] = {device->first_ms, device->last_ms};
    char texts[AT_COUNT(moments)][64];

    if (device->points == 0)
        return; /* a profile has no dates */
    for (size_t i = 0; i < AT_COUNT(moments); i++) {
        const time_t seconds = (time_t)(moments[i] / 1000);
        struct tm date = {.tm_mday = 1};

        gmtime_r(&seconds, &date);
        snprintf(texts[i], sizeof texts[i], "%d-%02d-%02d %02d:%02d", date.tm_year + 1900,
                 date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min);
    }
    at_put(out, "<dt>date</dt><dd>%s to %s UTC, %'jd evaluations in the journal</dd>\n", texts[0],
           texts[1], (intmax_t)device->points);
}

static void print_origin(const struct at_report_device *device, FILE *out)
{
    at_put(out, "<h3>How it was made</h3>\n<dl>\n");
    print_device(&device->record->device, out);
    print_software(&device->record->environment, out);
    if (device->record_count > 1)
        at_put(out,
               "<dt>records</dt><dd>%zu in the profile, of several GPUs or versions; above is the "
               "first</dd>\n",
               device->record_count);
    print_policy(device, out);
    print_conditions(&device->conditions, out);
    if (device->count > 0) {
        print_dates(device, out);
        at_report_repeats(device, out);
    }
    at_put(out, "</dl>\n");
}

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
                                .times = (char *)at_device_kind(&device->record->device)->times,
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

static void print_top(const struct at_report *report, const struct at_report_device *device,
                      const char *lead, FILE *out)
{
    print_lead(device, out);
    if (device->count > 0) {
        print_numbers(device, out);
        at_put(out, "<div class=\"columns\">\n");
        print_worst(report, device, out);
        print_trust(device, out);
        print_parameter(device, lead, out);
        print_more(report, device, out);
        at_put(out, "</div>\n");
        if (report->journal_count == 0)
            at_report_journal(report, out);
    }
    print_origin(device, out);
}

static void print_device_section(const struct at_report *report,
                                 const struct at_report_device *device, FILE *out)
{
    struct at_text_stream lead, parameters;
    FILE *to_lead = at_text_open(&lead), *to_parameters = at_text_open(&parameters);
    char *lead_text, *parameters_text;

    if (device->points > 0)
        at_report_parameters(report, device, to_lead, to_parameters);
    lead_text = at_text_close(&lead, NULL);
    parameters_text = at_text_close(&parameters, NULL);
    at_put(out, "<section id=\"d%zu\">\n", device->index);
    print_top(report, device, lead_text, out);
    if (device->count > 0) {
        at_report_table(report, device, out);
        at_report_maps(device, out);
        at_report_problems(report, device, out);
        at_put(out, "%p", parameters_text);
        at_report_tuners(report, device, out);
        at_report_timeline(device, out);
    }
    at_put(out, "</section>\n");
    free(lead_text);
    free(parameters_text);
}

void at_report_html(const struct at_report *report, FILE *out)
{
    char *title = at_format("%s: autotune report", report->profile_name);

    at_html_begin(out, title);
    free(title);
    at_plot_shapes(out);
    print_title(report, out);
    at_put(out, "<main>\n");
    at_report_changes(report, out);
    for (size_t i = 0; i < report->device_count; i++)
        print_device_section(report, &report->devices[i], out);
    at_put(out, "</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
                " from a profile and its journals; no request leaves this page. Its data is in the "
                "page as JSON: <code>script#data</code>.</p></footer>\n");
    print_data(report, out);
    at_html_end(out);
}
