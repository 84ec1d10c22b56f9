/* SPDX-License-Identifier: Apache-2.0 */
/* An axis of a picture: from values to pixels, and where its ticks are. */
#ifndef AT_REPORT_AXIS_H
#define AT_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { AT_AXIS_TICKS_MAX = 24 };

enum at_axis_unit {
    AT_AXIS_PLAIN,   /* 1500 */
    AT_AXIS_PERCENT, /* of thousandths: 97 % */
    AT_AXIS_US,      /* of nanoseconds, as microseconds */
    AT_AXIS_BYTES,   /* 64 KiB */
    AT_AXIS_BINARY,  /* 64 Ki */
    AT_AXIS_MHZ,     /* of kilohertz */
    AT_AXIS_WATTS,   /* of milliwatts */
    AT_AXIS_SECONDS, /* of milliseconds */
};

struct at_plot_axis {
    double low, high; /* values at the ends; a logarithmic axis is above 0 */
    bool logarithmic;
    enum at_axis_unit unit;
    double from, to; /* pixels of low and high */
};

/* Make an axis that holds these values, with a little room and round ends. */
struct at_plot_axis at_axis_linear(double low, double high, enum at_axis_unit unit);
struct at_plot_axis at_axis_logarithmic(double low, double high, enum at_axis_unit unit);

/* The pixel of a value; values beyond an end are put there. */
double at_axis_place(const struct at_plot_axis *axis, double value);

/* Fill in the ticks' values; return how many. At most `most` are asked for. */
size_t at_axis_ticks(const struct at_plot_axis *axis, int most, double ticks[AT_AXIS_TICKS_MAX]);

/* Print a tick's label, without the unit if the axis' title has it. */
void at_axis_label(FILE *out, const struct at_plot_axis *axis, double value);

#endif
