/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a study. Counts are always those of the emulated device; times are measured on a
 * GPU, and predicted for an emulated one. */
#ifndef AT_STUDY_STUDY_RUN_H
#define AT_STUDY_STUDY_RUN_H

#include "pipeline/session.h"
#include "study/study_file.h"

/* All accesses of one direction, in the blocks that were counted. */
struct at_study_global {
    int64_t requests;
    int64_t sectors;
    int64_t wanted_bytes;
};
struct at_study_shared {
    int64_t requests;
    int64_t wavefronts;
    int64_t least_wavefronts; /* without bank conflicts */
};

struct at_study_line {
    char label[64];
    char family[64];
    char config[512];  /* at_config_format */
    char problem[160]; /* at_problem_format */
    int64_t blocks, blocks_counted;
    struct at_study_global load, store;
    struct at_study_shared shared_load, shared_store;
    int64_t time_ns;
    int64_t bandwidth_mbps;
};

struct at_study_result {
    char study[64]; /* its name */
    char title[80];
    char device[128];
    char times[16];       /* "measured" or "predicted" */
    char note[160];       /* what is to be said of them and of the counts */
    struct at_list lines; /* of struct at_study_line, in the order of the study's rows */
    char *reading;
};
extern const struct at_schema at_study_result_schema;

/* A row, ready to be counted and timed. */
struct at_study_case {
    struct at_config config;
    struct at_problem problem;
};

/* Counts and times the study `name`, read from path, on the device. The caller clears the result by
 * its schema. AT_USAGE for a row that the families do not have, AT_FAILED for one that is not legal
 * or not correct: the message names the row. */
enum at_status at_study_run(const struct at_study *study, const char *name, const char *path,
                            const struct at_device_info *device,
                            const struct at_session_options *options,
                            struct at_study_result *result, struct at_error *err);

/* Verifies the cases on a GPU, then times those of the same problem against each other, into the
 * lines. */
enum at_status at_study_time(const struct at_study_case *cases, struct at_study_line *lines,
                             size_t count, const struct at_device_info *device,
                             const struct at_session_options *options, struct at_error *err);

/* The table. */
void at_study_print(const struct at_study *study, const struct at_study_result *result);

#endif
