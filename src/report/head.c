/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a page: what was found, and what more search would bring. */
#include "base/memory.h"
#include "report/html.h"
#include "report/sections.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- the title ---- */

void at_report_head(const struct at_report *report, FILE *out)
{
    fputs("<header><p class=\"kicker\">autotune report</p><h1>", out);
    at_html(out, report->profile_name);
    fputs("</h1>\n<nav>", out);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        if (report->device_count > 1) {
            fprintf(out, "<span>");
            at_html(out, device->record->device.name);
            fputs("</span> ", out);
        }
        fprintf(out,
                "<a href=\"#d%zu-trust\">Trust</a> <a href=\"#d%zu-table\">Table</a> "
                "<a href=\"#d%zu-maps\">Maps</a> <a href=\"#d%zu-problems\">Problems</a> ",
                i, i, i, i);
        if (device->points > 0)
            fprintf(
                out,
                "<a href=\"#d%zu-parameters\">Parameters</a> <a href=\"#d%zu-run\">The run</a> ", i,
                i);
    }
    if (report->baseline)
        fputs("<a href=\"#changes\">Changes</a>", out);
    fputs("</nav></header>\n", out);
}

/* ---- what was found ---- */

static void print_share(FILE *out, double share)
{
    fprintf(out, "%.1f&#8239;%%", 100 * share);
}

static void print_card(FILE *out, const char *what)
{
    fputs("</b><span>", out);
    fputs(what, out);
    fputs("</span></li>\n", out);
}

static void print_numbers(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    fputs("<ul class=\"numbers\">\n<li><b>", out);
    print_share(out, device->of_copy);
    print_card(out, "of the copy limit, geometric mean");
    fputs("<li><b>", out);
    print_share(out, (double)worst->entry->winner.of_copy_permille / 1000);
    fprintf(out, "</b><span>the worst problem, <a href=\"#%s\">", worst->anchor);
    at_html(out, worst->entry->problem);
    fputs("</a></span></li>\n<li><b>", out);
    if (device->over_default > 0)
        fprintf(out, "%.2f&#8239;×", device->over_default);
    else
        fputs("–", out);
    print_card(out, device->over_default > 0 ? "as fast as the default configs, geometric mean"
                                             : "the default configs were not timed");
    fputs("</ul>\n", out);
}

static void print_lead(const struct at_report_device *device, FILE *out)
{
    fputs("<p class=\"lead\">", out);
    at_html_count(out, (int64_t)device->count);
    fprintf(out,
            " transpose problem%s, %s caches. The <em>copy limit</em> is the fastest copy of as "
            "many bytes on this device: what a transpose can hope for.</p>\n",
            device->count == 1 ? "" : "s",
            strcmp(device->record->policy.name, "warm") == 0 ? "warm" : "cold");
    if (device->predicted) {
        fputs("<p class=\"banner\"><b>Emulated:</b> ", out);
        at_html(out, at_emulated_times(&device->record->device));
        fputs(".</p>\n", out);
    }
}

/* ---- the worst problem ---- */

static void print_worst(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    fprintf(out, "<div><h3>Which problem is worst, and why?</h3>\n<p><b><a href=\"#%s\">",
            worst->anchor);
    at_html(out, worst->entry->problem);
    fputs("</a>:</b> ", out);
    print_share(out, (double)worst->entry->winner.of_copy_permille / 1000);
    fputs(" of the copy limit, by the kernel ", out);
    at_html(out, worst->entry->winner.family);
    fputs(".</p>\n", out);
    at_report_remarks(device, worst, out);
    fputs("</div>\n", out);
}

/* ---- which parameter ---- */

static void print_parameter(const struct at_report *report, const struct at_report_device *device,
                            FILE *out)
{
    fputs("<div><h3>Which parameter matters?</h3>\n<p>", out);
    if (device->points > 0) {
        at_report_parameters_lead(report, device, out);
        fprintf(out, " <a href=\"#d%zu-parameters\">All of them</a></p></div>\n",
                (size_t)(device - report->devices));
    } else {
        fputs("Only a journal tells.</p></div>\n", out);
    }
}

/* ---- more search ---- */

/* The fastest time among the first `count` points; 0: none. */
static double best_of(const struct at_report_search *search, size_t count)
{
    double best = 0;

    for (size_t i = 0; i < count; i++)
        if (search->points[i].ns > 0 && (best == 0 || search->points[i].ns < best))
            best = search->points[i].ns;
    return best;
}

/* What the later parts of the searches brought. */
struct gain {
    size_t searches;
    double mean; /* of the later half, geometric, less 1 */
    size_t late; /* searches whose last quarter brought more than 1 % */
};

static struct gain find_gain(const struct at_report_device *device)
{
    struct gain gain = {.searches = 0};
    double sum = 0;

    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_search *search = device->rows[i].search;
        double half, quarter, all;

        if (!search || search->count < 8 || search->best_index == search->count)
            continue;
        all = best_of(search, search->count);
        half = best_of(search, search->count / 2);
        quarter = best_of(search, search->count - search->count / 4);
        if (half == 0 || quarter == 0)
            continue;
        sum += log(half / all);
        gain.late += quarter > 1.01 * all;
        gain.searches++;
    }
    if (gain.searches > 0)
        gain.mean = exp(sum / (double)gain.searches) - 1;
    return gain;
}

static void print_gain(const struct gain *gain, FILE *out)
{
    if (gain->searches > 0)
        fprintf(out,
                "<li>The later half of the evaluations made the best config faster by "
                "%.1f&#8239;%% in the geometric mean; the last quarter by more than 1&#8239;%% on "
                "%zu of %zu problems.</li>\n",
                100 * gain->mean, gain->late, gain->searches);
}

/* A later half that brought less than this much brought little. */
static const double little = 0.01;

/* How the searches of a device ended. */
struct ends {
    size_t counts[AT_ENDED_EXHAUSTED + 1];
    int64_t measured, legal;
};

static struct ends count_ends(const struct at_report_device *device)
{
    struct ends ends = {.measured = 0};

    for (size_t i = 0; i < device->count; i++) {
        const struct at_entry *entry = device->rows[i].entry;

        ends.counts[entry->ended]++;
        ends.measured += at_evaluations_total(&entry->evaluations);
        ends.legal += entry->evaluations.configs;
    }
    return ends;
}

/* Settled searches expect no gain; whether they are right, only the journal can tell. */
static void print_verdict(const struct at_report_device *device, const struct ends *ends,
                          const struct gain *gain, FILE *out)
{
    size_t unknown = ends->counts[AT_ENDED_UNKNOWN];

    if (ends->counts[AT_ENDED_EXHAUSTED] == device->count)
        fputs("Nothing:</b> every legal config was tried.", out);
    else if (ends->counts[AT_ENDED_BUDGET] + ends->counts[AT_ENDED_INTERRUPTED] > 0)
        fputs("Maybe something:</b> searches were cut short.", out);
    else if (gain->searches > 0 && (gain->mean > little || gain->late * 10 > gain->searches))
        fputs("Maybe something:</b> the searches still gained towards their ends.", out);
    else if (unknown == device->count)
        fputs("Not known:</b> the profile does not tell how the searches ended.", out);
    else
        fputs(
            "Probably little:</b> the searches ended because they expected no further gain or had "
            "tried everything.",
            out);
    if (unknown > 0 && unknown < device->count)
        fprintf(out, " Of %zu the profile does not tell how they ended.", unknown);
}

static void print_more(const struct at_report *report, const struct at_report_device *device,
                       FILE *out)
{
    const struct ends ends = count_ends(device);
    const struct gain gain = find_gain(device);

    fputs("<div><h3>What would more search bring?</h3>\n<p><b>", out);
    print_verdict(device, &ends, &gain, out);
    fputs("</p><ul>\n<li>", out);
    at_html_count(out, ends.measured);
    fputs(" of ", out);
    at_html_count(out, ends.legal);
    fprintf(out,
            " legal configs were tried%s</li>\n<li>Searches that settled: %zu; that tried "
            "everything: %zu; cut short: %zu</li>\n",
            ends.legal == 0 || ends.measured == ends.legal
                ? ""
                : "; a better one may be among the others",
            ends.counts[AT_ENDED_SETTLED], ends.counts[AT_ENDED_EXHAUSTED],
            ends.counts[AT_ENDED_BUDGET] + ends.counts[AT_ENDED_INTERRUPTED]);
    print_gain(&gain, out);
    if (device->points == 0)
        fprintf(out, "<li>%s</li>\n",
                report->journal_count ? "The journals have no evaluation of these problems by this "
                                        "device and policy"
                                      : "<code>--journal</code> adds how each search went");
    fputs("</ul></div>\n", out);
}

void at_report_device_head(const struct at_report *report, const struct at_report_device *device,
                           FILE *out)
{
    fputs("<h2>", out);
    at_html(out, device->record->device.name);
    fputs("</h2>\n", out);
    print_lead(device, out);
    if (device->count > 0) {
        print_numbers(device, out);
        fputs("<div class=\"columns\">\n", out);
        print_worst(device, out);
        at_report_trust(report, device, out);
        print_parameter(report, device, out);
        print_more(report, device, out);
        fputs("</div>\n", out);
    }
    at_report_made(device, out);
}
