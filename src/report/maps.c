/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of all problems: where is it slow? */
#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Element sizes are the series. */
static const char *const size_names[] = {"1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes"};
enum { SIZES = AT_COUNT(size_names) };

static size_t series_of(const struct at_report_row *row)
{
    size_t series = 0;

    while (series + 1 < SIZES && (INT64_C(1) << series) < row->problem.elem_size)
        series++;
    return series;
}

static struct at_plot make_plot(FILE *out, bool alone)
{
    return (struct at_plot){.out = out,
                            .width = 560,
                            .height = 320,
                            .left = 48,
                            .right = 540,
                            .top = 24,
                            .bottom = 274,
                            .alone = alone};
}

/* The series that occur; returns how many. */
static size_t find_sizes(const struct at_report_device *device, size_t series[SIZES],
                         const char *names[SIZES])
{
    bool seen[SIZES] = {false};
    size_t count = 0;

    for (size_t i = 0; i < device->count; i++)
        seen[series_of(&device->rows[i])] = true;
    for (size_t i = 0; i < SIZES; i++)
        if (seen[i]) {
            series[count] = i;
            names[count++] = size_names[i];
        }
    return count;
}

static void print_key(const struct at_report_device *device, const struct at_plot *plot, FILE *out)
{
    const char *names[SIZES];
    size_t series[SIZES], count = find_sizes(device, series, names);

    if (plot) {
        at_plot_key(plot, names, series, count);
        return;
    }
    fputs("<figcaption>Element size: ", out);
    for (size_t i = 0; i < count; i++)
        at_plot_key_item(out, series[i], names[i]);
    fputs("</figcaption>\n", out);
}

static char *name_row(const struct at_report_row *row)
{
    return at_format("%s: %.1f %% of the copy limit, %s", row->entry->problem,
                     (double)row->entry->winner.of_copy_permille / 10, row->entry->winner.family);
}

static const char *anchor_of(const struct at_report_device *device, const struct at_plot *plot,
                             size_t index)
{
    bool linked = !plot->alone && index < device->open;

    return linked ? device->rows[index].anchor : NULL;
}

/* Print the marks of many rows, a list per series. */
static void draw_many(const struct at_report_device *device, struct at_plot *plot,
                      void (*place)(const struct at_report_row *row, double *x, double *y))
{
    for (size_t series = 0; series < SIZES; series++) {
        at_plot_marks(plot, series, size_names[series]);
        for (size_t i = 0; i < device->count; i++)
            if (series_of(&device->rows[i]) == series) {
                double x, y;

                place(&device->rows[i], &x, &y);
                at_plot_point(plot, x, y);
            }
        at_plot_points_end(plot);
    }
}

static void place_on_map(const struct at_report_row *row, double *x, double *y)
{
    *x = (double)row->bytes;
    *y = (double)row->entry->winner.of_copy_permille;
}

static void place_by_shape(const struct at_report_row *row, double *x, double *y)
{
    *x = (double)row->problem.cols;
    *y = (double)row->problem.rows;
}

static void draw_map(const struct at_report_device *device, bool alone, FILE *out)
{
    struct at_plot plot = make_plot(out, alone);
    double least = 1e300, most = 1, low = 1000, high = 1000;

    for (size_t i = 0; i < device->count; i++) {
        least = fmin(least, (double)device->rows[i].bytes);
        most = fmax(most, (double)device->rows[i].bytes);
        low = fmin(low, (double)device->rows[i].entry->winner.of_copy_permille);
        high = fmax(high, (double)device->rows[i].entry->winner.of_copy_permille);
    }
    plot.x = at_axis_logarithmic(least, most, AT_AXIS_BYTES);
    plot.y = at_axis_linear(low, high, AT_AXIS_PERCENT);
    plot.x_title = alone ? "share of the copy limit, against bytes read and written"
                         : "bytes read and written";
    plot.y_title = alone ? "" : "share of the copy limit";
    at_plot_begin(&plot, "Share of the copy limit against bytes, a mark a problem");
    if (device->count > AT_REPORT_MARKS_MAX)
        draw_many(device, &plot, place_on_map);
    for (size_t i = 0; i < device->count && device->count <= AT_REPORT_MARKS_MAX; i++) {
        const struct at_report_row *row = &device->rows[i];
        char *text = name_row(row);

        at_plot_mark(&plot, series_of(row), (double)row->bytes,
                     (double)row->entry->winner.of_copy_permille, text,
                     anchor_of(device, &plot, i));
        free(text);
    }
    if (alone)
        print_key(device, &plot, out);
    at_plot_end(&plot);
}

/* The mark's size tells how far from the copy limit it is. */
static void draw_shapes(const struct at_report_device *device, bool alone, FILE *out)
{
    struct at_plot plot = make_plot(out, alone);
    double rows = 1, cols = 1, least = 1e300;

    for (size_t i = 0; i < device->count; i++) {
        const struct at_problem *problem = &device->rows[i].problem;

        rows = fmax(rows, (double)problem->rows);
        cols = fmax(cols, (double)problem->cols);
        least =
            fmin(least, (double)(problem->rows < problem->cols ? problem->rows : problem->cols));
    }
    plot.x = at_axis_logarithmic(least, cols, AT_AXIS_BINARY);
    plot.y = at_axis_logarithmic(least, rows, AT_AXIS_BINARY);
    plot.x_title = alone ? "rows, against columns" : "columns";
    plot.y_title = alone ? "" : "rows";
    at_plot_begin(&plot, "Rows against columns, a mark a problem");
    if (device->count > AT_REPORT_MARKS_MAX)
        draw_many(device, &plot, place_by_shape);
    for (size_t i = 0; i < device->count && device->count <= AT_REPORT_MARKS_MAX; i++) {
        const struct at_report_row *row = &device->rows[i];
        double lost = fmin(1, (double)(1000 - row->entry->winner.of_copy_permille) / 400);
        char *text = name_row(row);

        fprintf(out, "<circle class=\"lost\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>",
                at_axis_place(&plot.x, (double)row->problem.cols),
                at_axis_place(&plot.y, (double)row->problem.rows), lost > 0 ? 4 + 14 * lost : 4);
        at_plot_mark(&plot, series_of(row), (double)row->problem.cols, (double)row->problem.rows,
                     text, anchor_of(device, &plot, i));
        free(text);
    }
    if (alone)
        print_key(device, &plot, out);
    at_plot_end(&plot);
}

/* ---- the gain over the default config ---- */

static int compare_defaults(const void *a, const void *b)
{
    const struct at_report_row *x = *(const struct at_report_row *const *)a;
    const struct at_report_row *y = *(const struct at_report_row *const *)b;
    int64_t p = x->entry->fallback.of_copy_permille, q = y->entry->fallback.of_copy_permille;

    return p != q ? p < q ? -1 : 1 : strcmp(x->entry->problem, y->entry->problem);
}

static void draw_gains(const struct at_report_device *device, bool alone, FILE *out)
{
    static const char *const names[] = {"default config", "tuned"};
    static const size_t series[] = {1, 0};
    struct at_plot plot = make_plot(out, alone);
    const struct at_report_row **rows = at_alloc_array(device->count, sizeof *rows);
    size_t count = 0;
    double high = 1000;

    for (size_t i = 0; i < device->count; i++)
        if (device->rows[i].entry->fallback.time_ns > 0) {
            rows[count++] = &device->rows[i];
            high = fmax(high, (double)device->rows[i].entry->winner.of_copy_permille);
        }
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_defaults);
    plot.x = at_axis_linear(0, (double)count + 1, AT_AXIS_PLAIN);
    plot.x.high = (double)count + 1;
    plot.y = at_axis_linear(0, high, AT_AXIS_PERCENT);
    plot.y.high = 1.03 * high; /* the next round number may be far away */
    plot.x_title = alone ? "share of the copy limit; the problem that gains most comes first"
                         : "problems, the one that gains most first";
    plot.y_title = alone ? "" : "share of the copy limit";
    at_plot_begin(&plot, "Share of the copy limit of the default config and of the tuned one");
    for (size_t kind = 0; kind < 2 && count > AT_REPORT_MARKS_MAX; kind++) {
        at_plot_marks(&plot, kind, names[1 - kind]);
        for (size_t i = 0; i < count; i++)
            at_plot_point(&plot, (double)i + 1,
                          (double)(kind ? rows[i]->entry->fallback : rows[i]->entry->winner)
                              .of_copy_permille);
        at_plot_points_end(&plot);
    }
    for (size_t i = 0; i < count && count <= AT_REPORT_MARKS_MAX; i++) {
        const struct at_entry *entry = rows[i]->entry;
        char *text = at_format("%s: default %.1f %%, tuned %.1f %% of the copy limit",
                               entry->problem, (double)entry->fallback.of_copy_permille / 10,
                               (double)entry->winner.of_copy_permille / 10);

        fprintf(out, "<path class=\"from\" d=\"M%.1f %.1fV%.1f\"/>",
                at_axis_place(&plot.x, (double)i + 1),
                at_axis_place(&plot.y, (double)entry->fallback.of_copy_permille),
                at_axis_place(&plot.y, (double)entry->winner.of_copy_permille));
        at_plot_mark(&plot, 1, (double)i + 1, (double)entry->fallback.of_copy_permille, text, NULL);
        at_plot_mark(&plot, 0, (double)i + 1, (double)entry->winner.of_copy_permille, text, NULL);
        free(text);
    }
    if (alone)
        at_plot_key(&plot, names, series, AT_COUNT(names));
    at_plot_end(&plot);
    free(rows);
}

/* ---- in the page, and alone ---- */

static const struct {
    struct at_choice choice;
    void (*draw)(const struct at_report_device *device, bool alone, FILE *out);
} figures[] = {
    {{"map", "share of the copy limit against bytes"}, draw_map},
    {{"shapes", "rows against columns"}, draw_shapes},
    {{"gains", "the default configs and the winners"}, draw_gains},
};

struct at_choice at_report_figure_choice(size_t index)
{
    return index < AT_COUNT(figures) ? figures[index].choice : (struct at_choice){0};
}

void at_report_figure(const struct at_report *report, size_t figure, FILE *out)
{
    figures[figure].draw(&report->devices[0], true, out);
}

void at_report_maps(const struct at_report *report, const struct at_report_device *device,
                    FILE *out)
{
    fprintf(
        out,
        "<h3 id=\"d%zu-maps\">Where is it slow?</h3>\n<div class=\"columns\">\n<figure><h4>Share "
        "of the copy limit against bytes</h4><div class=\"scroll\">\n",
        (size_t)(device - report->devices));
    draw_map(device, false, out);
    fputs("</div>", out);
    print_key(device, NULL, out);
    fputs("</figure>\n<figure><h4>Rows against columns</h4><div class=\"scroll\">\n", out);
    draw_shapes(device, false, out);
    fputs("</div>", out);
    print_key(device, NULL, out);
    if (device->count <= AT_REPORT_MARKS_MAX)
        fputs("<p class=\"small\">The ring around a mark grows with what is missing to the copy "
              "limit.</p>",
              out);
    fputs("</figure>\n", out);
    if (device->over_default > 0) {
        fputs("<figure><h4>What tuning gains</h4><div class=\"scroll\">\n", out);
        draw_gains(device, false, out);
        fputs("</div><figcaption>", out);
        at_plot_key_item(out, 0, "tuned");
        at_plot_key_item(out, 1, "default config");
        fputs("</figcaption></figure>\n", out);
    }
    fprintf(
        out,
        "</div>\n<p class=\"small\">The <a href=\"#d%zu-table\">table</a> has the numbers.</p>\n",
        (size_t)(device - report->devices));
}
