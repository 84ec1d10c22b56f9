/* SPDX-License-Identifier: Apache-2.0 */
/* What each line of a winner's kernel costs, counted as `autotune explain` does. */
#ifndef AT_REPORT_COSTS_H
#define AT_REPORT_COSTS_H

#include "report/report.h"

/* Count for the `most` rows of each device that are furthest from the copy limit. It compiles and
 * runs them on the emulated device: about a second each. AT_USAGE: a config is not in its family's
 * space; AT_DEVICE: no NVRTC. */
enum at_status at_report_count_costs(struct at_report *report, size_t most, struct at_error *err);

/* Print the costs of a row that has them. */
void at_report_costs(const struct at_report *report, const struct at_report_row *row, FILE *out);

#endif
