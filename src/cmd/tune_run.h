/* SPDX-License-Identifier: Apache-2.0 */
/* Tune every problem on every device and write the profile. */
#ifndef AT_CMD_TUNE_RUN_H
#define AT_CMD_TUNE_RUN_H

#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/run_options.h"
#include "fleet/fleet.h"
#include "problem/share.h"
#include "profile/merge.h"
#include "system/output.h"

struct at_tune_options {
    struct at_run_options run;
    const char *out;                    /* NULL: only print the profile */
    const struct at_strategy *strategy; /* NULL: not given */
    struct at_amount budget;            /* configs or a time */
    enum at_output_format format;
    size_t tuners; /* of each device; 0: not given */
    struct at_share share;
    const char *launcher; /* that said which share; NULL: the user */
    bool configs;         /* print each winner's parameters */
    bool dry_run;
    bool fresh;   /* ignore earlier profiles */
    bool replace; /* what the profile's file has */
};

/* One run: its options and its results so far. */
struct at_tune_run {
    const struct at_tune_options *options;
    struct at_output *output; /* the profile's file; NULL: standard output or no file */
    struct at_problem *problems;
    size_t problem_count;
    struct at_device_info *devices;
    size_t device_count;
    size_t tuners; /* of each device */
    struct at_run_budget budget;
    struct at_fleet_result result;
    struct at_accumulation counts;
    size_t missing; /* problems without an entry at the end */
    char *missing_names;
    struct at_profile profile; /* what its file has, then with this run's results */
};

/* Tune everything, write and print the profile. AT_INCOMPLETE: it has no entry for some problem, as
 * none of its configs is correct or the budget was too small. AT_INTERRUPTED: the profile has the
 * results so far. */
enum at_status at_tune_run_all(struct at_tune_run *run, struct at_error *err);

#endif
