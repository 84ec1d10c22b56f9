/* SPDX-License-Identifier: Apache-2.0 */
#include "report/ladder.h"

#include "base/memory.h"
#include "report/axis.h"
#include "report/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of a picture: a bar with its space, the space above and below the bars, and of a label's letter.
 */
enum { WIDTH = 760, PITCH = 24, BAR = 15, TOP = 6, BOTTOM = 44, LETTER = 7, LABEL_MAX = 300 };

/* A kernel, as the picture shows it. */
struct bar {
    const char *label;
    double value; /* 0: illegal for this problem */
};

struct bars {
    const struct bar *items;
    size_t count;
    enum at_axis_unit unit;
    double limit;      /* where a line marks the copy limit; 0: nowhere */
    const char *title; /* of the axis */
    const char *name;  /* of the picture */
};

/* ---- the picture ---- */

static double left_of(const struct bars *bars)
{
    size_t longest = 0;

    for (size_t i = 0; i < bars->count; i++)
        longest = fmax((double)longest, (double)strlen(bars->items[i].label));
    return fmin((double)longest * LETTER + 12, LABEL_MAX);
}

static void draw_axis(const struct at_plot_axis *axis, const struct bars *bars, double bottom,
                      FILE *out)
{
    double ticks[AT_AXIS_TICKS_MAX];
    size_t count = at_axis_ticks(axis, 6, ticks);

    fputs("<g class=\"x\">", out);
    for (size_t i = 0; i < count; i++) {
        double x = at_axis_place(axis, ticks[i]);

        fprintf(out, "<path d=\"M%.1f %dV%.1f\"/><text x=\"%.1f\" y=\"%.1f\">", x, TOP, bottom, x,
                bottom + 17);
        at_axis_label(out, axis, ticks[i]);
        fputs("</text>", out);
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", (axis->from + axis->to) / 2, bottom + 36);
    at_html(out, bars->title);
    fputs("</text></g>\n", out);
}

static void draw_bar(const struct bar *bar, const struct at_plot_axis *axis, double top, bool last,
                     FILE *out)
{
    double end = at_axis_place(axis, bar->value);

    fprintf(out, "<g class=\"y\"><text x=\"%.1f\" y=\"%.1f\">", axis->from - 8, top + BAR - 3);
    at_html(out, bar->label);
    fputs("</text></g>", out);
    if (bar->value > 0) {
        fprintf(out,
                "<path class=\"%s\" d=\"M%.1f %.1fH%.1fv%dH%.1fz\"/><text x=\"%.1f\" y=\"%.1f\">",
                last ? "f2" : "f0", axis->from, top, end, BAR, axis->from, end + 5, top + BAR - 3);
        at_axis_label(out, &(struct at_plot_axis){.unit = axis->unit}, bar->value);
        fputs("</text>\n", out);
    } else {
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">not legal here</text>\n", axis->from + 5,
                top + BAR - 3);
    }
}

static void draw(const struct bars *bars, FILE *out)
{
    double bottom = TOP + (double)bars->count * PITCH, most = bars->limit;
    struct at_plot_axis axis;

    for (size_t i = 0; i < bars->count; i++)
        most = fmax(most, bars->items[i].value);
    axis = at_axis_linear(0, most, bars->unit);
    axis.from = left_of(bars);
    axis.to = WIDTH - 60;
    fprintf(
        out,
        "<figure><div class=\"scroll\"><svg class=\"plot\" viewBox=\"0 0 %d %.0f\" role=\"img\" "
        "aria-label=\"",
        WIDTH, bottom + BOTTOM);
    at_html(out, bars->name);
    fputs("\">\n", out);
    draw_axis(&axis, bars, bottom, out);
    for (size_t i = 0; i < bars->count; i++)
        draw_bar(&bars->items[i], &axis, TOP + (double)i * PITCH + (PITCH - BAR) / 2.0,
                 bars->limit > 0 && i + 1 == bars->count, out);
    if (bars->limit > 0) {
        double x = at_axis_place(&axis, bars->limit);

        fprintf(out, "<path class=\"copy\" d=\"M%.1f %dV%.1f\"/>\n", x, TOP, bottom);
    }
    fputs("</svg></div></figure>\n", out);
}

/* ---- the page ---- */

static void print_note(bool predicted, const char *note, FILE *out)
{
    if (!note[0])
        return;
    fputs(predicted ? "<p class=\"banner\"><b>Emulated:</b> " : "<p>", out);
    at_html(out, note);
    fputs("</p>\n", out);
}

/* ---- bench ---- */

static void print_bench_row(const struct at_bench_row *row, FILE *out)
{
    fputs("<tr><th scope=\"row\">", out);
    at_html(out, row->label);
    if (row->time_ns == 0) {
        fputs("</th><td>not legal here</td></tr>\n", out);
        return;
    }
    fputs("</th><td>", out);
    at_html_us(out, (double)row->time_ns);
    fprintf(out, "</td><td>%.0f%s</td><td>%.1f</td><td>%.1f</td><td class=\"words\"><code>",
            (double)row->bandwidth_MB_per_s / 1000, row->from_l2 ? " *" : "",
            (double)row->of_copy_permille / 10, (double)row->spread_permille / 10);
    at_html(out, row->kernel);
    fputs("</code></td></tr>\n", out);
}

static void print_bench(const struct at_bench_report *report, FILE *out)
{
    const struct at_bench_row *rows = report->rows.items;
    struct bar *items = at_alloc_array(report->rows.count, sizeof *items);
    struct bars bars = {.items = items,
                        .count = report->rows.count,
                        .unit = AT_AXIS_PERCENT,
                        .limit = 1000,
                        .title = "share of the copy limit (dashed)",
                        .name = "Share of the copy limit of each kernel"};

    for (size_t i = 0; i < report->rows.count; i++)
        items[i] = (struct bar){rows[i].label, (double)rows[i].of_copy_permille};
    fputs("<h2>", out);
    at_html(out, report->problem);
    fputs("</h2>\n<p>On ", out);
    at_html(out, report->device);
    fputs(", policy ", out);
    at_html(out, report->policy);
    fputs(".</p>\n", out);
    print_note(report->predicted, report->note, out);
    draw(&bars, out);
    fprintf(
        out,
        "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>kernel</th><th>%sµs</th>"
        "<th>GB/s</th><th>%% of copy</th><th>spread %%</th><th class=\"name\">config</th></tr>"
        "</thead><tbody>\n",
        report->predicted ? "predicted " : "");
    for (size_t i = 0; i < report->rows.count; i++)
        print_bench_row(&rows[i], out);
    fputs("</tbody></table></div>\n<p class=\"small\">* faster than the memory allows: its data "
          "stayed in the L2 cache.</p>\n",
          out);
    free(items);
}

void at_report_bench(const struct at_bench_report *reports, size_t count, FILE *out)
{
    at_html_begin_page(out, "autotune bench", "The textbook's kernels beside the copy limit");
    for (size_t i = 0; i < count; i++)
        print_bench(&reports[i], out);
    at_html_end_page(out);
}

/* ---- study ---- */

static void print_ratio(int64_t part, int64_t whole, FILE *out)
{
    if (whole > 0)
        fprintf(out, "<td>%.2f</td>", (double)part / (double)whole);
    else
        fputs("<td>–</td>", out);
}

static void print_study_line(const struct at_study_line *line, FILE *out)
{
    fputs("<tr><th scope=\"row\">", out);
    at_html(out, line->label);
    fputs("</th><td>", out);
    at_html_us(out, (double)line->time_ns);
    fprintf(out, "</td><td>%.0f</td>", (double)line->bandwidth_MB_per_s / 1000);
    print_ratio(line->load.sectors, line->load.requests, out);
    print_ratio(line->store.sectors, line->store.requests, out);
    print_ratio(line->shared_load.wavefronts, line->shared_load.least_wavefronts, out);
    print_ratio(line->shared_store.wavefronts, line->shared_store.least_wavefronts, out);
    fputs("<td class=\"words\"><code>", out);
    at_html(out, line->family);
    putc(' ', out);
    at_html(out, line->config);
    fputs("</code></td></tr>\n", out);
}

/* The lines of one problem. */
static void print_study_part(const struct at_study_result *result,
                             const struct at_study_line *lines, size_t count, FILE *out)
{
    struct bar *items = at_alloc_array(count, sizeof *items);
    char *title = at_format("%s GB/s", result->times);
    struct bars bars = {.items = items,
                        .count = count,
                        .unit = AT_AXIS_PLAIN,
                        .title = title,
                        .name = "Bandwidth of each kernel"};

    for (size_t i = 0; i < count; i++)
        items[i] = (struct bar){lines[i].label, round((double)lines[i].bandwidth_MB_per_s / 1000)};
    fputs("<h2>", out);
    at_html(out, lines->problem);
    fputs("</h2>\n", out);
    draw(&bars, out);
    fprintf(
        out,
        "<div class=\"scroll\"><table class=\"sortable\"><thead><tr><th>kernel</th><th>%s µs</th>"
        "<th>GB/s</th><th>sectors a load</th><th>sectors a store</th><th>shared load ways</th>"
        "<th>shared store ways</th><th class=\"name\">config</th></tr></thead><tbody>\n",
        result->times);
    for (size_t i = 0; i < count; i++)
        print_study_line(&lines[i], out);
    fputs("</tbody></table></div>\n", out);
    free(items);
    free(title);
}

void at_report_study(const struct at_study_result *result, FILE *out)
{
    const struct at_study_line *lines = result->lines.items;
    size_t begin = 0;

    at_html_begin_page(out, "autotune study", result->title);
    fputs("<p>On ", out);
    at_html(out, result->device);
    fputs(".</p>\n", out);
    print_note(strcmp(result->times, "predicted") == 0, result->note, out);
    for (size_t i = 1; i <= result->lines.count; i++)
        if (i == result->lines.count || strcmp(lines[i].problem, lines[begin].problem) != 0) {
            print_study_part(result, &lines[begin], i - begin, out);
            begin = i;
        }
    fputs("<h2>How to read it</h2>\n<p class=\"lead\">", out);
    at_html(out, result->reading);
    fputs("</p>\n", out);
    at_html_end_page(out);
}
