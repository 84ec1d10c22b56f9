/* SPDX-License-Identifier: Apache-2.0 */
/* Configs of a profile that were checked, and whether its winners still hold on a device. */
#ifndef AT_CMD_HOLD_H
#define AT_CMD_HOLD_H

#include "cmd/run_options.h"

/* Of a config that was timed again, AT_ILLEGAL only on another model; else of its form. */
enum at_verdict { AT_HELD, AT_DRIFTED, AT_BROKEN, AT_ILLEGAL, AT_SOUND, AT_STALE, AT_VERDICTS };

/* A config that was checked. The texts are owned. */
struct at_check_row {
    char *problem, *device, *config; /* config: "winner" or "default" */
    int verdict;
    char *message;               /* why; "": it holds */
    int64_t recorded_ns, now_ns; /* 0: an answer has no time; it was not timed */
};

struct at_check_report {
    enum at_output_format format;
    struct at_check_row *rows;
    size_t count, capacity;
};

/* Add a row, with copies of its texts. */
void at_check_add(struct at_check_report *report, const struct at_check_row *row);

/* Print the report, unless its format is the table that people have read already. */
enum at_status at_check_print(const struct at_check_report *report, struct at_error *err);
void at_check_clear(struct at_check_report *report);

/* Verify each winner, time it against the default config, and print a line: held; drifted, if its
 * time differs by 3 % or more from the recorded one; or broken, if it is incorrect or slower than
 * the default. Without entries for the devices of options->gpu, those of other models are tried
 * there; their times do not count, and some may be illegal. If none of a record is broken, the
 * model is added to its also_correct_on. AT_FAILED if any drifted or is broken; AT_MISMATCH if the
 * profile has predictions and these are GPUs, or the other way round. Families come from
 * options->session.
 */
enum at_status at_check_times(struct at_profile *profile, const char *file,
                              struct at_run_options *options, struct at_check_report *report,
                              struct at_error *err);

#endif
