/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a problem's search that its plots and tables show. */
#ifndef AT_REPORT_SHOWN_H
#define AT_REPORT_SHOWN_H

#include "report/sections.h"

/* A row's search, with the points to show: all, or few. */
struct at_report_shown {
    const struct at_report *report;
    const struct at_report_device *device;
    const struct at_report_row *row;
    const struct at_report_search *search;
    bool *chosen; /* per point */
    size_t limit; /* the most that are chosen */
    bool few;
};

const struct at_report_point *at_report_best_point(const struct at_report_shown *shown);

/* Of many points half of the few are the fastest, the others are evenly spread over the rest. */
void at_report_choose_points(struct at_report_shown *shown);

struct at_report_by_time {
    double ns;
    size_t index;
};

/* The correct points, the fastest first; returns how many. The caller frees *sorted. */
size_t at_report_sort_points(const struct at_report_search *search,
                             struct at_report_by_time **sorted);

/* search_tables.c: print the best of each kernel, the fastest configs, and all that are shown. */
void at_report_search_tables(const struct at_report_shown *shown, FILE *out);

/* finals.c: the shoot-out's finalists, as a plot and a table. */
void at_report_finals(const struct at_report_shown *shown, FILE *out);

#endif
