/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plot.h"

#include "base/memory.h"
#include "report/html.h"

#include <math.h>
#include <string.h>

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

/* The classes of lines; the first is that of the marks of what was expected. */
static const char *const lines[] = {"dash", "best", "copy", "default", "old"};

static void print_shape(FILE *out, size_t series)
{
    series %= AT_PLOT_SERIES;
    fprintf(out, "<path class=\"%s%zu\" d=\"%s\"/>", shapes[series].open ? "o" : "f", series,
            shapes[series].path);
}

void at_plot_shapes(FILE *out)
{
    fputs("<defs>", out);
    for (size_t i = 0; i < AT_PLOT_SERIES; i++) {
        fprintf(
            out,
            "<marker id=\"m%zu\" viewBox=\"-6 -6 12 12\" markerWidth=\"12\" markerHeight=\"12\" "
            "markerUnits=\"userSpaceOnUse\">",
            i);
        print_shape(out, i);
        fputs("</marker>", out);
    }
    fputs("<marker id=\"me\" viewBox=\"-6 -6 12 12\" markerWidth=\"12\" markerHeight=\"12\" "
          "markerUnits=\"userSpaceOnUse\"><path class=\"dash\" d=\"M-3 0H3\"/></marker></defs>\n",
          out);
}

void at_plot_symbols(FILE *out)
{
    for (size_t i = 0; i < AT_PLOT_SERIES; i++) {
        fprintf(out, "<symbol id=\"s%zu\" viewBox=\"-6 -6 12 12\">", i);
        print_shape(out, i);
        fputs("</symbol>", out);
    }
    for (size_t i = 0; i < AT_COUNT(lines); i++)
        fprintf(out,
                "<symbol id=\"l-%s\" viewBox=\"0 0 24 12\"><path class=\"%s\" d=\"%s\"/></symbol>",
                lines[i], lines[i], i == 0 ? "M9 6H15" : "M0 6H24");
    putc('\n', out);
}

/* Without the zeros that "%.1f" leaves. */
static void print_place(FILE *out, double value)
{
    char text[32];
    size_t length = (size_t)snprintf(text, sizeof text, "%.1f", value);

    if (length > 2 && strcmp(text + length - 2, ".0") == 0)
        text[length - 2] = '\0';
    fputs(text, out);
}

/* Print a number after `before`. A space there is left out if the number has a sign. */
static void print_number(FILE *out, double value, const char *before)
{
    if (before[0] != ' ' || value >= 0)
        fputs(before, out);
    print_place(out, value);
}

/* The line of a tick, as a part of a path. */
static void print_tick_line(const struct at_plot *plot, bool across, double place)
{
    FILE *out = plot->out;

    putc('M', out);
    print_place(out, across ? place : plot->left);
    putc(' ', out);
    print_place(out, across ? plot->top : place);
    putc(across ? 'V' : 'H', out);
    print_place(out, across ? plot->bottom : plot->right);
}

static void print_axis(const struct at_plot *plot, const struct at_plot_axis *axis, int most)
{
    FILE *out = plot->out;
    bool across = axis == &plot->x;
    double ticks[AT_AXIS_TICKS_MAX];
    size_t count = at_axis_ticks(axis, most, ticks);

    fputs("<path d=\"", out);
    for (size_t i = 0; i < count; i++)
        print_tick_line(plot, across, at_axis_place(axis, ticks[i]));
    fputs("\"/>", out);
    for (size_t i = 0; i < count; i++) {
        double place = at_axis_place(axis, ticks[i]);

        fprintf(out, "<text x=\"%.0f\" y=\"%.0f\">", across ? place : plot->left - 6,
                across ? plot->bottom + 17 : place + 4);
        at_axis_label(out, axis, ticks[i]);
        fputs("</text>", out);
    }
}

static void print_frame(const struct at_plot *plot)
{
    FILE *out = plot->out;

    fputs("<g class=\"x\">", out);
    print_axis(plot, &plot->x, plot->small ? 4 : 7);
    fprintf(out, "<text class=\"t\" x=\"%g\" y=\"%g\">", (plot->left + plot->right) / 2,
            plot->height - 6);
    at_html(out, plot->x_title);
    fputs("</text></g>\n<g class=\"y\">", out);
    if (!plot->lines)
        print_axis(plot, &plot->y, plot->small ? 3 : 6);
    fputs("<text class=\"t\" x=\"2\" y=\"12\">", out);
    at_html(out, plot->y_title);
    fputs("</text></g>\n", out);
}

void at_plot_begin(struct at_plot *plot, const char *name)
{
    FILE *out = plot->out;

    plot->x.from = plot->left;
    plot->x.to = plot->right;
    plot->y.from = plot->bottom;
    plot->y.to = plot->top;
    fprintf(out, "<svg%s class=\"plot\" viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"",
            plot->alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", plot->width, plot->height);
    at_html(out, name);
    fprintf(out, "\"%s>\n", plot->alone ? " font-family=\"sans-serif\"" : "");
    if (plot->alone) {
        fputs("<title>", out);
        at_html(out, name);
        fputs("</title>\n<style>\n", out);
        at_html_picture_style(out);
        fprintf(out, "</style>\n<rect class=\"paper\" width=\"%g\" height=\"%g\"/>\n", plot->width,
                plot->height);
        at_plot_shapes(out);
    }
    print_frame(plot);
}

void at_plot_begin_lines(struct at_plot *plot, const char *name)
{
    plot->lines = true;
    at_plot_begin(plot, name);
}

void at_plot_end(struct at_plot *plot)
{
    fputs("</svg>\n", plot->out);
}

/* Each point but the first is written as its distance from the one before, in whole steps, so that
 * no error adds up. Paths are the bulk of a page. */
static void print_point(struct at_plot *plot, double x, double y, int steps)
{
    long next_x = lround(x * steps), next_y = lround(y * steps);

    if (plot->points++ > 0) {
        print_number(plot->out, (double)(next_x - plot->pen_x) / steps, " ");
        print_number(plot->out, (double)(next_y - plot->pen_y) / steps, " ");
    } else {
        print_number(plot->out, (double)next_x / steps, "m");
        print_number(plot->out, (double)next_y / steps, " ");
    }
    plot->pen_x = next_x;
    plot->pen_y = next_y;
}

void at_plot_point(struct at_plot *plot, double x, double y)
{
    print_point(plot, at_axis_place(&plot->x, x), at_axis_place(&plot->y, y), 10);
}

void at_plot_spot(struct at_plot *plot, double x, double y)
{
    print_point(plot, at_axis_place(&plot->x, x), at_axis_place(&plot->y, y), 1);
}

void at_plot_along(struct at_plot *plot, double x, double y)
{
    long next_x = lround(at_axis_place(&plot->x, x));

    if (plot->points == 0) {
        print_number(plot->out, (double)next_x, "M");
        print_number(plot->out, y, " ");
    } else {
        print_number(plot->out, (double)(next_x - plot->pen_x), plot->points == 1 ? "h" : " ");
    }
    plot->points++;
    plot->pen_x = next_x;
}

void at_plot_step(struct at_plot *plot, double x, double y)
{
    double place_x = at_axis_place(&plot->x, x), place_y = at_axis_place(&plot->y, y);

    print_number(plot->out, place_x, plot->points > 0 ? "H" : "M");
    print_number(plot->out, place_y, plot->points > 0 ? "V" : " ");
    plot->points++;
}

void at_plot_marks(struct at_plot *plot, size_t series, const char *name)
{
    fprintf(plot->out, "<path class=\"k%zu\"", series % AT_PLOT_SERIES);
    if (name) {
        fputs(" data-s=\"", plot->out);
        at_html(plot->out, name);
        putc('"', plot->out);
    }
    fputs(" d=\"", plot->out);
    plot->points = 0;
}

void at_plot_line(struct at_plot *plot, const char *class)
{
    fprintf(plot->out, "<path class=\"%s\" d=\"", class);
    plot->points = 0;
}

void at_plot_points_end(const struct at_plot *plot)
{
    fputs("\"/>\n", plot->out);
}

void at_plot_level(const struct at_plot *plot, double y, const char *class)
{
    fprintf(plot->out, "<path class=\"%s\" d=\"M%g %.1fH%g\"/>\n", class, plot->left,
            at_axis_place(&plot->y, y), plot->right);
}

void at_plot_mark(const struct at_plot *plot, size_t series, double x, double y, const char *text,
                  const char *anchor)
{
    FILE *out = plot->out;

    if (anchor)
        fprintf(out, "<a href=\"#%s\">", anchor);
    series %= AT_PLOT_SERIES;
    fprintf(out, "<path class=\"%s%zu\" transform=\"translate(", shapes[series].open ? "o" : "f",
            series);
    print_place(out, at_axis_place(&plot->x, x));
    putc(' ', out);
    print_place(out, at_axis_place(&plot->y, y));
    fprintf(out, ")\" d=\"%s\"><title>", shapes[series].path);
    at_html(out, text);
    fprintf(out, "</title></path>%s\n", anchor ? "</a>" : "");
}

void at_plot_key_item(FILE *out, size_t series, const char *name)
{
    fprintf(out, "<span class=\"key\"><svg><use href=\"#s%zu\"/></svg>", series % AT_PLOT_SERIES);
    at_html(out, name);
    fputs("</span> ", out);
}

void at_plot_key_line(FILE *out, const char *class, const char *name)
{
    fprintf(out, "<span class=\"key\"><svg class=\"line\"><use href=\"#l-%s\"/></svg>", class);
    at_html(out, name);
    fputs("</span> ", out);
}

void at_plot_key(const struct at_plot *plot, const char *const *names, const size_t *series,
                 size_t count)
{
    double x = plot->left + 6;

    for (size_t i = 0; i < count; i++) {
        fprintf(plot->out, "<g transform=\"translate(%.1f 10)\">", x);
        print_shape(plot->out, series[i]);
        fputs("</g>", plot->out);
        fprintf(plot->out, "<text class=\"k\" x=\"%.1f\" y=\"14\">", x + 9);
        at_html(plot->out, names[i]);
        fputs("</text>\n", plot->out);
        x += 26 + 6.6 * (double)strlen(names[i]);
    }
}

_Static_assert(AT_COUNT(shapes) == AT_PLOT_SERIES, "each series has a shape");
