/* SPDX-License-Identifier: Apache-2.0 */
/* A small writer of plots as SVG: a frame with two axes, marks and lines. Series differ by colour
 * and by the shape of their marks; report.css has the colours. A plot is part of a page, or a file
 * of its own with its style. */
#ifndef AT_REPORT_PLOT_H
#define AT_REPORT_PLOT_H

#include "report/axis.h"

enum { AT_PLOT_SERIES = 8 };

struct at_plot {
    FILE *out;
    double width, height;            /* of the picture, in its own units */
    double left, right, top, bottom; /* of the frame */
    struct at_plot_axis x, y;
    const char *x_title, *y_title;
    bool alone; /* a file of its own */
    bool small; /* fewer ticks */
    bool lines; /* no ticks on y: see at_plot_begin_lines */
    /* Of plot.c: points of the path that is being written, and the last of them in its steps. */
    size_t points;
    long pen_x, pen_y;
};

/* Begin a plot with its axes' ranges and titles set; `name` tells what it shows. */
void at_plot_begin(struct at_plot *plot, const char *name);
/* The same without ticks on the axis of y, whose lines have labels of their own. */
void at_plot_begin_lines(struct at_plot *plot, const char *name);
void at_plot_end(struct at_plot *plot);

/* Print the shapes of the series' marks. A page needs them once, before its plots; a file of its
 * own gets them with its beginning. */
void at_plot_shapes(FILE *out);

/* Print the symbols of keys, which a page needs once. */
void at_plot_symbols(FILE *out);

/* Begin the points of a series, which its shape marks, for the script under a name unless that is
 * NULL; or of a line of this class. End either. */
void at_plot_marks(struct at_plot *plot, size_t series, const char *name);
void at_plot_line(struct at_plot *plot, const char *class);
void at_plot_points_end(const struct at_plot *plot);

/* Print a point of either; a spot is the same to a whole unit: marks need no more. */
void at_plot_point(struct at_plot *plot, double x, double y);
void at_plot_spot(struct at_plot *plot, double x, double y);

/* Print a point to a whole unit at this x and, in the picture's own units, the y of the first. */
void at_plot_along(struct at_plot *plot, double x, double y);

/* Print a step of a line that goes across and then up or down. */
void at_plot_step(struct at_plot *plot, double x, double y);

/* Draw a horizontal line of this class at y. */
void at_plot_level(const struct at_plot *plot, double y, const char *class);

/* Print one mark with a text for those who point at it. */
void at_plot_mark(const struct at_plot *plot, size_t series, double x, double y, const char *text,
                  const char *anchor);

/* Print what a series is, or a line of a class of plot.c, in HTML; and the series within a file of
 * its own. */
void at_plot_key_item(FILE *out, size_t series, const char *name);
void at_plot_key_line(FILE *out, const char *class, const char *name);
void at_plot_key(const struct at_plot *plot, const char *const *names, const size_t *series,
                 size_t count);

#endif
