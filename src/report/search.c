/* SPDX-License-Identifier: Apache-2.0 */
/* How the search of a problem went, as plots. */
#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times beyond this many times the best are at the upper edge. */
enum { SLOWEST = 5 };

/* `slowest`: the longest time to show. */
static struct at_plot make_plot(const struct at_report_shown *shown, double slowest, FILE *out)
{
    double best = at_report_best_point(shown)->ns, copy = (double)shown->row->entry->copy.time_ns;
    struct at_plot plot = {.out = out,
                           .width = 560,
                           .height = 300,
                           .left = 48,
                           .right = 540,
                           .top = 22,
                           .bottom = 254,
                           .small = shown->few};

    plot.y = at_axis_logarithmic(fmin(best, copy), fmin(fmax(slowest, copy), SLOWEST * best),
                                 AT_AXIS_US);
    plot.y_title = at_report_unit(shown->device);
    return plot;
}

static void draw_levels(const struct at_report_shown *shown, const struct at_plot *plot)
{
    const struct at_entry *entry = shown->row->entry;

    at_plot_level(plot, (double)entry->copy.time_ns, "copy");
    if (entry->fallback.time_ns > 0)
        at_plot_level(plot, (double)entry->fallback.time_ns, "default");
    if (shown->row->old)
        at_plot_level(plot, (double)shown->row->old->winner.time_ns, "old");
}

/* Draw a step at each improvement; x is the point's number, or its seconds. */
static void draw_best(const struct at_report_shown *shown, struct at_plot *plot, bool seconds)
{
    const struct at_report_point *points = shown->search->points;
    double best = 0, x = 0;

    at_plot_line(plot, "best");
    for (size_t i = 0; i < shown->search->count; i++) {
        x = seconds ? (double)(points[i].utc_ms - points[0].utc_ms) : (double)i + 1;
        if (points[i].ns <= 0 || (best > 0 && points[i].ns >= best))
            continue;
        best = points[i].ns;
        at_plot_step(plot, x, best);
    }
    at_plot_step(plot, x, best);
    at_plot_points_end(plot);
}

/* The points of one family, or what the search expected of all. */
static void draw_family(const struct at_report_shown *shown, struct at_plot *plot, size_t kernel)
{
    const char *name = shown->report->kernels[kernel];
    bool begun = false;

    for (size_t i = 0; i < shown->search->count; i++) {
        const struct at_report_point *point = &shown->search->points[i];

        if (!shown->chosen[i] || point->ns <= 0 || strcmp(point->family, name) != 0)
            continue;
        if (!begun)
            at_plot_marks(plot, kernel, name);
        begun = true;
        at_plot_spot(plot, (double)i + 1, point->ns);
    }
    if (begun)
        at_plot_points_end(plot);
}

static bool has_expected(const struct at_report_shown *shown)
{
    for (size_t i = 0; i < shown->search->count && !shown->few; i++)
        if (shown->search->points[i].expected_ns > 0)
            return true;
    return false;
}

static void draw_expected(const struct at_report_shown *shown, struct at_plot *plot)
{
    at_plot_line(plot, "expected");
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->chosen[i] && shown->search->points[i].expected_ns > 0)
            at_plot_spot(plot, (double)i + 1, shown->search->points[i].expected_ns);
    at_plot_points_end(plot);
}

static bool has_family(const struct at_report_shown *shown, const char *name)
{
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->chosen[i] && strcmp(shown->search->points[i].family, name) == 0)
            return true;
    return false;
}

static void draw_configs(const struct at_report_shown *shown, FILE *out)
{
    struct at_plot plot;
    double slowest = 0;

    for (size_t i = 0; i < shown->search->count; i++)
        slowest = fmax(slowest, shown->search->points[i].ns);
    plot = make_plot(shown, slowest, out);
    plot.x = at_axis_linear(0, (double)shown->search->count, AT_AXIS_PLAIN);
    plot.x_title = "evaluation";
    fputs("<figure class=\"configs\"><div class=\"scroll\">\n", out);
    at_plot_begin(&plot, "Time of each config, in the order of evaluation");
    draw_levels(shown, &plot);
    if (has_expected(shown))
        draw_expected(shown, &plot);
    for (size_t i = 0; i < shown->report->kernel_count; i++)
        draw_family(shown, &plot, i);
    draw_best(shown, &plot, false);
    at_plot_end(&plot);
    fputs("</div><figcaption>", out);
    for (size_t i = 0; i < shown->report->kernel_count; i++)
        if (has_family(shown, shown->report->kernels[i]))
            at_plot_key_item(out, i, shown->report->kernels[i]);
    if (slowest > plot.y.high)
        fputs("Slower ones: at the upper edge.", out);
    fputs("</figcaption></figure>\n", out);
}

static void draw_seconds(const struct at_report_shown *shown, FILE *out)
{
    const struct at_report_point *points = shown->search->points;
    struct at_plot plot;
    double span = 0, first = 0;

    for (size_t i = 0; i < shown->search->count; i++) {
        span = fmax(span, (double)(points[i].utc_ms - points[0].utc_ms));
        first = first > 0 ? first : points[i].ns;
    }
    if (span <= 0)
        return;
    plot = make_plot(shown, first, out);
    plot.x = at_axis_linear(0, span, AT_AXIS_SECONDS);
    plot.x_title = "seconds since the first evaluation";
    fputs("<figure><div class=\"scroll\">\n", out);
    at_plot_begin(&plot, "Best time so far against seconds");
    draw_levels(shown, &plot);
    draw_best(shown, &plot, true);
    at_plot_end(&plot);
    fputs("</div></figure>\n", out);
}

void at_report_search(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, bool few, FILE *out)
{
    struct at_report_shown shown = {.report = report,
                                    .device = device,
                                    .row = row,
                                    .search = row->search,
                                    .limit = few ? AT_REPORT_FEW_POINTS : AT_REPORT_MANY_POINTS,
                                    .few = few};

    if (!row->search || row->search->best_index == row->search->count)
        return;
    at_report_choose_points(&shown);
    fprintf(out, "<h5>The search</h5>\n<div class=\"columns%s\">\n", few ? " one" : "");
    draw_configs(&shown, out);
    if (!few)
        draw_seconds(&shown, out);
    fputs("</div>\n", out);
    if (row->search->count > shown.limit)
        fprintf(out,
                "<p class=\"small\">%zu of %zu evaluations: the fastest, and others evenly spread."
                "</p>\n",
                shown.limit, row->search->count);
    at_report_search_tables(&shown, out);
    free(shown.chosen);
}
