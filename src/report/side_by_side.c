/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that put things side by side: the search strategies of `autotune replay`, and the kernels
 * of `autotune bench` and `autotune study`. */
#include "base/memory.h"
#include "replay/compare.h"
#include "report/page.h"
#include "study/study_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pages ---- */

/* Begin a page with a heading below a smaller line that names the command. */
static void begin_page(FILE *out, const char *command, const char *title)
{
    at_html_begin(out, title);
    at_put(out, "<header><p class=\"kicker\">%s</p><h1>%s</h1></header>\n<main>\n", command, title);
}

static void end_page(FILE *out)
{
    at_put(out, "</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
                "; no request leaves this page.</p></footer>\n");
    at_html_end(out);
}

/* ---- replay: curves ---- */

/* A picture's lower edge, where all that is less behind lies, and the points from one mark to the
 * next. */
enum { LEAST_PPM = 1000, MARK_EVERY = 5 };

static const double ppm_per_permille = 1000;

static double height_of(int64_t ppm)
{
    return (double)(ppm > LEAST_PPM ? ppm : LEAST_PPM) / ppm_per_permille;
}

/* The middle half of the searches as a band, and their median with marks. Marks of several curves
 * seldom fall on each other. */
static void add_curve(struct at_plot *plot, const struct at_list *list, bool of_time, size_t series)
{
    const struct at_curve_record *points = list->items;
    struct at_layer *band = at_plot_add(plot, AT_LAYER_LINE, series, "band", NULL);
    struct at_layer *curve = at_plot_add(plot, AT_LAYER_LINE, series, "curve", NULL);
    struct at_layer *marks = at_plot_add(plot, AT_LAYER_MARKS, series, NULL, NULL);

    for (size_t i = 0; i < 2 * list->count; i++) {
        bool back = i >= list->count;
        const struct at_curve_record *point = &points[back ? 2 * list->count - 1 - i : i];
        double x = (double)(of_time ? point->ms : point->evaluations);

        at_layer_add(band, x, height_of(back ? point->lower_ppm : point->upper_ppm), 0);
        if (back)
            continue;
        at_layer_add(curve, x, height_of(point->median_ppm), 0);
        if (i % MARK_EVERY == series % MARK_EVERY)
            at_layer_add(marks, x, height_of(point->median_ppm), 0);
    }
}

static void draw_curves(const struct at_list *strategies, bool of_time, FILE *out)
{
    const struct at_strategy_record *records = strategies->items;
    struct at_plot plot = {.name = of_time ? "How far the best is behind, against seconds"
                                           : "How far the best is behind, against evaluations",
                           .x_title = of_time ? "seconds of evaluations" : "evaluations",
                           .y_title = "slower than the best of the space"};
    struct at_range range;

    for (size_t i = 0; i < strategies->count; i++)
        add_curve(&plot, of_time ? &records[i].drawn_of_time : &records[i].drawn, of_time, i);
    range = at_plot_range(&plot, true, (struct at_range){INFINITY, 0});
    if (range.high > range.low) {
        plot.x = at_axis_logarithmic(range, of_time ? AT_AXIS_SECONDS : AT_AXIS_PLAIN);
        plot.y = at_axis_logarithmic(
            at_plot_range(&plot, false, (struct at_range){height_of(0), 10}), AT_AXIS_PERCENT);
        at_plot_figure(&plot, out);
    }
    at_plot_clear(&plot);
}

/* 0 is never, or unknown. */
static void print_count(int64_t count, const char *class, FILE *out)
{
    at_put(out, count > 0 ? "<td class=\"%s\">%'jd</td>" : "<td class=\"%s\">-</td>", class,
           (intmax_t)count);
}

static void print_behind(const struct at_list *list, FILE *out)
{
    const struct at_curve_record *points = list->items;

    for (size_t i = 0; i < list->count; i++)
        at_put(out, "<td class=\"wider\">%.2f %%</td>", (double)points[i].behind_ppm / 1e4);
}

static void print_strategy(const struct at_strategy_record *record, FILE *out)
{
    const struct at_reach_record *reaches = record->reaches.items;

    at_put(out, "<tr><th scope=\"row\">%s</th>", record->name);
    for (size_t i = 0; i < record->reaches.count; i++) {
        if (reaches[i].within_percent != 1)
            continue;
        print_count(reaches[i].median_evaluations, "", out);
        if (reaches[i].median_ms > 0)
            at_put(out, "<td>%.2f</td>", (double)reaches[i].median_ms / 1000);
        else
            at_put(out, "<td>-</td>");
    }
    at_put(out, "<td>%.3f</td>", (double)record->score_permille / 1000);
    print_count(record->stopped_evaluations, "wide", out);
    at_put(out, "<td>%" PRId64 " of %" PRId64 "</td>", record->ended_within_1_percent,
           record->runs);
    print_behind(&record->curve, out);
    print_behind(&record->curve_of_time, out);
    at_put(out, "</tr>\n");
}

static void print_strategies(const struct at_list *strategies, FILE *out)
{
    const struct at_strategy_record *records = strategies->items;
    const struct at_curve_record *counts = records->curve.items;
    const struct at_curve_record *times = records->curve_of_time.items;
    char *heads = at_strdup("search|to 1 %|seconds to 1 %|score|wide:stops|found"), *longer;

    for (size_t i = 0; i < records->curve.count; i++, free(heads), heads = longer)
        longer = at_format("%s|wider:after %" PRId64, heads, counts[i].evaluations);
    for (size_t i = 0; i < records->curve_of_time.count; i++, free(heads), heads = longer)
        longer = at_format("%s|wider:after %g s", heads, (double)times[i].ms / 1000);
    at_html_table(out, "scroll", "sortable", "%s", heads);
    free(heads);
    for (size_t i = 0; i < strategies->count; i++)
        print_strategy(&records[i], out);
    at_html_table_end(out);
}

/* `timed`: what evaluations took is known. */
static void print_comparison(const struct at_list *strategies, bool timed, FILE *out)
{
    const struct at_strategy_record *records = strategies->items;

    at_put(out, "<p>");
    for (size_t i = 0; i < strategies->count; i++)
        at_key_series(out, i, records[i].name);
    at_put(out, "</p>\n<div class=\"columns\">\n");
    draw_curves(strategies, false, out);
    draw_curves(strategies, true, out);
    at_put(out, "</div>\n");
    if (!timed)
        at_put(out, "<p class=\"small\">Seconds are unknown: the recording does not tell what "
                    "evaluations took.</p>\n");
    print_strategies(strategies, out);
}

static void print_all(const struct at_comparison *comparison, FILE *out)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t count = comparison->recordings.count;

    at_put(out, "<nav aria-label=\"Recordings\">");
    for (size_t i = 0; i < count; i++)
        at_put(out, "<a href=\"#r%zu\">%s</a> ", i, recordings[i].problem);
    at_put(out,
           "</nav>\n<section id=\"all\">\n<h2>All %zu recordings</h2>\n<p>Means of the curves and "
           "of the scores, medians of the evaluations.</p>\n",
           count);
    print_comparison(&comparison->all, true, out);
    at_put(out, "</section>\n");
}

void at_report_replay(const struct at_comparison *comparison, FILE *out)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    const struct at_strategy_record *first = recordings->strategies.items;

    begin_page(out, "autotune replay", "Search strategies on recorded spaces");
    at_plot_shapes(out);
    if (comparison->recordings.count > 1)
        print_all(comparison, out);
    for (size_t i = 0; i < comparison->recordings.count; i++) {
        at_put(out,
               "<section id=\"r%zu\">\n<h2>%s</h2>\n<p>On %s: %'jd configs, the best %a µs.</p>\n",
               i, recordings[i].problem, recordings[i].device, (intmax_t)recordings[i].configs,
               (double)recordings[i].optimum_ns);
        print_comparison(&recordings[i].strategies, recordings[i].evaluation_ns > 0, out);
        at_put(out, "</section>\n");
    }
    at_put(out,
           "<h2>How to read it</h2>\n<p class=\"lead\">A curve tells how much slower the best "
           "config found so far is than the best of the space: the median of %" PRId64
           " searches, and as a band their middle half. At the lower edge it is at most 0.1 %% "
           "slower. Seconds are those of the evaluations, one after another, as recorded.</p>\n"
           "<dl class=\"words\"><dt>to 1 %%</dt><dd>evaluations until the best is within 1 %%, the "
           "median of the searches; - means never, or unknown</dd>\n<dt>score</dt><dd>share of "
           "the gap between random search and the best that is closed (1: all)</dd>\n"
           "<dt>stops</dt><dd>evaluations until the search stops by itself</dd>\n<dt>found</dt>"
           "<dd>searches that came within 1 %%</dd>\n<dt>after</dt><dd>how much slower the best "
           "is after this many evaluations, or seconds, in the mean</dd></dl>\n",
           first->runs);
    end_page(out);
}

/* ---- bench and study: bars ---- */

/* A cell with a bar before the value; the longest is of `most`. */
static void print_bar(FILE *out, const char *class, double value, double most, int digits)
{
    at_put(out, "<td class=\"bar%s\"><i style=\"--v:%.3f\"></i>%.*f</td>", class,
           fmin(1, value / fmax(most, 1)), digits, value);
}

static void print_note(bool predicted, const char *note, FILE *out)
{
    if (note[0])
        at_put(out, "%p%s</p>\n", predicted ? "<p class=\"banner\"><b>Emulated:</b> " : "<p>",
               note);
}

static void print_bench_row(const struct at_bench_row *row, FILE *out)
{
    if (row->time_ns == 0) {
        at_put(out, "<tr><th scope=\"row\">%s</th><td>not legal here</td></tr>\n", row->label);
        return;
    }
    at_put(out, "<tr><th scope=\"row\">%s</th><td>%a</td><td>%.0f%s</td>", row->label,
           (double)row->time_ns, (double)row->bandwidth_MB_per_s / 1000, row->from_l2 ? " *" : "");
    print_bar(out, " share", (double)row->of_copy_permille / 10, 120, 1);
    at_put(out, "<td class=\"wide\">%.1f</td><td class=\"words wide\"><code>%s</code></td></tr>\n",
           (double)row->spread_permille / 10, row->kernel);
}

static void print_bench(const struct at_bench_report *report, FILE *out)
{
    const struct at_bench_row *rows = report->rows.items;

    at_put(out, "<h2>%s</h2>\n<p>On %s, policy %s.</p>\n", report->problem, report->device,
           report->policy);
    print_note(report->predicted, report->note, out);
    at_html_table(out, "scroll", "sortable",
                  "kernel|%sµs|GB/s|%% of copy|wide:spread %%|wide name:config",
                  report->predicted ? "predicted " : "");
    for (size_t i = 0; i < report->rows.count; i++)
        print_bench_row(&rows[i], out);
    at_html_table_end(out);
    at_put(out, "<p class=\"small\">Bars: share of the copy limit, which is the upright line. * "
                "faster than the memory allows: its data stayed in the L2 cache.</p>\n");
}

void at_report_bench(const struct at_bench_report *reports, size_t count, FILE *out)
{

    begin_page(out, "autotune bench", "The textbook's kernels beside the copy limit");
    for (size_t i = 0; i < count; i++)
        print_bench(&reports[i], out);
    end_page(out);
}

static void print_study_line(const struct at_study_line *line, double most, FILE *out)
{
    const int64_t ratios[][2] = {
        {line->load.sectors, line->load.requests},
        {line->store.sectors, line->store.requests},
        {line->shared_load.wavefronts, line->shared_load.least_wavefronts},
        {line->shared_store.wavefronts, line->shared_store.least_wavefronts}};

    at_put(out, "<tr><th scope=\"row\">%s</th>", line->label);
    if (line->time_ns > 0) {
        at_put(out, "<td class=\"wide\">%a</td>", (double)line->time_ns);
        print_bar(out, "", (double)line->bandwidth_MB_per_s / 1000, most, 0);
    } else {
        at_put(out, "<td class=\"wide\">–</td><td>–</td>");
    }
    for (size_t i = 0; i < AT_COUNT(ratios); i++)
        at_put(out, ratios[i][1] > 0 ? "<td%p>%.2f</td>" : "<td%p>–</td>",
               i < 2 ? "" : " class=\"wide\"", (double)ratios[i][0] / (double)ratios[i][1]);
    at_put(out, "<td class=\"words wide\"><code>%s %s</code></td></tr>\n", line->family,
           line->config);
}

/* The lines of one problem. */
static void print_study_part(const struct at_study_result *result,
                             const struct at_study_line *lines, size_t count, FILE *out)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, (double)lines[i].bandwidth_MB_per_s / 1000);
    at_put(out, "<h2>%s</h2>\n", lines->problem);
    at_html_table(out, "scroll", "sortable",
                  "kernel|wide:%s µs|GB/s|sectors a load|sectors a store|wide:shared load ways|"
                  "wide:shared store ways|wide name:config",
                  result->times);
    for (size_t i = 0; i < count; i++)
        print_study_line(&lines[i], most, out);
    at_html_table_end(out);
}

void at_report_study(const struct at_study_result *result, FILE *out)
{
    const struct at_study_line *lines = result->lines.items;
    size_t begin = 0;

    begin_page(out, "autotune study", result->title);
    at_put(out, "<p>On %s.</p>\n", result->device);
    print_note(strcmp(result->times, "predicted") == 0, result->note, out);
    for (size_t i = 1; i <= result->lines.count; i++)
        if (i == result->lines.count || strcmp(lines[i].problem, lines[begin].problem) != 0) {
            print_study_part(result, &lines[begin], i - begin, out);
            begin = i;
        }
    at_put(out, "<h2>How to read it</h2>\n<p class=\"lead\">%s</p>\n", result->reading);
    end_page(out);
}
