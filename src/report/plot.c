/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

enum { TICKS_MAX = 24 };

/* 1, 2 or 5 times a power of ten: the least that is not below `step`. */
static double round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double digits = step / power;

    return power * (digits <= 1.0001 ? 1 : digits <= 2.0001 ? 2 : digits <= 5.0001 ? 5 : 10);
}

/* How many of an axis' numbers make one of its unit. */
static double scale_of(enum at_axis_unit unit)
{
    static const double scales[] = {[AT_AXIS_PERCENT] = 10,
                                    [AT_AXIS_US] = 1000,
                                    [AT_AXIS_MHZ] = 1000,
                                    [AT_AXIS_WATTS] = 1000,
                                    [AT_AXIS_SECONDS] = 1000};

    return unit < AT_COUNT(scales) && scales[unit] > 0 ? scales[unit] : 1;
}

static bool is_binary(const struct at_plot_axis *axis)
{
    return axis->unit == AT_AXIS_BYTES || axis->unit == AT_AXIS_BINARY;
}

struct at_plot_axis at_axis_linear(struct at_range values, enum at_axis_unit unit)
{
    double scale = scale_of(unit), step;

    if (!(values.high > values.low))
        values.high = values.low + scale;
    step = round_step((values.high - values.low) / scale / 5) * scale;
    return (struct at_plot_axis){
        .range = {floor(values.low / step + 1e-9) * step, ceil(values.high / step - 1e-9) * step},
        .unit = unit};
}

struct at_plot_axis at_axis_logarithmic(struct at_range values, enum at_axis_unit unit)
{
    double room = fmax(pow(values.high / values.low, 0.05), 1.02);

    return (struct at_plot_axis){
        .range = {values.low / room, values.high * room}, .logarithmic = true, .unit = unit};
}

struct at_plot_axis at_axis_names(const char *const *names, size_t count)
{
    return (struct at_plot_axis){
        .range = {0, (double)count}, .unit = AT_AXIS_NAMES, .names = names};
}

/* The pixel of a value; values beyond an end are put there. */
static double place(const struct at_plot_axis *axis, double value)
{
    const struct at_range *range = &axis->range;
    double share;

    value = fmin(fmax(value, range->low), range->high);
    share = axis->logarithmic ? log(value / range->low) / log(range->high / range->low)
                              : (value - range->low) / (range->high - range->low);
    return axis->from + share * (axis->to - axis->from);
}

static size_t add_between(const struct at_plot_axis *axis, double value, size_t count,
                          double ticks[TICKS_MAX])
{
    double room = 1e-9 * (axis->range.high - axis->range.low);

    if (count < TICKS_MAX && value >= axis->range.low - room && value <= axis->range.high + room)
        ticks[count++] = value;
    return count;
}

/* Powers of 2, of 4, of 16, ... until there are few enough. */
static size_t binary_ticks(const struct at_plot_axis *axis, int most, double ticks[TICKS_MAX])
{
    double octaves = log2(axis->range.high / axis->range.low);
    int every = 1;
    size_t count = 0;

    while (octaves / every > most)
        every *= 2;
    for (int i = (int)floor(log2(axis->range.low) / every);
         i * every <= log2(axis->range.high) + 1e-9; i++)
        count = add_between(axis, exp2((double)i * every), count, ticks);
    return count;
}

static size_t linear_ticks(const struct at_plot_axis *axis, int most, double ticks[TICKS_MAX])
{
    double scale = scale_of(axis->unit);
    double step = round_step((axis->range.high - axis->range.low) / scale / most) * scale;
    size_t count = 0;

    for (double i = ceil(axis->range.low / step - 1e-9); i <= axis->range.high / step + 1e-9; i++)
        count = add_between(axis, i == 0 ? 0 : i * step, count, ticks); /* no -0 */
    return count;
}

/* 1, 2, 5 of each power of ten, or only 1; evenly spaced values within less than a power. */
static size_t decimal_ticks(const struct at_plot_axis *axis, int most, double ticks[TICKS_MAX])
{
    static const double digits[] = {1, 2, 5};
    double scale = scale_of(axis->unit), powers = log10(axis->range.high / axis->range.low);
    int each = 3 * powers > most ? 1 : 3, every = 1;
    size_t count = 0;

    if (powers < 1)
        return linear_ticks(axis, most, ticks);
    while (powers * each / every > most)
        every++;
    for (int i = (int)floor(log10(axis->range.low / scale)); i <= log10(axis->range.high / scale);
         i++)
        for (int j = 0; j < each && (i % every == 0 || each > 1); j++)
            count = add_between(axis, scale * digits[j] * pow(10, i), count, ticks);
    return count;
}

/* Fill in the ticks' values; return how many. At most `most` are asked for. */
static size_t find_ticks(const struct at_plot_axis *axis, int most, double ticks[TICKS_MAX])
{
    if (!axis->logarithmic)
        return linear_ticks(axis, most, ticks);
    return is_binary(axis) ? binary_ticks(axis, most, ticks) : decimal_ticks(axis, most, ticks);
}

/* Without the unit if the axis' title has it. */
static void print_label(FILE *out, const struct at_plot_axis *axis, double value)
{
    static const char *const units[] = {"", " Ki", " Mi", " Gi", " Ti"};
    size_t power = 0;

    value /= scale_of(axis->unit);
    if (!is_binary(axis)) {
        at_put(out, "%.6g%s", value, axis->unit == AT_AXIS_PERCENT ? " %" : "");
        return;
    }
    for (; value >= 1024 && power + 1 < AT_COUNT(units); power++)
        value /= 1024;
    at_put(out, "%g%s%s", value, axis->unit == AT_AXIS_BYTES && power == 0 ? " " : units[power],
           axis->unit == AT_AXIS_BYTES ? "B" : "");
}

/* ---- shapes ---- */

/* One shape a series, centred, some 8 units wide; open ones are drawn as lines. */
static const struct {
    const char *path;
    bool open;
} shapes[AT_PLOT_SERIES] = {
    {"M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", false}, /* circle */
    {"M-3.2 -3.2h6.4v6.4h-6.4z", false},                      /* square */
    {"M0 -4.4L4.2 3.2H-4.2z", false},                         /* triangle */
    {"M0 -4.6L4 0L0 4.6L-4 0z", false},                       /* diamond */
    {"M-3.4 -3.4L3.4 3.4M-3.4 3.4L3.4 -3.4", true},           /* cross */
    {"M0 4.4L4.2 -3.2H-4.2z", false},                         /* triangle, downwards */
    {"M-4.2 0H4.2M0 -4.2V4.2", true},                         /* plus */
    {"M-4 -2.4h8v4.8h-8z", true},                             /* empty box */
};

static void print_shape(FILE *out, size_t series)
{
    series %= AT_PLOT_SERIES;
    at_put(out, "<path class=\"%c%zu\" d=\"%s\"/>", shapes[series].open ? 'o' : 'f', series,
           shapes[series].path);
}

static void print_markers(FILE *out)
{
    static const char marker[] =
        "<marker id=\"m%c\" viewBox=\"-6 -6 12 12\" markerWidth=\"12\" markerHeight=\"12\" "
        "markerUnits=\"userSpaceOnUse\">";

    at_put(out, "<defs>");
    for (size_t i = 0; i < AT_PLOT_SERIES; i++) {
        at_put(out, marker, '0' + (int)i);
        print_shape(out, i);
        at_put(out, "</marker>");
    }
    at_put(out, marker, 'e');
    at_put(out, "<path class=\"dash\" d=\"M-3 0H3\"/></marker></defs>\n");
}

void at_plot_shapes(FILE *out)
{
    at_put(out, "<svg class=\"shapes\" aria-hidden=\"true\">");
    print_markers(out);
    at_put(out, "</svg>\n");
}

void at_key_series(FILE *out, size_t series, const char *name)
{
    at_put(out,
           "<span class=\"key\"><svg><path class=\"k%zu\" "
           "d=\"M6 6\"/></svg>%s</span> ",
           series % AT_PLOT_SERIES, name);
}

void at_key_line(FILE *out, const char *class, const char *name)
{
    at_put(out,
           "<span class=\"key\"><svg class=\"line\"><path class=\"%s\" "
           "d=\"%s\"/></svg>%s</span> ",
           class, strcmp(class, "expected") == 0 ? "M12 6" : "M0 6H24", name);
}

/* ---- layers ---- */

struct at_layer *at_plot_add(struct at_plot *plot, enum at_layer_kind kind, size_t series,
                             const char *class, const char *name)
{
    struct at_layer *layer = at_alloc(sizeof *layer);

    *layer = (struct at_layer){
        .kind = kind, .class = class, .series = series % AT_PLOT_SERIES, .name = name};
    return AT_PUSH(plot->layers, plot->count, plot->capacity, layer);
}

void at_layer_add(struct at_layer *layer, double x, double y, double to)
{
    AT_PUSH(layer->points, layer->count, layer->capacity,
            ((struct at_plot_point){.x = x, .y = y, .to = to}));
}

void at_layer_mark(struct at_layer *layer, double x, double y, char *text, const char *link)
{
    AT_PUSH(layer->points, layer->count, layer->capacity,
            ((struct at_plot_point){.x = x, .y = y, .text = text, .link = link}));
}

struct at_range at_plot_range(const struct at_plot *plot, bool across, struct at_range known)
{
    for (size_t i = 0; i < plot->count; i++) {
        const struct at_layer *layer = plot->layers[i];
        bool far = across ? layer->kind == AT_LAYER_ACROSS || layer->kind == AT_LAYER_BARS
                          : layer->kind == AT_LAYER_UPRIGHT;

        for (size_t j = 0; j < layer->count; j++) {
            const struct at_plot_point *point = &layer->points[j];
            double value = across ? point->x : point->y;

            known.low = fmin(known.low, far ? fmin(value, point->to) : value);
            known.high = fmax(known.high, far ? fmax(value, point->to) : value);
        }
    }
    return known;
}

void at_plot_clear(struct at_plot *plot)
{
    for (size_t i = 0; i < plot->count; i++) {
        for (size_t j = 0; j < plot->layers[i]->count; j++)
            free(plot->layers[i]->points[j].text);
        free(plot->layers[i]->points);
        free(plot->layers[i]);
    }
    free(plot->layers);
    plot->layers = NULL;
    plot->count = plot->capacity = 0;
}

/* ---- drawing layers ---- */

/* A pixel to a tenth. */
static double tenth(double pixel)
{
    return round(pixel * 10) / 10;
}

/* A number after a space, which is left out if the number has a sign. */
static void print_next(FILE *out, double value)
{
    at_put(out, value < 0 ? "%g" : " %g", value);
}

/* Each point but the first is written as its distance from the one before, in whole steps, so that
 * no error adds up. Paths are the bulk of a page. */
static void print_points(const struct at_plot *plot, const struct at_layer *layer, int steps,
                         FILE *out)
{
    long pen_x = 0, pen_y = 0;

    for (size_t i = 0; i < layer->count; i++) {
        long x = lround(place(&plot->x, layer->points[i].x) * steps);
        long y = lround(place(&plot->y, layer->points[i].y) * steps);

        if (i == 0)
            at_put(out, "m%g", (double)x / steps);
        else
            print_next(out, (double)(x - pen_x) / steps);
        print_next(out, (double)(y - pen_y) / steps);
        pen_x = x;
        pen_y = y;
    }
}

/* Draw a line, or all marks of a layer. Marks need no more than whole pixels. */
static void draw_path(const struct at_plot *plot, const struct at_layer *layer, FILE *out)
{
    bool line = layer->kind == AT_LAYER_LINE;

    if (line)
        at_put(out, "<path class=\"%s b%zu\"", layer->class, layer->series);
    else if (layer->class)
        at_put(out, "<path class=\"%s\"", layer->class);
    else
        at_put(out, "<path class=\"k%zu\"", layer->series);
    if (layer->name)
        at_put(out, " data-s=\"%s\"", layer->name);
    at_put(out, " d=\"");
    print_points(plot, layer, line ? 10 : 1, out);
    at_put(out, "\"/>\n");
}

static void draw_mark(const struct at_layer *layer, const struct at_plot_point *point, double x,
                      double y, bool linked, FILE *out)
{
    if (linked)
        at_put(out, "<a href=\"#%s\">", point->link);
    at_put(out,
           "<path class=\"%c%zu\" transform=\"translate(%g %g)\" d=\"%s\"><title>%s</title></path>"
           "%p\n",
           shapes[layer->series].open ? 'o' : 'f', layer->series, x, y, shapes[layer->series].path,
           point->text, linked ? "</a>" : "");
}

static void draw_bar(const struct at_layer *layer, const struct at_plot_point *point, double x,
                     double to, double y, FILE *out)
{
    at_put(out, "<path class=\"%s\" d=\"M%g %gH%gv%dH%gz\">", layer->class, x,
           y - AT_PLOT_BAR / 2.0, fmax(to, x + 0.5), AT_PLOT_BAR, x);
    if (point->text)
        at_put(out, "<title>%s</title>", point->text);
    at_put(out, "</path>\n");
}

/* Draw a point of a layer that is no single path. */
static void draw_point(const struct at_plot *plot, const struct at_layer *layer, size_t index,
                       FILE *out)
{
    const struct at_plot_point *point = &layer->points[index];
    double x = tenth(place(&plot->x, point->x)), y = tenth(place(&plot->y, point->y));

    switch (layer->kind) {
    case AT_LAYER_BARS:
        draw_bar(layer, point, x, tenth(place(&plot->x, point->to)), y, out);
        break;
    case AT_LAYER_STEPS:
        at_put(out, index ? "H%gV%g" : "M%g %g", x, y);
        break;
    case AT_LAYER_UPRIGHT:
        at_put(out, "M%g %gV%g", x, y, tenth(place(&plot->y, point->to)));
        break;
    case AT_LAYER_ACROSS:
        at_put(out, "M%g %gH%g", x, y, tenth(place(&plot->x, point->to)));
        break;
    default:
        draw_mark(layer, point, x, y, point->link && !plot->alone, out);
    }
}

static void draw_layer(const struct at_plot *plot, const struct at_layer *layer, FILE *out)
{
    bool path = layer->kind <= AT_LAYER_ACROSS;

    if (layer->count == 0)
        return;
    if (layer->kind == AT_LAYER_LINE ||
        (layer->kind == AT_LAYER_MARKS && (!plot->texts || !layer->points[0].text))) {
        draw_path(plot, layer, out);
        return;
    }
    if (path)
        at_put(out, "<path class=\"%s\" d=\"", layer->class);
    for (size_t i = 0; i < layer->count; i++)
        draw_point(plot, layer, i, out);
    if (path)
        at_put(out, "\"/>\n");
}

/* ---- the frame ---- */

/* Of a picture in a page, whose text can be read on a phone; of one in a file of its own, which has
 * its key in a line of its own; and the room around the frame. */
enum { WIDTH = 400, HEIGHT = 260, WIDTH_ALONE = 640, HEIGHT_ALONE = 340 };
enum { LEFT = 56, RIGHT = 20, TOP = 24, BOTTOM = 46, KEY = 20 };

/* What a name of y needs. MANY names are set closely. */
enum { NAME_HEIGHT = 28, CLOSE_HEIGHT = 15, MANY = 16, LETTER = 7, NAME_MAX_WIDTH = 300 };

static void print_tick(const struct at_plot *plot, bool across, double pixel, FILE *out)
{
    at_put(out, "<text x=\"%.0f\" y=\"%.0f\">", across ? pixel : plot->left - 6,
           across ? plot->bottom + 17 : pixel + 4);
}

static void print_names(const struct at_plot *plot, const struct at_plot_axis *axis, FILE *out)
{
    for (size_t i = 0; i < (size_t)axis->range.high; i++) {
        print_tick(plot, axis == &plot->x, place(axis, (double)i + 0.5), out);
        at_put(out, "%s</text>", axis->names[i]);
    }
}

static void print_axis(const struct at_plot *plot, const struct at_plot_axis *axis, int most,
                       FILE *out)
{
    bool across = axis == &plot->x;
    double ticks[TICKS_MAX];
    size_t count = find_ticks(axis, most, ticks);

    at_put(out, "<path d=\"");
    for (size_t i = 0; i < count; i++) {
        double pixel = tenth(place(axis, ticks[i]));

        if (across)
            at_put(out, "M%g %gV%g", pixel, plot->top, plot->bottom);
        else
            at_put(out, "M%g %gH%g", plot->left, pixel, plot->right);
    }
    at_put(out, "\"/>");
    for (size_t i = 0; i < count; i++) {
        print_tick(plot, across, place(axis, ticks[i]), out);
        print_label(out, axis, ticks[i]);
        at_put(out, "</text>");
    }
}

static void print_frame(const struct at_plot *plot, FILE *out)
{
    at_put(out, "<g class=\"x\">");
    print_axis(plot, &plot->x, plot->small ? 4 : 6, out);
    at_put(out, "<text class=\"t\" x=\"%g\" y=\"%g\">%s</text></g>\n<g class=\"y\">",
           (plot->left + plot->right) / 2, plot->height - 6, plot->x_title);
    if (plot->y.unit == AT_AXIS_NAMES)
        print_names(plot, &plot->y, out);
    else
        print_axis(plot, &plot->y, plot->small ? 3 : 6, out);
    at_put(out, "<text class=\"t\" x=\"2\" y=\"12\">%s</text></g>\n", plot->y_title);
}

static bool is_in_key(const struct at_layer *layer)
{
    return layer->name && layer->count > 0;
}

/* The key within a file of its own, in a line above the frame. */
static void print_own_key(const struct at_plot *plot, FILE *out)
{
    double x = plot->left + 6, y = TOP + 4;

    if (plot->key) {
        at_put(out, "<text x=\"%.1f\" y=\"%g\">%s</text>\n", plot->left, y + 4, plot->key);
        x += LETTER * (double)strlen(plot->key);
    }
    for (size_t i = 0; i < plot->count; i++) {
        const struct at_layer *layer = plot->layers[i];

        if (!is_in_key(layer))
            continue;
        if (layer->class)
            at_put(out, "<path class=\"%s\" d=\"M%.1f %gh24\"/>", layer->class, x - 6, y);
        else
            at_put(out, "<path class=\"k%zu\" d=\"M%.1f %g\"/>", layer->series, x, y);
        x += layer->class ? 22 : 9;
        at_put(out, "<text x=\"%.1f\" y=\"%g\">%s</text>\n", x, y + 4, layer->name);
        x += 17 + LETTER * (double)strlen(layer->name);
    }
}

static void lay_out(struct at_plot *plot)
{
    bool named = plot->y.unit == AT_AXIS_NAMES;
    size_t longest = 0, points = 0;

    for (size_t i = 0; i < plot->count; i++)
        points += plot->layers[i]->kind == AT_LAYER_MARKS ? plot->layers[i]->count : 0;
    plot->texts = points <= AT_PLOT_TEXTS_MAX;
    for (size_t i = 0; named && i < (size_t)plot->y.range.high; i++)
        longest = (size_t)fmax((double)longest, (double)strlen(plot->y.names[i]));
    plot->width = plot->alone ? WIDTH_ALONE : WIDTH;
    plot->top = plot->alone ? TOP + KEY : TOP;
    if (named)
        plot->height =
            plot->top + BOTTOM +
            (plot->y.range.high > MANY ? CLOSE_HEIGHT : NAME_HEIGHT) * plot->y.range.high;
    else if (plot->height == 0)
        plot->height = plot->alone ? HEIGHT_ALONE : HEIGHT;
    plot->left = fmin(fmax((double)longest * (LETTER + 1) + 8, named ? 0 : LEFT), NAME_MAX_WIDTH);
    plot->right = plot->width - RIGHT;
    plot->bottom = plot->height - BOTTOM;
    plot->x.from = plot->left;
    plot->x.to = plot->right;
    plot->y.from = named ? plot->top : plot->bottom;
    plot->y.to = named ? plot->bottom : plot->top;
}

static void draw(struct at_plot *plot, FILE *out)
{
    lay_out(plot);
    if (plot->alone)
        at_put(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" ",
               plot->width, plot->height);
    else
        at_put(out, "<svg ");
    at_put(out, "class=\"plot\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"%s\"%p>\n",
           plot->width, plot->height, plot->name, plot->alone ? " font-family=\"sans-serif\"" : "");
    if (plot->alone) {
        at_put(out,
               "<title>%s</title>\n<style>\n%p</style>\n<rect class=\"paper\" width=\"%g\" "
               "height=\"%g\"/>\n",
               plot->name, at_asset_picture_css, plot->width, plot->height);
        print_markers(out);
    }
    print_frame(plot, out);
    for (size_t i = 0; i < plot->count; i++)
        draw_layer(plot, plot->layers[i], out);
    if (plot->alone)
        print_own_key(plot, out);
    at_put(out, "</svg>\n");
}

static void print_key(const struct at_plot *plot, FILE *out)
{
    at_put(out, "<figcaption>%s", plot->key ? plot->key : "");
    for (size_t i = 0; i < plot->count; i++) {
        const struct at_layer *layer = plot->layers[i];

        if (is_in_key(layer) && layer->class)
            at_key_line(out, layer->class, layer->name);
        else if (is_in_key(layer))
            at_key_series(out, layer->series, layer->name);
    }
    at_put(out, "%p</figcaption>", plot->note ? plot->note : "");
}

void at_plot_figure(struct at_plot *plot, FILE *out)
{
    bool key = plot->note != NULL;

    if (plot->alone) {
        draw(plot, out);
        at_plot_clear(plot);
        return;
    }
    for (size_t i = 0; i < plot->count; i++)
        key |= is_in_key(plot->layers[i]);
    at_put(out, "<figure%p%s%p>", plot->class ? " class=\"" : "", plot->class ? plot->class : "",
           plot->class ? "\"" : "");
    if (plot->heading)
        at_put(out, "<h4>%s</h4>", plot->heading);
    draw(plot, out);
    if (key)
        print_key(plot, out);
    at_put(out, "</figure>\n");
    at_plot_clear(plot);
}
