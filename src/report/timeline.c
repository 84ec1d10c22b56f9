/* SPDX-License-Identifier: Apache-2.0 */
/* The device during the run: its clock, with the problems beneath. Power and temperature are known
 * for the whole run only. */
#include "base/memory.h"
#include "base/stats.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>

/* SLOTS of time, each with its lowest and highest clock; ROWS of the table without scripts. */
enum { SLOTS = 400, STRIP = 14 };

/* When a problem was measured. */
struct span {
    const struct at_report_row *row;
    int64_t first_ms, last_ms;
    double median_khz, least_khz; /* 0: unknown */
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->first_ms != y->first_ms)
        return x->first_ms < y->first_ms ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static struct span make_span(const struct at_report_row *row)
{
    const struct at_report_search *search = row->search;
    struct span span = {
        .row = row, .first_ms = search->points[0].utc_ms, .last_ms = search->points[0].utc_ms};
    double *clocks = at_alloc_array(search->count, sizeof *clocks);
    size_t count = 0;

    for (size_t i = 0; i < search->count; i++) {
        const struct at_report_point *point = &search->points[i];

        span.first_ms = point->utc_ms < span.first_ms ? point->utc_ms : span.first_ms;
        span.last_ms = point->utc_ms > span.last_ms ? point->utc_ms : span.last_ms;
        if (point->clock_sm_khz > 0)
            clocks[count++] = (double)point->clock_sm_khz;
    }
    if (count > 0) {
        span.median_khz = at_median(clocks, count);
        span.least_khz = at_quantile(clocks, count, 0);
    }
    free(clocks);
    return span;
}

static struct span *make_spans(const struct at_report_device *device, size_t *count)
{
    struct span *spans = at_alloc_array(device->count, sizeof *spans);

    *count = 0;
    for (size_t i = 0; i < device->count; i++)
        if (device->rows[i].search)
            spans[(*count)++] = make_span(&device->rows[i]);
    qsort(spans, *count, sizeof *spans, compare_spans);
    return spans;
}

/* ---- the plot ---- */

struct slot {
    double low, high; /* 0: nothing measured */
};

static size_t slot_of(const struct at_report_device *device, int64_t utc_ms)
{
    double span = (double)(device->last_ms - device->first_ms) + 1;

    return (size_t)((double)(utc_ms - device->first_ms) / span * SLOTS);
}

static void fill_slots(const struct at_report_device *device, struct slot slots[SLOTS])
{
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_search *search = device->rows[i].search;

        for (size_t j = 0; search && j < search->count; j++) {
            struct slot *slot = &slots[slot_of(device, search->points[j].utc_ms)];
            double clock = (double)search->points[j].clock_sm_khz;

            if (clock > 0 && (slot->high == 0 || clock < slot->low))
                slot->low = clock;
            if (clock > slot->high)
                slot->high = clock;
        }
    }
}

static void draw_clock(const struct at_report_device *device, const struct slot slots[SLOTS],
                       const struct at_plot *plot)
{
    double span = (double)(device->last_ms - device->first_ms) + 1;

    fputs("<path class=\"clock\" d=\"", plot->out);
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].high > 0)
            fprintf(plot->out, "M%.1f %.1fV%.1f",
                    at_axis_place(&plot->x, ((double)i + 0.5) / SLOTS * span),
                    at_axis_place(&plot->y, slots[i].high) - 1,
                    at_axis_place(&plot->y, slots[i].low) + 1);
    fputs("\"/>\n", plot->out);
}

static void draw_problems(const struct at_report_device *device, const struct span *spans,
                          size_t count, const struct at_plot *plot)
{
    for (size_t i = 0; i < count; i++) {
        double from = at_axis_place(&plot->x, (double)(spans[i].first_ms - device->first_ms));
        double to = at_axis_place(&plot->x, (double)(spans[i].last_ms - device->first_ms));

        fprintf(plot->out, "<path class=\"during%s\" d=\"M%.1f %.1fH%.1fv%dH%.1fz\"><title>",
                i % 2 ? " odd" : "", from, plot->bottom - STRIP, fmax(to, from + 0.5), STRIP, from);
        at_html(plot->out, spans[i].row->entry->problem);
        fputs("</title></path>\n", plot->out);
    }
}

static void draw(const struct at_report_device *device, const struct span *spans, size_t count,
                 FILE *out)
{
    struct slot slots[SLOTS] = {{0, 0}};
    struct at_plot plot = {.out = out,
                           .width = 1120,
                           .height = 260,
                           .left = 56,
                           .right = 1096,
                           .top = 22,
                           .bottom = 214,
                           .x_title = "seconds since the first evaluation",
                           .y_title = "SM clock, MHz"};
    double low = 0, high = 0;

    fill_slots(device, slots);
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].high > 0 && (low == 0 || slots[i].low < low))
            low = slots[i].low;
        high = fmax(high, slots[i].high);
    }
    if (high == 0) {
        fputs("<p>The journal has no clocks of this device.</p>\n", out);
        return;
    }
    plot.x = at_axis_linear(0, (double)(device->last_ms - device->first_ms) + 1, AT_AXIS_SECONDS);
    plot.y = at_axis_linear(low - (high - low) / 4, high, AT_AXIS_MHZ);
    fputs("<figure class=\"long\"><div class=\"scroll\">\n", out);
    at_plot_begin(&plot, "SM clock over time, with the problems beneath");
    draw_clock(device, slots, &plot);
    draw_problems(device, spans, count, &plot);
    at_plot_end(&plot);
    fputs("</div><figcaption>Each stroke: the lowest to the highest clock of the evaluations of a "
          "moment. Beneath: the problems, one after the other.</figcaption></figure>\n",
          out);
}

/* ---- the table ---- */

static void print_mhz(double khz, FILE *out)
{
    if (khz > 0)
        fprintf(out, "<td>%.0f</td>", khz / 1000);
    else
        fputs("<td>–</td>", out);
}

static void print_spans(const struct at_report_device *device, const struct span *spans,
                        size_t count, FILE *out)
{
    fputs("<details><summary>When each problem was tuned</summary>\n<div class=\"scroll\"><table "
          "class=\"sortable\"><thead><tr><th>problem</th><th>begins, s</th><th>takes, s</th>"
          "<th>evaluations</th><th>median MHz</th><th>lowest MHz</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr><th scope=\"row\">", out);
        at_html(out, spans[i].row->entry->problem);
        fprintf(out, "</th><td>%.1f</td><td>%.1f</td><td>%zu</td>",
                (double)(spans[i].first_ms - device->first_ms) / 1000,
                (double)(spans[i].last_ms - spans[i].first_ms) / 1000, spans[i].row->search->count);
        print_mhz(spans[i].median_khz, out);
        print_mhz(spans[i].least_khz, out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

void at_report_timeline(const struct at_report *report, const struct at_report_device *device,
                        FILE *out)
{
    const struct at_conditions *seen = &device->conditions;
    struct span *spans;
    size_t count;

    if (device->points == 0)
        return;
    spans = make_spans(device, &count);
    fprintf(out, "<h3 id=\"d%zu-run\">The device during the run</h3>\n",
            (size_t)(device - report->devices));
    if (seen->power_max_mW > 0 || seen->temperature_max_c > 0)
        fprintf(out,
                "<p>At most %.0f W and %jd °C over the whole run; how they went is not recorded. "
                "Throttling: %s.</p>\n",
                (double)seen->power_max_mW / 1000, (intmax_t)seen->temperature_max_c,
                seen->throttle[0] ? "see above" : "not known");
    draw(device, spans, count, out);
    print_spans(device, spans, count, out);
    free(spans);
}
