/* SPDX-License-Identifier: Apache-2.0 */
#include "report/curves.h"

#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A picture's lower edge, where all that is less behind lies, and the points from one mark to the
 * next. */
enum { LEAST_PPM = 1000, MARK_EVERY = 5 };

static const double ppm_per_permille = 1000;

/* ---- pictures ---- */

/* One picture: the same curve of each strategy. */
struct picture {
    const struct at_strategy_record *records;
    size_t count;
    bool of_time;
};

static const struct at_list *list_of(const struct picture *picture, size_t strategy)
{
    const struct at_strategy_record *record = &picture->records[strategy];

    return picture->of_time ? &record->drawn_of_time : &record->drawn;
}

static double x_of(const struct picture *picture, const struct at_curve_record *point)
{
    return (double)(picture->of_time ? point->ms : point->evaluations);
}

static double y_of(int64_t ppm)
{
    return (double)(ppm > LEAST_PPM ? ppm : LEAST_PPM) / ppm_per_permille;
}

/* Set the axes so that they hold all curves. Returns false if there is nothing to draw. */
static bool set_axes(struct at_plot *plot, const struct picture *picture)
{
    double first = INFINITY, last = 0, highest = 10;

    for (size_t i = 0; i < picture->count; i++) {
        const struct at_list *list = list_of(picture, i);
        const struct at_curve_record *points = list->items;

        for (size_t j = 0; j < list->count; j++) {
            first = fmin(first, x_of(picture, &points[j]));
            last = fmax(last, x_of(picture, &points[j]));
            highest = fmax(highest, y_of(points[j].upper_ppm));
        }
    }
    if (!(last > first))
        return false;
    plot->x = at_axis_logarithmic(first, last, picture->of_time ? AT_AXIS_SECONDS : AT_AXIS_PLAIN);
    plot->y = at_axis_logarithmic(y_of(0), highest, AT_AXIS_PERCENT);
    return true;
}

/* The middle half of the searches. */
static void draw_band(struct at_plot *plot, const struct picture *picture, size_t strategy)
{
    const struct at_list *list = list_of(picture, strategy);
    const struct at_curve_record *points = list->items;
    char class[16];

    snprintf(class, sizeof class, "band b%zu", strategy % AT_PLOT_SERIES);
    at_plot_line(plot, class);
    for (size_t i = 0; i < list->count; i++)
        at_plot_spot(plot, x_of(picture, &points[i]), y_of(points[i].upper_ppm));
    for (size_t i = list->count; i-- > 0;)
        at_plot_spot(plot, x_of(picture, &points[i]), y_of(points[i].lower_ppm));
    at_plot_points_end(plot);
}

static void draw_median(struct at_plot *plot, const struct picture *picture, size_t strategy)
{
    const struct at_list *list = list_of(picture, strategy);
    const struct at_curve_record *points = list->items;
    char class[16];

    snprintf(class, sizeof class, "curve b%zu", strategy % AT_PLOT_SERIES);
    at_plot_line(plot, class);
    for (size_t i = 0; i < list->count; i++)
        at_plot_point(plot, x_of(picture, &points[i]), y_of(points[i].median_ppm));
    at_plot_points_end(plot);
    /* Marks of several curves seldom fall on each other. */
    at_plot_marks(plot, strategy, NULL);
    for (size_t i = strategy % MARK_EVERY; i < list->count; i += MARK_EVERY)
        at_plot_spot(plot, x_of(picture, &points[i]), y_of(points[i].median_ppm));
    at_plot_points_end(plot);
}

static void draw(const struct picture *picture, FILE *out)
{
    struct at_plot plot = {.out = out,
                           .width = 560,
                           .height = 320,
                           .left = 62,
                           .right = 540,
                           .top = 22,
                           .bottom = 274,
                           .x_title = picture->of_time ? "seconds of evaluations" : "evaluations",
                           .y_title = "slower than the best of the space"};

    if (!set_axes(&plot, picture))
        return;
    fputs("<figure><div class=\"scroll\">\n", out);
    at_plot_begin(&plot, picture->of_time ? "How far the best is behind, against seconds"
                                          : "How far the best is behind, against evaluations");
    for (size_t i = 0; i < picture->count; i++)
        draw_band(&plot, picture, i);
    for (size_t i = 0; i < picture->count; i++)
        draw_median(&plot, picture, i);
    at_plot_end(&plot);
    fputs("</div></figure>\n", out);
}

/* ---- tables ---- */

static void print_heads(const struct at_list *list, bool of_time, FILE *out)
{
    const struct at_curve_record *points = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (of_time)
            fprintf(out, "<th>after %g s</th>", (double)points[i].ms / 1000);
        else
            fprintf(out, "<th>after %" PRId64 "</th>", points[i].evaluations);
}

static void print_cells(const struct at_list *list, FILE *out)
{
    const struct at_curve_record *points = list->items;

    for (size_t i = 0; i < list->count; i++)
        fprintf(out, "<td>%.2f %%</td>", (double)points[i].behind_ppm / 1e4);
}

/* 0 is never, or unknown. */
static void print_count(int64_t count, FILE *out)
{
    fputs("<td>", out);
    if (count > 0)
        at_html_count(out, count);
    else
        putc('-', out);
    fputs("</td>", out);
}

static void print_row(const struct at_strategy_record *record, FILE *out)
{
    const struct at_reach_record *reaches = record->reaches.items;

    fputs("<tr><th scope=\"row\">", out);
    at_html(out, record->name);
    fputs("</th>", out);
    for (size_t i = 0; i < record->reaches.count; i++)
        if (reaches[i].within_percent == 1) {
            print_count(reaches[i].median_evaluations, out);
            if (reaches[i].median_ms > 0)
                fprintf(out, "<td>%.2f</td>", (double)reaches[i].median_ms / 1000);
            else
                fputs("<td>-</td>", out);
        }
    fprintf(out, "<td>%.3f</td>", (double)record->score_permille / 1000);
    print_count(record->stopped_evaluations, out);
    fprintf(out, "<td>%" PRId64 " of %" PRId64 "</td>", record->ended_within_1_percent,
            record->runs);
    print_cells(&record->curve, out);
    print_cells(&record->curve_of_time, out);
    fputs("</tr>\n", out);
}

static void print_table(const struct at_list *strategies, FILE *out)
{
    const struct at_strategy_record *records = strategies->items;

    fputs("<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>search</th><th>to 1 "
          "%</th><th>seconds to 1 %</th><th>score</th><th>stops</th><th>found</th>",
          out);
    print_heads(&records->curve, false, out);
    print_heads(&records->curve_of_time, true, out);
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < strategies->count; i++)
        print_row(&records[i], out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- the page ---- */

static void print_key(const struct at_list *strategies, FILE *out)
{
    const struct at_strategy_record *records = strategies->items;

    fputs("<p>", out);
    for (size_t i = 0; i < strategies->count; i++)
        at_plot_key_item(out, i, records[i].name);
    fputs("</p>\n", out);
}

/* `timed`: what evaluations took is known. */
static void print_part(const struct at_list *strategies, bool timed, FILE *out)
{
    struct picture picture = {.records = strategies->items, .count = strategies->count};

    print_key(strategies, out);
    fputs("<div class=\"columns\">\n", out);
    draw(&picture, out);
    picture.of_time = true;
    draw(&picture, out);
    fputs("</div>\n", out);
    if (!timed)
        fputs("<p class=\"small\">Seconds are unknown: the recording does not tell what "
              "evaluations took.</p>\n",
              out);
    print_table(strategies, out);
}

static void print_recording(const struct at_compared_recording *recording, size_t number, FILE *out)
{
    fprintf(out, "<section id=\"r%zu\">\n<h2>", number);
    at_html(out, recording->problem);
    fputs("</h2>\n<p>On ", out);
    at_html(out, recording->device);
    fputs(": ", out);
    at_html_count(out, recording->configs);
    fputs(" configs, the best ", out);
    at_html_us(out, (double)recording->optimum_ns);
    fputs(" µs.</p>\n", out);
    print_part(&recording->strategies, recording->evaluation_ns > 0, out);
    fputs("</section>\n", out);
}

static void print_links(const struct at_compared_recording *recordings, size_t count, FILE *out)
{
    fputs("<nav aria-label=\"Recordings\">", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "<a href=\"#r%zu\">", i);
        at_html(out, recordings[i].problem);
        fputs("</a> ", out);
    }
    fputs("</nav>\n", out);
}

static void print_reading(int64_t runs, FILE *out)
{
    fprintf(
        out,
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
        runs);
}

void at_report_replay(const struct at_comparison *comparison, FILE *out)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    const struct at_strategy_record *first = recordings->strategies.items;
    size_t count = comparison->recordings.count;

    at_html_begin_page(out, "autotune replay", "Search strategies on recorded spaces");
    fputs("<svg class=\"shapes\" aria-hidden=\"true\">", out);
    at_plot_shapes(out);
    at_plot_symbols(out);
    fputs("</svg>\n", out);
    if (count > 1) {
        print_links(recordings, count, out);
        fprintf(out,
                "<section id=\"all\">\n<h2>All %zu recordings</h2>\n<p>Means of the curves and of "
                "the scores, medians of the evaluations.</p>\n",
                count);
        print_part(&comparison->all, true, out);
        fputs("</section>\n", out);
    }
    for (size_t i = 0; i < count; i++)
        print_recording(&recordings[i], i, out);
    print_reading(first->runs, out);
    at_html_end_page(out);
}
