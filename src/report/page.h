/* SPDX-License-Identifier: Apache-2.0 */
/* What a page is made of: HTML, plots, and the sections of the report's page. */
#ifndef AT_REPORT_PAGE_H
#define AT_REPORT_PAGE_H

#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- HTML and SVG. Names from files are hostile, so all text is escaped on its way. ---- */

/* Print as printf does, but for these:
 * %s    text, escaped for HTML and XML, also within double quotes
 * %p    a char *: markup, as it is
 * %'jd  a whole number with commas between thousands
 * %a    a time in nanoseconds as microseconds, with three digits or two decimals; 0: unknown */
void at_put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begin a table within a box of these classes; NULL: within a <div> that the caller has begun.
 * `heads`, formatted as by printf, are separated by '|', and a class may stand before each:
 * "problem|name:kernel". */
void at_html_table(FILE *out, const char *box, const char *table, const char *heads, ...)
    __attribute__((format(printf, 4, 5)));
void at_html_table_end(FILE *out);

/* Begin a page: its head with style, and the open body. End it, with the script. */
void at_html_begin(FILE *out, const char *title);
void at_html_end(FILE *out);

/* report.css, picture.css and report.js, embedded when the program is built: see assets.awk. */
extern const char at_asset_report_css[], at_asset_picture_css[], at_asset_report_js[];

/* ---- plots (plot.c) ---- */

/* Pictures as SVG, from data: a frame with two axes, and layers of points within it. Series differ
 * by colour and by the shape of their marks; picture.css has the colours. */

/* TEXTS_MAX: a picture of more marks has none of their texts. */
enum { AT_PLOT_SERIES = 8, AT_PLOT_BAR = 14, AT_PLOT_TEXTS_MAX = 400 };

struct at_range {
    double low, high;
};

enum at_axis_unit {
    AT_AXIS_PLAIN,   /* 1500 */
    AT_AXIS_PERCENT, /* of thousandths: 97 % */
    AT_AXIS_US,      /* of nanoseconds, as microseconds */
    AT_AXIS_BYTES,   /* 64 KiB */
    AT_AXIS_BINARY,  /* 64 Ki */
    AT_AXIS_MHZ,     /* of kilohertz */
    AT_AXIS_WATTS,   /* of milliwatts */
    AT_AXIS_SECONDS, /* of milliseconds */
    AT_AXIS_NAMES,   /* names, the first on top: number i is at i + 0.5 */
};

struct at_plot_axis {
    struct at_range range; /* values at the ends; a logarithmic axis is above 0 */
    bool logarithmic;
    enum at_axis_unit unit;
    const char *const *names; /* of AT_AXIS_NAMES, borrowed: range.high of them */
    double from, to;          /* pixels of both ends, set when the picture is drawn */
};

/* Make an axis that holds these values, with a little room and round ends; or one of names. */
struct at_plot_axis at_axis_linear(struct at_range values, enum at_axis_unit unit);
struct at_plot_axis at_axis_logarithmic(struct at_range values, enum at_axis_unit unit);
struct at_plot_axis at_axis_names(const char *const *names, size_t count);

enum at_layer_kind {
    AT_LAYER_LINE,    /* through all points */
    AT_LAYER_STEPS,   /* through all points, across and then up or down */
    AT_LAYER_UPRIGHT, /* from y to `to` */
    AT_LAYER_ACROSS,  /* from x to `to` */
    AT_LAYER_MARKS,   /* the series' shape at each point */
    AT_LAYER_BARS,    /* from x to `to`, AT_PLOT_BAR pixels thick */
};

struct at_plot_point {
    double x, y, to;
    char *text;       /* for those who point at it; NULL: none */
    const char *link; /* where it leads within the page; NULL: nowhere */
};

struct at_layer {
    enum at_layer_kind kind;
    const char *class; /* of lines, and of marks that have no series */
    size_t series;     /* of marks, and of lines through all points, whose colour it is */
    const char *name;  /* for the key and the script; NULL: it is in no key */
    struct at_plot_point *points;
    size_t count, capacity;
};

struct at_plot {
    const char *name; /* tells what it shows */
    double height;    /* in its own units; 0: as usual, or as names of y need */
    struct at_plot_axis x, y;
    const char *x_title, *y_title;
    bool small;             /* fewer ticks */
    const char *class;      /* of the figure; NULL: none */
    const char *heading;    /* of the figure; NULL: none */
    const char *key, *note; /* words before the key and behind it; NULL: none */
    bool alone;             /* a file of its own, without links */
    struct at_layer **layers;
    size_t count, capacity;
    /* Set when it is drawn. */
    double width, left, right, top, bottom; /* of the frame, and of all */
    bool texts;                             /* marks have theirs */
};

/* Add an empty layer, which is drawn above those before it. The class and the name are borrowed. */
struct at_layer *at_plot_add(struct at_plot *plot, enum at_layer_kind kind, size_t series,
                             const char *class, const char *name);

/* Add a point to a layer; or one with a text, which the layer frees. */
void at_layer_add(struct at_layer *layer, double x, double y, double to);
void at_layer_mark(struct at_layer *layer, double x, double y, char *text, const char *link);

/* The range of all points, of x or of y, and of what is known to belong to it. */
struct at_range at_plot_range(const struct at_plot *plot, bool across, struct at_range known);

/* Draw a plot as a figure with its key, and clear it. */
void at_plot_figure(struct at_plot *plot, FILE *out);

/* Free the layers. */
void at_plot_clear(struct at_plot *plot);

/* Print the shapes of marks and the symbols of keys, which a page needs once. */
void at_plot_shapes(FILE *out);

/* Print what a series is, or a line of a class of plot.c. */
void at_key_series(FILE *out, size_t series, const char *name);
void at_key_line(FILE *out, const char *class, const char *name);

/* ---- commands (commands.c), each behind words that say what it is for ---- */

/* Tune these rows of a device again, and add to the profile. `longer`: until the searches settle,
 * also where the default is to stop before. */
void at_report_retune(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *const *rows, size_t count, bool longer,
                      const char *words, FILE *out);

/* Count what the lines of a row's kernel cost. */
void at_report_explain(const struct at_report_row *row, const char *words, FILE *out);

/* Show what the page has not without a journal. */
void at_report_journal(const struct at_report *report, FILE *out);

/* Repeat the searches of a device. */
void at_report_repeats(const struct at_report_device *device, FILE *out);

/* ---- the sections of the page, in its order, and what they share ---- */

/* pictures.c */
void at_report_maps(const struct at_report_device *device, FILE *out);
void at_report_timeline(const struct at_report_device *device, FILE *out);

/* ---- tuners.c: what the tuners of the newest run did; nothing without a journal of it ---- */

void at_report_tuners(const struct at_report *report, const struct at_report_device *device,
                      FILE *out);

/* problems.c: all of them as a table; what stands out of one, as a list; and the details of each.
 */
void at_report_table(const struct at_report *report, const struct at_report_device *device,
                     FILE *out);
void at_report_remarks(const struct at_report *report, const struct at_report_device *device,
                       const struct at_report_row *row, FILE *out);

void at_report_problems(const struct at_report *report, const struct at_report_device *device,
                        FILE *out);

/* What changed since the baseline, if there is one. */
void at_report_changes(const struct at_report *report, FILE *out);

/* search.c: the plots and tables of a problem's search, with few points in a page of many problems.
 */
void at_report_search(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, FILE *out);

/* parameters.c: what each is worth; and in a sentence or two, to `lead`, which is worth most. */
void at_report_parameters(const struct at_report *report, const struct at_report_device *device,
                          FILE *lead, FILE *out);

/* What a parameter is, in words; "" if no family is known that has it. */
const char *at_report_words(const struct at_report *report, const char *family, const char *name);

#endif
