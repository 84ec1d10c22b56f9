/* SPDX-License-Identifier: Apache-2.0 */
/* Is a run to be trusted? What speaks for it and against it. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "report/html.h"
#include "report/sections.h"

#include <stdlib.h>
#include <string.h>

/* Spreads from here on are worth a look: 3 %. LISTED: problems that a line names. */
enum { SPREAD_PERMILLE = 30, LISTED = 6 };

/* What was checked: a list, and how many of its lines speak against the run. */
struct trust {
    FILE *out;
    size_t doubts;
};

static void begin_check(struct trust *trust, bool good)
{
    trust->doubts += !good;
    fprintf(trust->out, "<li class=\"%s\"><b>%s</b> ", good ? "good" : "doubt", good ? "✓" : "!");
}

/* From the profile and, where it saw none, from what the journals saw. */
static void check_throttling(const struct at_report_device *device, struct trust *trust)
{
    const char *words = device->conditions.throttle;
    bool known = words[0] != '\0', none = strcmp(words, "none") == 0;
    size_t looks, throttled = at_report_throttled(device, &looks);

    begin_check(trust, known && none && throttled == 0);
    fputs(known ? "Throttling: " : "Throttling is not known", trust->out);
    at_html(trust->out, none && throttled > 0 ? "" : words);
    if (throttled > 0)
        fprintf(trust->out, "%sat %zu of the journal's %zu looks at the device", none ? "" : "; ",
                throttled, looks);
    fputs("</li>\n", trust->out);
}

static void check_conditions(const struct at_report_device *device, struct trust *trust)
{
    const struct at_conditions *seen = &device->conditions;
    FILE *out = trust->out;
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

    check_throttling(device, trust);
    for (size_t i = 0; i < AT_COUNT(troubles); i++)
        if (troubles[i].amount > 0) {
            begin_check(trust, false);
            fprintf(out, "%s: ", troubles[i].what);
            at_html_count(out, troubles[i].amount);
            fprintf(out, "%s</li>\n", troubles[i].unit);
        }
    if (seen->remeasured > 0 || seen->discarded_samples > 0) {
        begin_check(trust, true);
        at_html_count(out, seen->remeasured);
        fputs(" configs were measured again after drifts, ", out);
        at_html_count(out, seen->discarded_samples);
        fputs(" samples after low clocks</li>\n", out);
    }
}

/* A check of each row: how many does it hit? */
struct check {
    bool (*hits)(const struct at_report_row *row);
    const char *none, *one, *some; /* the last two after the number; none NULL: say nothing */
};

static bool is_spread(const struct at_report_row *row)
{
    return row->entry->winner.spread_permille > SPREAD_PERMILLE;
}

static bool is_above_copy(const struct at_report_row *row)
{
    return row->entry->winner.of_copy_permille > 1000;
}

static bool is_from_l2(const struct at_report_row *row)
{
    return row->entry->from_l2;
}

static bool is_spilled(const struct at_report_row *row)
{
    return row->entry->winner.spill_bytes > 0;
}

static bool is_cut(const struct at_report_row *row)
{
    return row->entry->ended == AT_ENDED_BUDGET || row->entry->ended == AT_ENDED_INTERRUPTED;
}

static const struct check checks[] = {
    {is_spread, "No winner's samples spread by more than 3 %",
     "winner's samples spread by more than 3 %", "winners' samples spread by more than 3 %"},
    {is_cut, "No search was cut short by a budget or a signal",
     "search was cut short by a budget or a signal",
     "searches were cut short by a budget or a signal"},
    {is_above_copy, NULL, "winner is faster than the copy limit, so that limit is too low",
     "winners are faster than their copy limits, so those limits are too low"},
    {is_from_l2, NULL, "winner is faster than the memory can be: its data stayed in the L2 cache",
     "winners are faster than the memory can be: their data stayed in the L2 cache"},
    {is_spilled, NULL, "winner spills registers", "winners spill registers"},
};

static size_t count_hits(const struct at_report_device *device, const struct check *check)
{
    size_t hits = 0;

    for (size_t i = 0; i < device->count; i++)
        hits += check->hits(&device->rows[i]);
    return hits;
}

static void print_hits(const struct at_report_device *device, const struct check *check,
                       struct trust *trust)
{
    FILE *out = trust->out;
    size_t hits = count_hits(device, check), listed = 0;

    if (hits == 0 && !check->none)
        return;
    begin_check(trust, hits == 0);
    if (hits == 0) {
        fprintf(out, "%s</li>\n", check->none);
        return;
    }
    at_html_count(out, (int64_t)hits);
    fprintf(out, " %s: ", hits == 1 ? check->one : check->some);
    for (size_t i = 0; i < device->count && listed < LISTED; i++)
        if (check->hits(&device->rows[i])) {
            fprintf(out, "%s<a href=\"#%s\">", listed++ ? ", " : "", device->rows[i].anchor);
            at_html(out, device->rows[i].entry->problem);
            fputs("</a>", out);
        }
    fprintf(out, "%s</li>\n", hits > listed ? ", …" : "");
}

static void check_outcomes(const struct at_report_device *device, struct trust *trust)
{
    FILE *out = trust->out;
    int64_t counts[AT_OUTCOMES] = {0}, failed = 0;

    for (size_t i = 0; i < device->count; i++)
        for (int j = 0; j < AT_OUTCOMES; j++)
            counts[j] += device->rows[i].entry->evaluations.counts[j];
    for (int i = 0; i < AT_OUTCOMES; i++)
        failed += i == AT_CORRECT ? 0 : counts[i];
    begin_check(trust, failed == 0);
    at_html_count(out, counts[AT_CORRECT]);
    fputs(" configs gave the right result in every bit", out);
    for (int i = 0; i < AT_OUTCOMES; i++)
        if (i != AT_CORRECT && counts[i] > 0) {
            fputs("; ", out);
            at_html_count(out, counts[i]);
            fprintf(out, " ended as <i>%s</i>", at_outcome_names[i]);
        }
    fputs(failed ? ", and were not chosen</li>\n" : "</li>\n", out);
}

static void check_all(const struct at_report_device *device, struct trust *trust)
{
    begin_check(trust, !device->predicted);
    fputs(device->predicted ? "Times are predicted, not measured</li>\n"
                            : "Winners were timed anew, side by side, after the search</li>\n",
          trust->out);
    if (!device->predicted)
        check_conditions(device, trust);
    check_outcomes(device, trust);
    for (size_t i = 0; i < AT_COUNT(checks); i++)
        print_hits(device, &checks[i], trust);
}

void at_report_trust(const struct at_report *report, const struct at_report_device *device,
                     FILE *out)
{
    struct at_text_stream stream;
    struct trust trust = {.out = at_text_open(&stream)};
    char *list;

    check_all(device, &trust);
    list = at_text_close(&stream, NULL);
    fprintf(out, "<div><h3 id=\"d%zu-trust\">Is this run to be trusted?</h3>\n<p><b>",
            (size_t)(device - report->devices));
    if (trust.doubts == 0)
        fputs("Yes:</b> nothing that was checked speaks against it.</p>\n", out);
    else
        fprintf(out, "With care:</b> %zu point%s below, marked !, speak%s against it.</p>\n",
                trust.doubts, trust.doubts == 1 ? "" : "s", trust.doubts == 1 ? "s" : "");
    fprintf(out, "<ul class=\"checks\">\n%s</ul></div>\n", list);
    free(list);
}
