/* SPDX-License-Identifier: Apache-2.0 */
/* The work of `autotune tune`: every problem on every device, and the profile of it. */
#ifndef AT_CMD_TUNE_RUN_H
#define AT_CMD_TUNE_RUN_H

#include "cmd/cmd.h"
#include "options/format.h"
#include "options/run_options.h"
#include "profile/profile.h"
#include "system/output.h"

/* For the whole run; 0: no limit. */
struct at_run_budget {
    int64_t ns, evaluations;
};

struct at_tune_options {
    struct at_run_options run;
    const char *out; /* NULL: only printed */
    struct at_run_budget budget;
    enum at_output_format format;
    bool dry_run;
    bool fresh; /* start from no earlier profile */
};

/* The work of one command: what was asked for, and what has been found. */
struct at_tune_run {
    const struct at_tune_options *options;
    struct at_output *output; /* the profile's file; NULL: standard output, or none */
    struct at_problem *problems;
    size_t problem_count;
    struct at_device_info *devices;
    size_t device_count;
    struct at_profile profile;
    struct at_device_record *records; /* of the profile, one a device */
    size_t failed;                    /* problems without a valid config */
    size_t skipped;                   /* problems that budget or interrupt left no time for */
    int64_t started_ns;
    int64_t evaluations; /* so far, all problems together */
};

/* Tunes all, writes and prints the profile, and tells by its status how the run ended. */
enum at_status at_tune_run_all(struct at_tune_run *run, struct at_error *err);

#endif
