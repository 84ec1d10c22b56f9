/* SPDX-License-Identifier: Apache-2.0 */
/* Is a run to be trusted? What speaks for it and against it; and how the profile was made: by which
 * device and software, when, and by which command. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "report/sections.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Spreads from here on are worth a look: 3 %. LISTED: problems that a line names. NAMED: problems
 * of a command; more are in a list of their own. */
enum { SPREAD_PERMILLE = 30, LISTED = 6, NAMED = 6 };

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
    enum { SPREAD, CUT, ABOVE_COPY, FROM_L2, SPILLED } kind;
    const char *none, *one, *some; /* the last two after the number; none NULL: say nothing */
} checks[] = {
    {SPREAD, "No winner's samples spread by more than 3 %",
     "winner's samples spread by more than 3 %", "winners' samples spread by more than 3 %"},
    {CUT, "No search was cut short by a budget or a signal",
     "search was cut short by a budget or a signal",
     "searches were cut short by a budget or a signal"},
    {ABOVE_COPY, NULL, "winner is faster than the copy limit, so that limit is too low",
     "winners are faster than their copy limits, so those limits are too low"},
    {FROM_L2, NULL, "winner is faster than the memory can be: its data stayed in the L2 cache",
     "winners are faster than the memory can be: their data stayed in the L2 cache"},
    {SPILLED, NULL, "winner spills registers", "winners spill registers"},
};

static bool is_hit(const struct at_entry *entry, const struct check *check)
{
    switch (check->kind) {
    case SPREAD:
        return entry->winner.spread_permille > SPREAD_PERMILLE;
    case CUT:
        return entry->ended == AT_ENDED_BUDGET || entry->ended == AT_ENDED_INTERRUPTED;
    case ABOVE_COPY:
        return entry->winner.of_copy_permille > 1000;
    case FROM_L2:
        return entry->from_l2;
    default:
        return entry->winner.spill_bytes > 0;
    }
}

static size_t check_rows(const struct at_report_device *device, const struct check *check,
                         FILE *out)
{
    size_t hits = 0, listed = 0, doubts;

    for (size_t i = 0; i < device->count; i++)
        hits += is_hit(device->rows[i].entry, check);
    if (hits == 0 && !check->none)
        return 0;
    doubts = begin_check(out, hits == 0);
    if (hits == 0)
        at_put(out, "%s", check->none);
    else
        at_put(out, "%'jd %s: ", (intmax_t)hits, hits == 1 ? check->one : check->some);
    for (size_t i = 0; i < device->count && listed < LISTED; i++)
        if (is_hit(device->rows[i].entry, check))
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

void at_report_trust(const struct at_report_device *device, FILE *out)
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

    if (device->points == 0) {
        at_put(out, "<dt>date</dt><dd>not known: a profile has no dates, and no journal has these "
                    "problems</dd>\n");
        return;
    }
    for (size_t i = 0; i < AT_COUNT(moments); i++) {
        const time_t seconds = (time_t)(moments[i] / 1000);
        struct tm date = {.tm_mday = 1};

        gmtime_r(&seconds, &date);
        strftime(texts[i], sizeof texts[i], "%Y-%m-%d %H:%M", &date);
    }
    at_put(out, "<dt>date</dt><dd>%s to %s UTC, %'jd evaluations in the journal</dd>\n", texts[0],
           texts[1], (intmax_t)device->points);
}

/* Were all problems searched in the same way? */
static bool is_one_search(const struct at_report_device *device)
{
    const struct at_entry *first = device->rows[0].entry;

    for (size_t i = 1; i < device->count; i++) {
        const struct at_entry *entry = device->rows[i].entry;

        if (strcmp(entry->search, first->search) != 0 || entry->seed != first->seed)
            return false;
    }
    return true;
}

/* The profile does not have the budget, the families and the options of a run. */
static void print_command(const struct at_report_device *device, FILE *out)
{
    const struct at_device_record *record = device->record;
    const struct at_entry *entry = device->rows[0].entry;
    bool listed = device->count > NAMED;

    at_put(out, "<dt>to repeat it</dt><dd><code>autotune tune --gpu %s --policy %s",
           device->predicted ? record->device.uuid : "0", record->policy.name);
    if (entry->search[0])
        at_put(out, " --search %s", entry->search);
    at_put(out, " --seed %jd", (intmax_t)entry->seed);
    for (size_t i = 0; i < device->count && !listed; i++)
        at_put(out, " --problem %s", device->rows[i].entry->problem);
    at_put(out, "%s --out FILE</code>%s", listed ? " --problems LIST" : "",
           is_one_search(device)
               ? ""
               : " (the search of the worst problem; others were searched otherwise)");
    if (listed)
        at_put(out, "<details><summary>LIST</summary><pre>schema: 1\nproblems:\n");
    for (size_t i = 0; i < device->count && listed; i++)
        at_put(out, "%s%s", i ? "\n  - " : "  - ", device->rows[i].entry->problem);
    at_put(out, "%p</dd>\n", listed ? "</pre></details>" : "");
}

void at_report_origin(const struct at_report_device *device, FILE *out)
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
        print_command(device, out);
    }
    at_put(out, "</dl>\n");
}
