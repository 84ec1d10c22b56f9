/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the page, in its order, and what they share. */
#ifndef AT_REPORT_SECTIONS_H
#define AT_REPORT_SECTIONS_H

#include "report/plot.h"
#include "report/report.h"

/* pictures.c */
void at_report_changes(const struct at_report *report, FILE *out);
void at_report_maps(const struct at_report_device *device, FILE *out);
void at_report_timeline(const struct at_report_device *device, FILE *out);

/* problems.c: all of them as a table; what stands out of one, as a list; and the details of each.
 */
void at_report_table(const struct at_report *report, const struct at_report_device *device,
                     FILE *out);
void at_report_remarks(const struct at_report_device *device, const struct at_report_row *row,
                       FILE *out);
void at_report_problems(const struct at_report *report, const struct at_report_device *device,
                        FILE *out);

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
