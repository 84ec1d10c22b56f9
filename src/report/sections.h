/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the page, in its order. */
#ifndef AT_REPORT_SECTIONS_H
#define AT_REPORT_SECTIONS_H

#include "report/report.h"

/* The most points of a problem's search, and in a profile of more than AT_REPORT_OPEN_MAX problems.
 * And the most marks of a picture that have a text of their own. */
enum { AT_REPORT_MANY_POINTS = 1000, AT_REPORT_FEW_POINTS = 24, AT_REPORT_MARKS_MAX = 400 };

/* head.c: what was found, and the answers to the questions that readers ask first. */
void at_report_head(const struct at_report *report, FILE *out);
void at_report_device_head(const struct at_report *report, const struct at_report_device *device,
                           FILE *out);
/* trust.c */
void at_report_trust(const struct at_report *report, const struct at_report_device *device,
                     FILE *out);
/* made.c */
void at_report_made(const struct at_report_device *device, FILE *out);
/* changes.c: against the baseline. */
void at_report_changes(const struct at_report *report, FILE *out);
/* table.c */
void at_report_table(const struct at_report *report, const struct at_report_device *device,
                     FILE *out);
/* maps.c */
void at_report_maps(const struct at_report *report, const struct at_report_device *device,
                    FILE *out);
/* problem.c */
void at_report_problems(const struct at_report *report, const struct at_report_device *device,
                        FILE *out);
/* remarks.c: what stands out, as a list. */
void at_report_remarks(const struct at_report_device *device, const struct at_report_row *row,
                       FILE *out);
/* search.c: the plots and tables of a problem's search. `few` limits the points. */
void at_report_search(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, bool few, FILE *out);
/* parameters.c */
void at_report_parameters(const struct at_report *report, const struct at_report_device *device,
                          FILE *out);
/* The same in a sentence or two. */
void at_report_parameters_lead(const struct at_report *report,
                               const struct at_report_device *device, FILE *out);
/* timeline.c */
void at_report_timeline(const struct at_report *report, const struct at_report_device *device,
                        FILE *out);
/* Return at how many of *looks looks at the device, which the journals have, it was throttled. */
size_t at_report_throttled(const struct at_report_device *device, size_t *looks);
/* data.c */
void at_report_data(const struct at_report *report, FILE *out);

#endif
