/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of all problems: what changed since the baseline, where it is slow, and how the device
 * did during the run. */
#include "base/memory.h"
#include "base/stats.h"
#include "device/device.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the baseline: what became slower, faster, or is new, as `autotune diff` judges ---- */

/* The series of each verdict in the picture, and its words in the table. */
static const struct {
    size_t series;
    const char *name, *class, *word;
} verdicts[AT_REPORT_VERDICTS] = {
    [AT_REPORT_SLOWER] = {1, "slower", "name worse", "■ slower"},
    [AT_REPORT_FASTER] = {2, "faster", "name better", "▲ faster"},
    [AT_REPORT_ALIKE] = {0, "within both spreads", "name", "alike"},
};

static int compare_changes(const void *a, const void *b)
{
    const struct at_report_row *x = *(const struct at_report_row *const *)a;
    const struct at_report_row *y = *(const struct at_report_row *const *)b;

    if (x->change.permille != y->change.permille)
        return x->change.permille > y->change.permille ? -1 : 1;
    return strcmp(x->entry->problem, y->entry->problem);
}

/* The rows that are in the baseline, the one that lost most first; the caller frees them. */
static const struct at_report_row **find_changes(const struct at_report *report, size_t *count)
{
    const struct at_report_row **rows = at_alloc_array(report->row_count, sizeof *rows);

    *count = 0;
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count; j++)
            if (report->devices[i].rows[j].old)
                rows[(*count)++] = &report->devices[i].rows[j];
    qsort(rows, *count, sizeof *rows, compare_changes);
    return rows;
}

/* Of the first problem that both have. */
static void print_software(const struct at_report_row *row, FILE *out)
{
    const struct at_environment *old = &row->old_record->environment;
    const struct at_environment *new = &row->record->environment;
    const char *const versions[][3] = {{"driver", old->driver, new->driver},
                                       {"CUDA", old->cuda_driver, new->cuda_driver},
                                       {"NVRTC", old->nvrtc, new->nvrtc},
                                       {"autotune", old->autotune, new->autotune}};

    at_put(out, "<p>What else is different:</p><ul>\n");
    for (size_t i = 0; i < AT_COUNT(versions); i++)
        if (strcmp(versions[i][1], versions[i][2]) != 0)
            at_put(out, "<li>%s: %s → %s</li>\n", versions[i][0],
                   versions[i][1][0] ? versions[i][1] : "unknown",
                   versions[i][2][0] ? versions[i][2] : "unknown");
    at_put(out, "</ul>\n");
}

static void draw_changes(const struct at_report_row *const *rows, size_t count, FILE *out)
{
    struct at_plot plot = {.name = "Change of each problem's time, with its interval",
                           .class = "long",
                           .width = 1120,
                           .height = 280,
                           .x_title = "problems, the one that lost most first",
                           .y_title = "change of the time, %"};
    struct at_layer *zero = at_plot_add(&plot, AT_LAYER_ACROSS, 0, "zero", NULL);
    struct at_layer *intervals = at_plot_add(&plot, AT_LAYER_UPRIGHT, 0, "from", NULL);
    struct at_layer *marks[AT_REPORT_VERDICTS];

    at_layer_add(zero, 0, 0, (double)count + 1);
    for (size_t i = 0; i < AT_REPORT_VERDICTS; i++)
        marks[i] = at_plot_add(&plot, AT_LAYER_MARKS, verdicts[i].series, NULL, verdicts[i].name);
    for (size_t i = 0; i < count; i++) {
        const struct at_report_change *change = &rows[i]->change;
        double x = (double)i + 1;

        at_layer_add(intervals, x, change->low, change->high);
        at_layer_mark(marks[change->verdict], x, change->permille,
                      at_format("%s: %+.1f %%", rows[i]->entry->problem, change->permille / 10),
                      NULL);
    }
    plot.x = at_axis_linear((struct at_range){0, (double)count + 1}, AT_AXIS_PLAIN);
    plot.x.range.high = (double)count + 1;
    plot.y = at_axis_linear(at_plot_range(&plot, false, (struct at_range){0, 0}), AT_AXIS_PERCENT);
    at_plot_figure(&plot, out);
}

static bool same_config(const struct at_report *report, const struct at_report_row *row)
{
    for (size_t i = 0; i < report->diff.count; i++)
        if (report->diff.items[i].to == row->entry)
            return report->diff.items[i].change != AT_CHANGE_CONFIG;
    return true;
}

static void print_changes(const struct at_report *report, const struct at_report_row *const *rows,
                          size_t count, FILE *out)
{
    at_html_table(out, "scroll tall", "sortable",
                  "problem|wide:old µs|wide:new µs|change %%|wide:interval|name:verdict|");
    for (size_t i = 0; i < count; i++) {
        const struct at_report_change *change = &rows[i]->change;

        at_put(out,
               "<tr><th scope=\"row\"><a href=\"#%s\">%s</a><td class=\"wide\">%a<td "
               "class=\"wide\">%a<td>%+.1f<td class=\"wide\">%+.1f … %+.1f<td "
               "class=\"%s\">%s</td><td class=\"name\">%s</td></tr>\n",
               rows[i]->anchor, rows[i]->entry->problem, (double)rows[i]->old->winner.time_ns,
               (double)rows[i]->winner->time_ns, change->permille / 10, change->low / 10,
               change->high / 10, verdicts[change->verdict].class, verdicts[change->verdict].word,
               same_config(report, rows[i]) ? "" : "another winner");
    }
    at_html_table_end(out);
    at_put(out, "<p class=\"small\">As <code>autotune diff</code> judges: slower and faster are by "
                "more than both spreads.</p>\n");
}

static void print_only(const struct at_report *report, enum at_change kind, const char *title,
                       FILE *out)
{
    const struct at_diff *diff = &report->diff;
    size_t count = 0;

    for (size_t i = 0; i < diff->count; i++)
        count += diff->items[i].change == kind;
    if (count == 0)
        return;
    at_put(out, "<details><summary>%s: %zu</summary><ul class=\"inline\">", title, count);
    for (size_t i = 0; i < diff->count; i++)
        if (diff->items[i].change == kind)
            at_put(out, "<li>%s</li>",
                   diff->items[i].from ? diff->items[i].from->problem : diff->items[i].to->problem);
    at_put(out, "</ul></details>\n");
}

void at_report_changes(const struct at_report *report, FILE *out)
{
    const size_t *counts = report->verdicts;
    const struct at_report_row **rows;
    size_t count;

    if (!report->baseline)
        return;
    rows = find_changes(report, &count);
    at_put(out,
           "<section id=\"changes\"><h2>Is anything slower than in %s?</h2>\n<p "
           "class=\"lead\"><b>%s:</b> of %zu problems that both profiles have for the same device "
           "and policy, <b>%zu became slower</b>, <b>%zu faster</b>, and %zu differ by no more "
           "than both spreads.</p>\n",
           report->baseline_name,
           count == 0                     ? "Not known"
           : counts[AT_REPORT_SLOWER] > 0 ? "Yes"
                                          : "No",
           count, counts[AT_REPORT_SLOWER], counts[AT_REPORT_FASTER], counts[AT_REPORT_ALIKE]);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].predicted)
            at_put(out,
                   "<p class=\"banner\"><b>Emulated:</b> %s, whose times are predicted, not "
                   "measured.</p>\n",
                   report->devices[i].record->device.name);
    if (count > 0) {
        print_software(rows[0], out);
        draw_changes(rows, count, out);
        print_changes(report, rows, count, out);
    }
    print_only(report, AT_CHANGE_ADDED, "Only in this profile", out);
    print_only(report, AT_CHANGE_REMOVED, "Only in the old profile", out);
    at_put(out, "</section>\n");
    free(rows);
}

/* ---- maps: where is it slow? ---- */

/* Element sizes are the series. */
static const char *const size_names[] = {"1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes"};
enum { SIZES = AT_COUNT(size_names) };

/* Fill a picture of a device's problems. */
typedef void make_map(const struct at_report_device *device, struct at_plot *plot);

/* Add a mark for each problem: by its sides, or by its bytes and its share of the copy limit. */
static void add_problems(const struct at_report_device *device, bool sides, struct at_plot *plot)
{
    struct at_layer *layers[SIZES];

    for (size_t i = 0; i < SIZES; i++)
        layers[i] = at_plot_add(plot, AT_LAYER_MARKS, i, NULL, size_names[i]);
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_row *row = &device->rows[i];
        const struct at_result_record *winner = row->winner;
        size_t size = 0;

        while (size + 1 < SIZES && (INT64_C(1) << size) < row->problem.elem_size)
            size++;
        at_layer_mark(layers[size], (double)(sides ? row->problem.cols : row->bytes),
                      (double)(sides ? row->problem.rows : winner->of_copy_permille),
                      at_format("%s: %.1f %% of the copy limit, %s", row->entry->problem,
                                (double)winner->of_copy_permille / 10, winner->family),
                      i < device->open ? row->anchor : NULL);
    }
}

static void draw_bytes(const struct at_report_device *device, struct at_plot *plot)
{
    const struct at_range none = {INFINITY, 0}, limit = {1000, 1000};

    add_problems(device, false, plot);
    plot->x = at_axis_logarithmic(at_plot_range(plot, true, none), AT_AXIS_BYTES);
    plot->y = at_axis_linear(at_plot_range(plot, false, limit), AT_AXIS_PERCENT);
}

/* The rings tell how far from the copy limit a problem is. */
static void draw_shapes(const struct at_report_device *device, struct at_plot *plot)
{
    const struct at_range none = {INFINITY, 1};
    struct at_layer *rings = at_plot_add(plot, AT_LAYER_RINGS, 0, "lost", NULL);
    bool few = device->count <= AT_PLOT_TEXTS_MAX;
    struct at_range cols, rows;

    for (size_t i = 0; i < device->count && few; i++) {
        const struct at_report_row *row = &device->rows[i];
        double lost = (double)(1000 - row->winner->of_copy_permille) / 400;

        at_layer_add(rings, (double)row->problem.cols, (double)row->problem.rows,
                     4 + 14 * fmax(fmin(1, lost), 0));
    }
    add_problems(device, true, plot);
    cols = at_plot_range(plot, true, none);
    rows = at_plot_range(plot, false, none);
    cols.low = rows.low = fmin(cols.low, rows.low);
    plot->x = at_axis_logarithmic(cols, AT_AXIS_BINARY);
    plot->y = at_axis_logarithmic(rows, AT_AXIS_BINARY);
    if (few)
        plot->note = "<p class=\"small\">The ring around a mark grows with what is missing to the "
                     "copy limit.</p>";
}

static int compare_defaults(const void *a, const void *b)
{
    const struct at_entry *x = *(const struct at_entry *const *)a;
    const struct at_entry *y = *(const struct at_entry *const *)b;
    int64_t p = x->fallback.of_copy_permille, q = y->fallback.of_copy_permille;

    return p != q ? p < q ? -1 : 1 : strcmp(x->problem, y->problem);
}

/* The problems whose default config was timed, the slowest first; the caller frees them. */
static const struct at_entry **sort_defaults(const struct at_report_device *device, size_t *count)
{
    const struct at_entry **entries = at_alloc_array(device->count, sizeof *entries);

    *count = 0;
    for (size_t i = 0; i < device->count; i++)
        if (device->rows[i].entry->fallback.time_ns > 0)
            entries[(*count)++] = device->rows[i].entry;
    if (*count > 0)
        qsort(entries, *count, sizeof *entries, compare_defaults);
    return entries;
}

static void draw_gains(const struct at_report_device *device, struct at_plot *plot)
{
    struct at_layer *gains = at_plot_add(plot, AT_LAYER_UPRIGHT, 0, "from", NULL);
    struct at_layer *defaults = at_plot_add(plot, AT_LAYER_MARKS, 1, NULL, "default config");
    struct at_layer *winners = at_plot_add(plot, AT_LAYER_MARKS, 0, NULL, "tuned");
    struct at_range shares;
    size_t count;
    const struct at_entry **entries = sort_defaults(device, &count);

    for (size_t i = 0; i < count; i++) {
        double x = (double)i + 1, from = (double)entries[i]->fallback.of_copy_permille;
        double to = (double)entries[i]->winner.of_copy_permille;
        char *text = at_format("%s: default %.1f %%, tuned %.1f %% of the copy limit",
                               entries[i]->problem, from / 10, to / 10);

        if (count <= AT_PLOT_TEXTS_MAX)
            at_layer_add(gains, x, from, to);
        at_layer_mark(defaults, x, from, text, NULL);
        at_layer_mark(winners, x, to, at_strdup(text), NULL);
    }
    plot->x = at_axis_linear((struct at_range){0, (double)count + 1}, AT_AXIS_PLAIN);
    plot->x.range.high = (double)count + 1;
    shares = at_plot_range(plot, false, (struct at_range){0, 1000});
    plot->y = at_axis_linear(shares, AT_AXIS_PERCENT);
    plot->y.range.high = 1.03 * shares.high; /* the next round number may be far away */
    free(entries);
}

static const struct map {
    struct at_choice choice;
    make_map *draw;
    const char *heading, *name, *x_title, *y_title, *title_alone, *key;
} maps[] = {
    {{.name = "map", .note = "share of the copy limit against bytes"},
     draw_bytes,
     "Share of the copy limit against bytes",
     "Share of the copy limit against bytes, a mark a problem",
     "bytes read and written",
     "share of the copy limit",
     "share of the copy limit, against bytes read and written",
     "Element size: "},
    {{.name = "shapes", .note = "rows against columns"},
     draw_shapes,
     "Rows against columns",
     "Rows against columns, a mark a problem",
     "columns",
     "rows",
     "rows, against columns",
     "Element size: "},
    {{.name = "gains", .note = "the default configs and the winners"},
     draw_gains,
     "What tuning gains",
     "Share of the copy limit of the default config and of the tuned one",
     "problems, the one that gains most first",
     "share of the copy limit",
     "share of the copy limit; the problem that gains most comes first",
     NULL},
};

struct at_choice at_report_figure_choice(size_t index)
{
    return index < AT_COUNT(maps) ? maps[index].choice : (struct at_choice){0};
}

static void draw_map(const struct at_report_device *device, const struct map *map, bool alone,
                     FILE *out)
{
    struct at_plot plot = {.name = map->name,
                           .heading = map->heading,
                           .key = map->key,
                           .x_title = alone ? map->title_alone : map->x_title,
                           .y_title = alone ? "" : map->y_title,
                           .alone = alone};

    map->draw(device, &plot);
    at_plot_figure(&plot, out);
}

void at_report_figure(const struct at_report *report, size_t figure, FILE *out)
{
    draw_map(&report->devices[0], &maps[figure], true, out);
}

void at_report_maps(const struct at_report_device *device, FILE *out)
{
    at_put(out, "<h3 id=\"d%zu-maps\">Where is it slow?</h3>\n<div class=\"columns\">\n",
           device->index);
    for (size_t i = 0; i < AT_COUNT(maps); i++)
        if (maps[i].draw != draw_gains || device->over_default > 0)
            draw_map(device, &maps[i], false, out);
    at_put(
        out,
        "</div>\n<p class=\"small\">The <a href=\"#d%zu-table\">table</a> has the numbers.</p>\n",
        device->index);
}

/* ---- the run: the device's clock with the problems beneath, its power and temperature ---- */

/* SLOTS of time, each with its lowest and highest value. */
enum { SLOTS = 400, THROTTLED_SERIES = 5 };

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

/* What is drawn over time. */
static const struct panel {
    size_t member; /* where a point has it, as int64_t; a value of 0 is unknown */
    const char *title, *name;
    enum at_axis_unit unit;
    double height;
    bool problems; /* with the problems beneath */
} panels[] = {
    {offsetof(struct at_report_point, clock_sm_khz), "SM clock, MHz",
     "SM clock over time, with the problems beneath", AT_AXIS_MHZ, 260, true},
    {offsetof(struct at_report_point, look.power_mw), "power, W", "Power over time", AT_AXIS_WATTS,
     190, false},
    {offsetof(struct at_report_point, look.temperature_c), "temperature, °C",
     "Temperature over time", AT_AXIS_PLAIN, 190, false},
};

struct slot {
    double low, high; /* 0: nothing measured */
    bool throttled;
};

static void fill_slots(const struct at_report_device *device, const struct panel *panel,
                       double span_ms, struct slot slots[SLOTS])
{
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_search *search = device->rows[i].search;

        for (size_t j = 0; search && j < search->count; j++) {
            const struct at_report_point *point = &search->points[j];
            double after = (double)(point->utc_ms - device->first_ms);
            double value = (double)*(const int64_t *)((const char *)point + panel->member);
            struct slot *slot = &slots[(size_t)(after / span_ms * SLOTS)];

            if (value > 0 && (slot->high == 0 || value < slot->low))
                slot->low = value;
            slot->high = fmax(slot->high, value);
            slot->throttled |= point->look.throttle != 0;
        }
    }
}

/* Each problem is a bar above the lower edge. */
static void add_spans(const struct at_report_device *device, const struct span *spans, size_t count,
                      struct at_plot *plot)
{
    const struct at_range *range = &plot->y.range;
    struct at_layer *layers[] = {at_plot_add(plot, AT_LAYER_BARS, 0, "during", NULL),
                                 at_plot_add(plot, AT_LAYER_BARS, 0, "during odd", NULL)};

    for (size_t i = 0; i < count; i++) {
        struct at_layer *layer = layers[i % 2];

        at_layer_mark(layer, (double)(spans[i].first_ms - device->first_ms),
                      range->low + 0.04 * (range->high - range->low),
                      at_strdup(spans[i].row->entry->problem), NULL);
        layer->points[layer->count - 1].to = (double)(spans[i].last_ms - device->first_ms);
    }
}

/* Draw a panel, unless the journals have nothing for it. */
static bool draw_panel(const struct at_report_device *device, const struct panel *panel,
                       const struct span *spans, size_t count, FILE *out)
{
    struct slot slots[SLOTS] = {{0, 0, false}};
    double span_ms = (double)(device->last_ms - device->first_ms) + 1;
    struct at_plot plot = {.name = panel->name,
                           .width = 1120,
                           .height = panel->height,
                           .x_title = "seconds since the first evaluation",
                           .y_title = panel->title};
    struct at_layer *values = at_plot_add(&plot, AT_LAYER_UPRIGHT, 0, "clock", NULL);
    struct at_layer *throttled =
        at_plot_add(&plot, AT_LAYER_MARKS, THROTTLED_SERIES, NULL, "throttled");
    struct at_range range;
    bool drawn;

    fill_slots(device, panel, span_ms, slots);
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].high > 0)
            at_layer_add(values, ((double)i + 0.5) / SLOTS * span_ms, slots[i].high, slots[i].low);
    range = at_plot_range(&plot, false, (struct at_range){INFINITY, 0});
    if (panel->problems)
        range.low -= (range.high - range.low) / 4;
    plot.x = at_axis_linear((struct at_range){0, span_ms}, AT_AXIS_SECONDS);
    plot.y = at_axis_linear(range, panel->unit);
    /* A mark at the upper edge wherever the device held its clocks down. */
    for (size_t i = 0; i < SLOTS; i++)
        if (slots[i].throttled)
            at_layer_add(throttled, ((double)i + 0.5) / SLOTS * span_ms, plot.y.range.high, 0);
    if (panel->problems)
        add_spans(device, spans, count, &plot);
    drawn = values->count > 0;
    if (drawn)
        at_plot_picture(&plot, out);
    at_plot_clear(&plot);
    return drawn;
}

static void draw_run(const struct at_report_device *device, const struct span *spans, size_t count,
                     FILE *out)
{
    const struct at_report_throttling *seen = &device->throttling;
    bool drawn = false;

    if (seen->looks > 0) {
        at_put(out, "<p>Throttling: ");
        if (seen->throttled == 0)
            at_put(out, "none at any of %zu looks at the device", seen->looks);
        for (size_t i = 0, shown = 0; i < AT_THROTTLES; i++)
            if (seen->counts[i] > 0)
                at_put(out, "%s%s at %zu of %zu looks", shown++ ? ", " : "", at_throttle_names[i],
                       seen->counts[i], seen->looks);
        at_put(out, ".</p>\n");
    }
    at_put(out, "<figure class=\"long\">\n");
    for (size_t i = 0; i < AT_COUNT(panels); i++)
        drawn |= draw_panel(device, &panels[i], spans, count, out);
    at_put(out, "<figcaption>%s",
           drawn ? "Each stroke: the lowest to the highest value of the evaluations of a moment. "
                   "Beneath the clock: the problems, one after the other."
                 : "The journal has no clocks, power or temperature of this device.");
    if (drawn && seen->throttled > 0) {
        at_put(out, " ");
        at_key_series(out, THROTTLED_SERIES, "throttled");
    }
    at_put(out, "</figcaption></figure>\n");
}

/* A value that is known is above 0. */
static void print_value(double value, FILE *out)
{
    if (value > 0)
        at_put(out, "<td>%.0f</td>", value);
    else
        at_put(out, "<td>–</td>");
}

static void print_spans(const struct at_report_device *device, const struct span *spans,
                        size_t count, FILE *out)
{
    at_put(out, "<details><summary>When each problem was tuned</summary>\n");
    at_html_table(out, "scroll", "sortable",
                  "problem|begins, s|takes, s|evaluations|median MHz|lowest MHz|most W|most "
                  "°C|name:throttling");
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];

        at_put(out, "<tr><th scope=\"row\">%s</th><td>%.1f</td><td>%.1f</td><td>%zu</td>",
               span->row->entry->problem, (double)(span->first_ms - device->first_ms) / 1000,
               (double)(span->last_ms - span->first_ms) / 1000, span->row->search->count);
        print_value(span->median_khz / 1000, out);
        print_value(span->least_khz / 1000, out);
        print_value((double)span->power_mw / 1000, out);
        print_value((double)span->temperature_c, out);
        at_put(out, "<td class=\"name\">%s",
               !span->throttle_known ? "–"
               : span->throttle == 0 ? "none"
                                     : "");
        for (size_t j = 0, shown = 0; j < AT_THROTTLES; j++)
            if (span->throttle >> j & 1)
                at_put(out, "%s%s", shown++ ? " " : "", at_throttle_names[j]);
        at_put(out, "</td></tr>\n");
    }
    at_html_table_end(out);
    at_put(out, "</details>\n");
}

static bool has_looks(const struct span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].power_mw > 0 || spans[i].temperature_c > 0)
            return true;
    return false;
}

void at_report_timeline(const struct at_report_device *device, FILE *out)
{
    const struct at_conditions *seen = &device->conditions;
    struct span *spans;
    size_t count;

    if (device->points == 0)
        return;
    spans = make_spans(device, &count);
    at_put(out, "<h3 id=\"d%zu-run\">The device during the run</h3>\n", device->index);
    if (seen->power_max_mW > 0 || seen->temperature_max_c > 0)
        at_put(out, "<p>At most %.0f W and %jd °C over the whole run%s.</p>\n",
               (double)seen->power_max_mW / 1000, (intmax_t)seen->temperature_max_c,
               has_looks(spans, count) ? "" : "; the journal does not have how they went");
    draw_run(device, spans, count, out);
    print_spans(device, spans, count, out);
    free(spans);
}
