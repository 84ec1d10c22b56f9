/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels side by side, as a page with a picture: what `autotune bench` and `autotune study`
 * measured. */
#ifndef AT_REPORT_LADDER_H
#define AT_REPORT_LADDER_H

#include "bench/bench_report.h"
#include "study/study_run.h"

#include <stdio.h>

/* The kernels of each problem, as shares of the copy limit. */
void at_report_bench(const struct at_bench_report *reports, size_t count, FILE *out);

/* The kernels of a study, by bandwidth, with what was counted. */
void at_report_study(const struct at_study_result *result, FILE *out);

#endif
