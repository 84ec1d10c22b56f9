/* SPDX-License-Identifier: Apache-2.0 */
/* How much a run of tune has to do, and about how long that takes: from what earlier runs on the
 * device took, which the cache of compiled kernels keeps, or else from shipped figures. */
#ifndef AT_CMD_PACE_H
#define AT_CMD_PACE_H

#include "queue/run.h"
#include "schema/print.h"

#include <stdbool.h>

struct at_expectation {
    double run_s;     /* seconds that the run takes */
    double problem_s; /* and a problem of weight 1 on the first device; 0: no earlier run tells */
    bool known;       /* earlier runs here tell; else these are figures of another machine */
};

/* Expect how long a run takes that has a problem. */
struct at_expectation at_pace_expect(const struct at_tuning_options *run);

/* Describe it: "50 problems: about 28 s, ...". The caller frees it. */
char *at_pace_describe(const struct at_tuning_options *run, const struct at_expectation *expected);

/* Print how many configs each problem has on each device, and how long the run takes. */
enum at_status at_pace_print_spaces(const struct at_tuning_options *run,
                                    enum at_output_format format, struct at_error *err);

/* Keep how long a run on so many devices took. The records have only its own entries. */
void at_pace_keep(const struct at_list *records, size_t devices, double seconds);

#endif
