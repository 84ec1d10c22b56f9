/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of all problems: where it is slow, and how the device did during the run. */
#include "base/memory.h"
#include "base/stats.h"
#include "device/device.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps: where is it slow? ---- */

/* Element sizes are the series. */
static const char *const size_names[] = {"1 byte", "2 bytes", "4 bytes", "8 bytes", "16 bytes"};
enum { SIZES = AT_COUNT(size_names), GAINS_MAX = 60 };

static size_t size_of(const struct at_report_row *row)
{
    size_t size = 0;

    while (size + 1 < SIZES && (INT64_C(1) << size) < row->problem.elem_size)
        size++;
    return size;
}

/* Fill a picture of a device's problems. */
typedef void make_map(const struct at_report_device *device, struct at_plot *plot,
                      const char *names[GAINS_MAX]);

/* Problems of as many bytes are often many. Those of each element size are beside the others', and
 * beside each other. */
static double place_of(const struct at_report_device *device, const struct at_report_row *row)
{
    static const double lane = 0.2, filled = 0.75; /* in doublings, and of a lane */
    size_t before = 0, alike = 0;

    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_row *other = &device->rows[i];
        bool same = other->bytes == row->bytes && size_of(other) == size_of(row);

        alike += same;
        before += same && other < row;
    }
    return (double)row->bytes *
           exp2(lane * ((double)size_of(row) - (SIZES - 1) / 2.0 +
                        filled * (((double)before + 0.5) / (double)alike - 0.5)));
}

static void draw_bytes(const struct at_report_device *device, struct at_plot *plot,
                       const char *names[GAINS_MAX])
{
    struct at_layer *layers[SIZES];
    struct at_range shares = {1000, 1000};

    (void)names;
    for (size_t i = 0; i < SIZES; i++)
        layers[i] = at_plot_add(plot, AT_LAYER_MARKS, i, NULL, size_names[i]);
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_row *row = &device->rows[i];

        at_layer_mark(layers[size_of(row)], place_of(device, row),
                      (double)row->winner->of_copy_permille,
                      at_format("%s: %.1f %% of the copy limit, %s", row->entry->problem,
                                row->percent, row->winner->family),
                      i < device->open ? row->anchor : NULL);
    }
    plot->x = at_axis_logarithmic(at_plot_range(plot, true, (struct at_range){INFINITY, 0}),
                                  AT_AXIS_BYTES);
    shares = at_plot_range(plot, false, shares);
    shares.low -= (shares.high - shares.low) / 20; /* the worst is above the frame */
    plot->y = at_axis_linear(shares, AT_AXIS_PERCENT);
    at_layer_add(at_plot_add(plot, AT_LAYER_ACROSS, 0, "copy", "copy limit"), plot->x.range.low,
                 1000, plot->x.range.high);
}

static int compare_gains(const void *a, const void *b)
{
    const struct at_entry *x = *(const struct at_entry *const *)a;
    const struct at_entry *y = *(const struct at_entry *const *)b;
    int64_t p = x->fallback.of_copy_permille, q = y->fallback.of_copy_permille;

    return p != q ? p < q ? -1 : 1 : strcmp(x->problem, y->problem);
}

/* The default config and the winner of the problems that gain most, each with its name. */
static void draw_gains(const struct at_report_device *device, struct at_plot *plot,
                       const char *names[GAINS_MAX])
{
    struct at_layer *gains = at_plot_add(plot, AT_LAYER_ACROSS, 0, "from", NULL);
    struct at_layer *defaults = at_plot_add(plot, AT_LAYER_MARKS, 1, NULL, "default config");
    struct at_layer *winners = at_plot_add(plot, AT_LAYER_MARKS, 0, NULL, "tuned");
    const struct at_entry **entries = at_alloc_array(device->count, sizeof *entries);
    struct at_range shares = {0, 1000};
    size_t count = 0;

    for (size_t i = 0; i < device->count; i++)
        if (device->rows[i].entry->fallback.time_ns > 0)
            entries[count++] = device->rows[i].entry;
    if (count > 0)
        qsort(entries, count, sizeof *entries, compare_gains);
    count = count < GAINS_MAX ? count : GAINS_MAX;
    for (size_t i = 0; i < count; i++) {
        double y = (double)i + 0.5, from = (double)entries[i]->fallback.of_copy_permille;
        double to = (double)entries[i]->winner.of_copy_permille;
        char *text = at_format("%s: default %.1f %%, tuned %.1f %% of the copy limit",
                               entries[i]->problem, from / 10, to / 10);

        names[i] = entries[i]->problem;
        at_layer_add(gains, from, y, to);
        at_layer_mark(defaults, from, y, text, NULL);
        at_layer_mark(winners, to, y, at_strdup(text), NULL);
    }
    shares = at_plot_range(plot, true, shares);
    plot->x = at_axis_linear(shares, AT_AXIS_PERCENT);
    plot->x.range.high = 1.03 * shares.high; /* the next round number may be far away */
    plot->y = at_axis_names(names, count);
    at_layer_add(at_plot_add(plot, AT_LAYER_UPRIGHT, 0, "copy", "copy limit"), 1000, 0,
                 (double)count);
    free(entries);
}

static const struct map {
    struct at_choice choice;
    make_map *draw;
    const char *name, *x_title, *y_title, *key;
} maps[] = {
    {{.name = "map", .note = "share of the copy limit against bytes"},
     draw_bytes,
     "Share of the copy limit against bytes, a mark a problem",
     "bytes read and written",
     "share of the copy limit",
     "Element size: "},
    {{.name = "gains", .note = "the default configs and the winners"},
     draw_gains,
     "Share of the copy limit of the default config and of the tuned one",
     "share of the copy limit",
     "problem",
     NULL},
};

struct at_choice at_report_figure_choice(size_t index)
{
    return index < AT_COUNT(maps) ? maps[index].choice : (struct at_choice){0};
}

static void draw_map(const struct at_report_device *device, const struct map *map, bool alone,
                     FILE *out)
{
    const char *names[GAINS_MAX];
    struct at_plot plot = {.name = map->name,
                           .key = map->key,
                           .x_title = map->x_title,
                           .y_title = map->y_title,
                           .alone = alone};

    if (!alone)
        plot.note = "<p class=\"small\">Marks of one size of problem are spread sideways, by their "
                    "element size first.</p>";
    map->draw(device, &plot, names);
    at_plot_figure(&plot, out);
}

void at_report_figure(const struct at_report *report, size_t figure, FILE *out)
{
    draw_map(&report->devices[0], &maps[figure], true, out);
}

/* ---- the same by shape and element size, as a table ---- */

/* The first class that a problem belongs to is its own. */
enum shape { TENSOR, IN_PLACE, TINY, FEW_ROWS, FEW_COLUMNS, BATCH, ODD, SQUARE, OBLONG, SHAPES };
static const char *const shape_names[SHAPES] = {
    [TENSOR] = "tensors of rank 3 and more",
    [IN_PLACE] = "in place",
    [TINY] = "matrices below 32 × 32",
    [FEW_ROWS] = "fewer than 32 rows",
    [FEW_COLUMNS] = "fewer than 32 columns",
    [BATCH] = "batches",
    [ODD] = "rows off the 32-byte sectors",
    [SQUARE] = "squares",
    [OBLONG] = "oblongs",
};

static enum shape shape_of(const struct at_problem *problem)
{
    bool few_rows = problem->rows < 32, few_columns = problem->cols < 32;

    if (problem->outer_count > 0)
        return TENSOR;
    if (problem->in_place)
        return IN_PLACE;
    if (few_rows || few_columns)
        return few_rows && few_columns ? TINY : few_rows ? FEW_ROWS : FEW_COLUMNS;
    if (problem->batch > 1)
        return BATCH;
    if (problem->ld_src * problem->elem_size % 32 || problem->ld_dst * problem->elem_size % 32)
        return ODD;
    return problem->rows == problem->cols ? SQUARE : OBLONG;
}

struct cell {
    double sum; /* of the logarithms of shares of the copy limit */
    size_t count;
};

static double percent_of(const struct cell *cell)
{
    return 100 * exp(cell->sum / (double)cell->count);
}

/* The last row and column have all. Small problems count only where there are no others. */
typedef struct cell cells[SHAPES + 1][SIZES + 1];

static void fill_cells(const struct at_report_device *device, cells all)
{
    for (size_t i = 0; i < device->count; i++) {
        const struct at_report_row *row = &device->rows[i];
        size_t shape = shape_of(&row->problem), size = size_of(row);
        struct cell *const own[] = {&all[shape][size], &all[shape][SIZES], &all[SHAPES][size],
                                    &all[SHAPES][SIZES]};

        for (size_t j = 0; j < AT_COUNT(own) && row->small == (device->means.large == 0); j++) {
            own[j]->sum += log(fmax(row->percent, 0.1) / 100);
            own[j]->count++;
        }
    }
}

static void print_slowest(cells all, size_t shape, size_t size, FILE *out)
{
    const struct cell *slowest = &all[shape][size], *every = &all[SHAPES][SIZES];

    if (slowest->count == every->count)
        return;
    at_put(out,
           "<p>Slowest: <b>%s, %s</b> an element, with %.1f&#8239;%% of the copy limit; all "
           "together reach %.1f&#8239;%%.</p>\n",
           shape_names[shape], size_names[size], percent_of(slowest), percent_of(every));
}

/* A cell is the darker, the slower it is. */
static void print_cell(const struct cell *cell, double least, FILE *out)
{
    double percent;

    if (cell->count == 0) {
        at_put(out, "<td>");
        return;
    }
    percent = percent_of(cell);
    at_put(out,
           "<td class=\"heat\" title=\"%zu problem%s\"><i style=\"opacity:%.2f\"></i>"
           "<span>%.1f</span>",
           cell->count, cell->count == 1 ? "" : "s",
           least < 100 ? 0.6 * fmin(1, fmax(0, (100 - percent) / (100 - least))) : 0, percent);
}

static void print_heat(const struct at_report_device *device, FILE *out)
{
    cells all = {{{0, 0}}};
    size_t shape = SHAPES, size = SIZES;

    fill_cells(device, all);
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t j = 0; j < SIZES; j++)
            if (all[i][j].count > 0 &&
                (shape == SHAPES || percent_of(&all[i][j]) < percent_of(&all[shape][size]))) {
                shape = i;
                size = j;
            }
    print_slowest(all, shape, size, out);
    at_put(out, "<div><table><thead><tr><th>%% of copy, by shape and element size</th>");
    for (size_t j = 0; j <= SIZES; j++)
        if (all[SHAPES][j].count > 0)
            at_put(out, "<th>%s</th>", j < SIZES ? size_names[j] : "all");
    at_put(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i <= SHAPES; i++) {
        if (all[i][SIZES].count == 0)
            continue;
        at_put(out, "<tr><th scope=\"row\">%s", i < SHAPES ? shape_names[i] : "all");
        for (size_t j = 0; j <= SIZES; j++)
            if (all[SHAPES][j].count > 0)
                print_cell(&all[i][j], percent_of(&all[shape][size]), out);
        at_put(out, "\n");
    }
    at_html_table_end(out);
    if (at_means_left_out(&device->means) > 0)
        at_put(out, "<p class=\"small\">Without the %zu small problems.</p>\n",
               at_means_left_out(&device->means));
}

void at_report_maps(const struct at_report_device *device, FILE *out)
{
    at_put(out, "<h3 id=\"d%zu-maps\">Where is it slow?</h3>\n<div class=\"columns\"><div>\n",
           device->index);
    print_heat(device, out);
    at_put(out, "</div>\n");
    draw_map(device, &maps[0], false, out);
    at_put(out, "</div>\n");
}

/* ---- the run: the device's clock with the problems beneath, its power and temperature ---- */

/* SLOTS of time, each with its lowest and highest value. */
enum { SLOTS = 160, THROTTLED_SERIES = 5 };

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
    bool problems; /* with the problems beneath */
} panels[] = {
    {offsetof(struct at_report_point, clock_sm_khz), "SM clock, MHz",
     "SM clock over time, with the problems beneath", AT_AXIS_MHZ, true},
    {offsetof(struct at_report_point, look.power_mw), "power, W", "Power over time", AT_AXIS_WATTS,
     false},
    {offsetof(struct at_report_point, look.temperature_c), "temperature, °C",
     "Temperature over time", AT_AXIS_PLAIN, false},
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
        at_plot_figure(&plot, out);
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
    at_put(out, "<div class=\"columns\">\n");
    for (size_t i = 0; i < AT_COUNT(panels); i++)
        drawn |= draw_panel(device, &panels[i], spans, count, out);
    at_put(out, "</div>\n<p class=\"small\">%s</p>\n",
           drawn ? "Each stroke: the lowest to the highest value of the evaluations of a moment. "
                   "Beneath the clock: the problems, one after the other."
                 : "The journal has no clocks, power or temperature of this device.");
}

/* A value that is known is above 0. */
static void print_value(const char *class, double value, FILE *out)
{
    at_put(out, value > 0 ? "<td%p>%.0f" : "<td%p>–", class, value);
}

static void print_spans(const struct at_report_device *device, const struct span *spans,
                        size_t count, FILE *out)
{
    at_put(out, "<details><summary>When each problem was tuned</summary>\n");
    at_html_table(
        out, "scroll", "sortable",
        "problem|begins, s|takes, s|wide:evaluations|wide:median MHz|lowest MHz|wide:most "
        "W|wide:most °C|name:throttling");
    for (size_t i = 0; i < count; i++) {
        const struct span *span = &spans[i];

        at_put(out,
               "<tr><th scope=\"row\">%s</th><td>%.1f</td><td>%.1f</td><td "
               "class=\"wide\">%zu",
               span->row->entry->problem, (double)(span->first_ms - device->first_ms) / 1000,
               (double)(span->last_ms - span->first_ms) / 1000, span->row->search->count);
        print_value(" class=\"wide\"", span->median_khz / 1000, out);
        print_value("", span->least_khz / 1000, out);
        print_value(" class=\"wide\"", (double)span->power_mw / 1000, out);
        print_value(" class=\"wide\"", (double)span->temperature_c, out);
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
