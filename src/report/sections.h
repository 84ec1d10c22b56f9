/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the page, in its order, and what they share. */
#ifndef AT_REPORT_SECTIONS_H
#define AT_REPORT_SECTIONS_H

#include "report/plot.h"
#include "report/report.h"

/* A section about a device that has problems. */
typedef void at_report_section(const struct at_report *report,
                               const struct at_report_device *device, FILE *out);

/* trust.c: is the run to be trusted, and how was the profile made? */
void at_report_trust(const struct at_report_device *device, FILE *out);
void at_report_origin(const struct at_report_device *device, FILE *out);

/* pictures.c */
void at_report_changes(const struct at_report *report, FILE *out);
at_report_section at_report_maps, at_report_timeline;

/* problems.c: all of them as a table; what stands out of one, as a list; and the details of each.
 */
at_report_section at_report_table, at_report_problems;
void at_report_remarks(const struct at_report_device *device, const struct at_report_row *row,
                       FILE *out);

/* search.c: the plots and tables of a problem's search, with few points in a page of many problems.
 */
void at_report_search(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, FILE *out);

/* parameters.c: what each is worth; and which is worth most, in a sentence or two. */
at_report_section at_report_parameters, at_report_parameters_lead;

/* What a parameter is, in words; "" if no family is known that has it. */
const char *at_report_words(const struct at_report *report, const char *family, const char *name);

#endif
