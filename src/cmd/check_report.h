/* SPDX-License-Identifier: Apache-2.0 */
/* What `autotune check` found, for programs. People read it as it is found. */
#ifndef AT_CMD_CHECK_REPORT_H
#define AT_CMD_CHECK_REPORT_H

#include "cmd/format.h"

#include <stdint.h>

/* A config that was checked. The texts are owned. */
struct at_check_row {
    char *problem, *device, *config; /* config: "winner" or "default" */
    char *verdict;                   /* "sound", "illegal", "held", "drifted", "broken" */
    char *message;                   /* why; "": it holds */
    int64_t recorded_ns, now_ns;     /* 0: an answer has no time; it was not timed */
};

struct at_check_report {
    enum at_output_format format;
    struct at_check_row *rows;
    size_t count, capacity;
};

/* Add a row, with copies of its texts. */
void at_check_add(struct at_check_report *report, const struct at_check_row *row);

/* Print the report, unless its format is the table that people have read already; and free it. */
enum at_status at_check_print(struct at_check_report *report, struct at_error *err);

#endif
