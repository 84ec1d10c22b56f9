/* SPDX-License-Identifier: Apache-2.0 */
/* The device during the run: its clock with the problems beneath, its power and temperature, and
 * where it throttled. Journals of earlier versions have clocks only. */
#include "base/memory.h"
#include "base/stats.h"
#include "device/device.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>

/* SLOTS of time, each with its lowest and highest value. */
enum { SLOTS = 400, STRIP = 14, THROTTLED_SERIES = 5 };

/* When a problem was measured. */
struct span {
    const struct at_report_row *row;
    int64_t first_ms, last_ms;
    double median_khz, least_khz;    /* 0: unknown */
    int64_t power_mw, temperature_c; /* the highest; 0: unknown */
    bool throttle_known;
    uint64_t throttle; /* all that was seen */
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    if (x->first_ms != y->first_ms)
        return x->first_ms < y->first_ms ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static void add_look(struct span *span, const struct at_look *look)
{
    span->power_mw = look->power_mw > span->power_mw ? look->power_mw : span->power_mw;
    if (look->temperature_c > span->temperature_c)
        span->temperature_c = look->temperature_c;
    span->throttle_known |= look->throttle_known != 0;
    span->throttle |= look->throttle;
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
        add_look(&span, &point->look);
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

/* ---- the plots ---- */

/* What is drawn over time. A value of 0 is unknown. */
static double clock_of(const struct at_report_point *point)
{
    return (double)point->clock_sm_khz;
}

static double power_of(const struct at_report_point *point)
{
    return (double)point->look.power_mw;
}

static double temperature_of(const struct at_report_point *point)
{
    return (double)point->look.temperature_c;
}

static const struct panel {
    double (*value)(const struct at_report_point *point);
    const char *title, *name;
    enum at_axis_unit unit;
    double height;
    bool problems; /* with the problems beneath */
} panels[] = {
    {clock_of, "SM clock, MHz", "SM clock over time, with the problems beneath", AT_AXIS_MHZ, 260,
     true},
    {power_of, "power, W", "Power over time", AT_AXIS_WATTS, 190, false},
    {temperature_of, "temperature, °C", "Temperature over time", AT_AXIS_PLAIN, 190, false},
};

struct slot {
    double low, high; /* 0: nothing measured */
    bool throttled;
};

static size_t slot_of(const struct at_report_device *device, int64_t utc_ms)
{
    double span = (double)(device->last_ms - device->first_ms) + 1;

    return (size_t)((double)(utc_ms - device->first_ms) / span * SLOTS);
}

static void fill_slots(const struct at_report_device *device, const struct panel *panel,
                       struct slot slots[SLOTS])
{
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_search *search = device->rows[i].search;

        for (size_t j = 0; search && j < search->count; j++) {
            struct slot *slot = &slots[slot_of(device, search->points[j].utc_ms)];
            double value = panel->value(&search->points[j]);

            if (value > 0 && (slot->high == 0 || value < slot->low))
                slot->low = value;
            if (value > slot->high)
                slot->high = value;
            slot->throttled |= search->points[j].look.throttle != 0;
        }
    }
}

/* The middle of a slot. */
static double moment_of(const struct at_report_device *device, size_t slot)
{
    return ((double)slot + 0.5) / SLOTS * ((double)(device->last_ms - device->first_ms) + 1);
}

static void draw_values(const struct at_report_device *device, const struct slot slots[SLOTS],
                        const struct at_plot *plot)
{
    fputs("<path class=\"clock\" d=\"", plot->out);
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].high > 0)
            fprintf(plot->out, "M%.1f %.0fV%.0f", at_axis_place(&plot->x, moment_of(device, i)),
                    at_axis_place(&plot->y, slots[i].high) - 1,
                    at_axis_place(&plot->y, slots[i].low) + 1);
    fputs("\"/>\n", plot->out);
}

/* A mark at the upper edge wherever the device held its clocks down. */
static void draw_throttling(const struct at_report_device *device, const struct slot slots[SLOTS],
                            struct at_plot *plot)
{
    bool begun = false;

    for (size_t i = 0; i < SLOTS; i++) {
        if (!slots[i].throttled)
            continue;
        if (!begun)
            at_plot_marks(plot, THROTTLED_SERIES, "throttled");
        begun = true;
        at_plot_spot(plot, moment_of(device, i), plot->y.high);
    }
    if (begun)
        at_plot_points_end(plot);
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

/* Draw a panel, unless the journals have nothing for it. */
static bool draw(const struct at_report_device *device, const struct panel *panel,
                 const struct span *spans, size_t count, FILE *out)
{
    struct slot slots[SLOTS] = {{0, 0, false}};
    struct at_plot plot = {.out = out,
                           .width = 1120,
                           .height = panel->height,
                           .left = 56,
                           .right = 1096,
                           .top = 22,
                           .bottom = panel->height - 46,
                           .x_title = "seconds since the first evaluation",
                           .y_title = panel->title};
    double low = 0, high = 0;

    fill_slots(device, panel, slots);
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].high > 0 && (low == 0 || slots[i].low < low))
            low = slots[i].low;
        high = fmax(high, slots[i].high);
    }
    if (high == 0)
        return false;
    plot.x = at_axis_linear(0, (double)(device->last_ms - device->first_ms) + 1, AT_AXIS_SECONDS);
    plot.y = at_axis_linear(low - (panel->problems ? (high - low) / 4 : 0), high, panel->unit);
    fputs("<div class=\"scroll\">\n", out);
    at_plot_begin(&plot, panel->name);
    draw_values(device, slots, &plot);
    draw_throttling(device, slots, &plot);
    if (panel->problems)
        draw_problems(device, spans, count, &plot);
    at_plot_end(&plot);
    fputs("</div>\n", out);
    return true;
}

/* What the journals know of throttling. */
struct throttling {
    size_t looks;     /* at which NVML told */
    size_t throttled; /* of those */
    size_t counts[AT_THROTTLES];
};

static struct throttling count_throttling(const struct at_report_device *device)
{
    struct throttling seen = {.looks = 0};

    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_search *search = device->rows[i].search;

        for (size_t j = 0; search && j < search->count; j++) {
            const struct at_look *look = &search->points[j].look;

            seen.looks += look->throttle_known != 0;
            seen.throttled += look->throttle != 0;
            for (size_t k = 0; k < AT_THROTTLES; k++)
                seen.counts[k] += look->throttle >> k & 1;
        }
    }
    return seen;
}

size_t at_report_throttled(const struct at_report_device *device, size_t *looks)
{
    const struct throttling seen = count_throttling(device);

    *looks = seen.looks;
    return seen.throttled;
}

static void print_throttling(const struct throttling *seen, FILE *out)
{
    if (seen->looks == 0)
        return;
    fputs("<p>Throttling: ", out);
    if (seen->throttled == 0)
        fprintf(out, "none at any of %zu looks at the device", seen->looks);
    for (size_t i = 0, shown = 0; i < AT_THROTTLES; i++)
        if (seen->counts[i] > 0)
            fprintf(out, "%s%s at %zu of %zu looks", shown++ ? ", " : "", at_throttle_names[i],
                    seen->counts[i], seen->looks);
    fputs(".</p>\n", out);
}

static void draw_all(const struct at_report_device *device, const struct span *spans, size_t count,
                     FILE *out)
{
    const struct throttling seen = count_throttling(device);
    bool drawn = false;

    print_throttling(&seen, out);
    fputs("<figure class=\"long\">\n", out);
    for (size_t i = 0; i < AT_COUNT(panels); i++)
        drawn |= draw(device, &panels[i], spans, count, out);
    fputs(drawn ? "<figcaption>Each stroke: the lowest to the highest value of the evaluations of "
                  "a moment. Beneath the clock: the problems, one after the other."
                : "<figcaption>The journal has no clocks, power or temperature of this device.",
          out);
    if (drawn && seen.throttled > 0) {
        putc(' ', out);
        at_plot_key_item(out, THROTTLED_SERIES, "throttled");
    }
    fputs("</figcaption></figure>\n", out);
}

/* ---- the table ---- */

/* A value that is known is above 0. */
static void print_value(double value, FILE *out)
{
    if (value > 0)
        fprintf(out, "<td>%.0f</td>", value);
    else
        fputs("<td>–</td>", out);
}

static void print_reasons(const struct span *span, FILE *out)
{
    fprintf(out, "<td class=\"name\">%s",
            !span->throttle_known ? "–"
            : span->throttle == 0 ? "none"
                                  : "");
    for (size_t i = 0, shown = 0; i < AT_THROTTLES; i++)
        if (span->throttle >> i & 1)
            fprintf(out, "%s%s", shown++ ? " " : "", at_throttle_names[i]);
    fputs("</td>", out);
}

static void print_spans(const struct at_report_device *device, const struct span *spans,
                        size_t count, FILE *out)
{
    fputs(
        "<details><summary>When each problem was tuned</summary>\n<div class=\"scroll\"><table "
        "class=\"sortable\"><thead><tr><th>problem</th><th>begins, s</th><th>takes, s</th>"
        "<th>evaluations</th><th>median MHz</th><th>lowest MHz</th><th>most W</th><th>most °C</th>"
        "<th class=\"name\">throttling</th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr><th scope=\"row\">", out);
        at_html(out, spans[i].row->entry->problem);
        fprintf(out, "</th><td>%.1f</td><td>%.1f</td><td>%zu</td>",
                (double)(spans[i].first_ms - device->first_ms) / 1000,
                (double)(spans[i].last_ms - spans[i].first_ms) / 1000, spans[i].row->search->count);
        print_value(spans[i].median_khz / 1000, out);
        print_value(spans[i].least_khz / 1000, out);
        print_value((double)spans[i].power_mw / 1000, out);
        print_value((double)spans[i].temperature_c, out);
        print_reasons(&spans[i], out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

static bool has_looks(const struct span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].power_mw > 0 || spans[i].temperature_c > 0)
            return true;
    return false;
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
        fprintf(out, "<p>At most %.0f W and %jd °C over the whole run%s.</p>\n",
                (double)seen->power_max_mW / 1000, (intmax_t)seen->temperature_max_c,
                has_looks(spans, count) ? "" : "; the journal does not have how they went");
    draw_all(device, spans, count, out);
    print_spans(device, spans, count, out);
    free(spans);
}
